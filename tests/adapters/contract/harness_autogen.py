"""AutoGen: an `AssistantAgent` with a guarded workbench and a guarded model client."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.models import AssistantMessage, CreateResult, FunctionExecutionResultMessage, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient
from scene import Finished, Harness, Scene, call_id, turn_of

from microloop import RunHalted
from microloop.adapters.autogen import guarded_assistant

INFO = {
    "vision": False,
    "function_calling": True,
    "json_output": False,
    "family": "unknown",
    "structured_output": False,
}
_MOST = 100


class AutoGen(Harness):
    name = "AutoGen"
    modes = ("async", "stream")

    def play(self, scene: Scene, mode: str) -> Finished:
        model = ReplayChatCompletionClient([_answer(scene, asked) for asked in range(_MOST)], model_info=INFO)
        options: Any = {
            "tools": scene.tools.functions(asynchronous=mode == "async"),
            "max_tool_iterations": _MOST,
            "model_client_stream": mode == "stream",
        }
        if scene.attached:
            agent = guarded_assistant(scene.guard, "agent", model, **options)
        else:
            agent = AssistantAgent("agent", model, **options)
        return asyncio.run(_run(agent, model, mode))


async def _run(agent: AssistantAgent, model: Any, mode: str) -> Finished:
    end, error = "finished", None
    try:
        if mode == "stream":
            async for _ in agent.run_stream(task="find something about cats"):
                pass
        else:
            await agent.run(task="find something about cats")
    except RunHalted as halted:
        end, error = "halted", halted
    told = _told(await agent.model_context.get_messages())
    return Finished(told, model._current_index, end, error)


def _answer(scene: Scene, asked: int) -> CreateResult:
    turn = turn_of(scene, asked)
    usage = RequestUsage(prompt_tokens=scene.tokens[0], completion_tokens=scene.tokens[1])
    if isinstance(turn, str):
        return CreateResult(finish_reason="stop", content=turn, usage=usage, cached=False)
    calls = [
        FunctionCall(id=call_id(asked, place, same_ids=scene.same_ids), name=name, arguments=json.dumps(arguments))
        for place, (name, arguments) in enumerate(turn)
    ]
    return CreateResult(finish_reason="function_calls", content=calls, usage=usage, cached=False)


def _told(messages: list[Any]) -> list[str | None]:
    """What the agent's own context says: each call is answered once, right after it was made."""
    told: list[str | None] = []
    for message, following in zip(messages, [*messages[1:], None], strict=True):
        if isinstance(message, AssistantMessage) and isinstance(message.content, list):
            assert isinstance(following, FunctionExecutionResultMessage)
            assert [each.call_id for each in following.content] == [each.id for each in message.content]
            told += [each.content for each in following.content]
    return told


HARNESSES = [AutoGen()]

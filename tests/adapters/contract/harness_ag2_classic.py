"""AG2 before 1.0: two `ConversableAgent`s, one with a model and one with the tools."""

from __future__ import annotations

import asyncio
import json
import warnings
from types import SimpleNamespace
from typing import Any

from scene import Finished, Harness, Scene, call_id, turn_of

from microloop import RunHalted
from microloop.adapters.ag2_classic import guard_agents

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # AG2's own, about what it imports
    from autogen import ConversableAgent, LLMConfig, register_function


class Scripted:
    """A model client of AG2 that speaks the turns of a scene."""

    def __init__(self, config: Any, *, scene: Scene, **_: Any) -> None:
        self.scene = scene
        self.asked = 0

    def create(self, params: Any) -> Any:
        turn = turn_of(self.scene, self.asked)
        self.asked += 1
        spent, given = self.scene.tokens
        usage = {"prompt_tokens": spent, "completion_tokens": given, "total_tokens": spent + given, "cost": 0.0}
        usage["model"] = "scripted"
        return SimpleNamespace(id=f"answer-{self.asked}", turn=turn, usage=usage, number=self.asked - 1, cost=0.0)

    def message_retrieval(self, response: Any) -> list[Any]:
        if isinstance(response.turn, str):
            return [response.turn]
        calls = [
            {
                "id": call_id(response.number, place, same_ids=self.scene.same_ids),
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for place, (name, arguments) in enumerate(response.turn)
        ]
        return [{"role": "assistant", "content": None, "tool_calls": calls}]

    def cost(self, response: Any) -> float:
        return 0.0

    @staticmethod
    def get_usage(response: Any) -> dict[str, Any]:
        return response.usage


class AG2Classic(Harness):
    name = "AG2 before 1.0"
    modes = ("sync", "async")

    def play(self, scene: Scene, mode: str) -> Finished:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _play(scene, mode)


def _play(scene: Scene, mode: str) -> Finished:
    config = LLMConfig({"model": "scripted", "model_client_cls": "Scripted", "api_key": "none"}, cache_seed=None)
    assistant = ConversableAgent("assistant", llm_config=config, human_input_mode="NEVER")
    executor = ConversableAgent(
        "executor",
        llm_config=False,
        human_input_mode="NEVER",
        is_termination_msg=lambda said: said["content"] == "done",
    )
    for each in scene.tools.functions(asynchronous=mode == "async"):
        register_function(each, caller=assistant, executor=executor, description=each.__doc__ or "")
    # Each tool makes the agent a new client, so that the model comes last.
    assistant.register_model_client(Scripted, scene=scene)
    model = assistant.client._clients[0]
    if scene.attached:
        guard_agents(scene.guard, assistant, executor)
    end, error = "finished", None
    try:
        if mode == "async":
            asyncio.run(executor.a_initiate_chat(assistant, message="find something about cats", silent=True))
        else:
            executor.initiate_chat(assistant, message="find something about cats", silent=True)
    except RunHalted as halted:
        end, error = "halted", halted
    return Finished(_told(assistant.chat_messages[executor]), model.asked, end, error)


def _told(messages: list[dict[str, Any]]) -> list[str | None]:
    """What the conversation says: each call is answered once, right after it was made."""
    told: list[str | None] = []
    for message, following in zip(messages, [*messages[1:], {}], strict=True):
        if message.get("tool_calls"):
            answers = following["tool_responses"]
            assert [each["tool_call_id"] for each in answers] == [each["id"] for each in message["tool_calls"]]
            told += [str(each["content"]) for each in answers]
    return told


HARNESSES = [AG2Classic()]

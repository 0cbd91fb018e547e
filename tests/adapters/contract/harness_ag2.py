"""AG2 1.x: an `Agent` with `GuardrailMiddleware`."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from ag2 import Agent, MemoryStream
from ag2.events import (
    ModelMessage,
    ModelResponse,
    ToolCallEvent,
    ToolCallsEvent,
    ToolResultEvent,
    ToolResultsEvent,
    Usage,
)
from ag2.testing import TestConfig
from scene import Finished, Harness, Scene, call_id, turn_of

from microloop.adapters.ag2 import GuardrailMiddleware

_MOST = 100


class AG2(Harness):
    name = "AG2"
    modes = ("async", "stream")

    def play(self, scene: Scene, mode: str) -> Finished:
        model = TestConfig(*(_answer(scene, asked) for asked in range(_MOST)), raise_tool_errors=False)
        middleware = [GuardrailMiddleware(scene.guard)] if scene.attached else []
        tools = scene.tools.functions(asynchronous=mode == "async")
        return asyncio.run(_run(Agent("agent", config=model, tools=tools, middleware=middleware), mode))


async def _run(agent: Agent, mode: str) -> Finished:
    stream = MemoryStream()
    if mode == "stream":
        async with agent.run("find something about cats", stream=stream) as run:
            reply = await run.result()
    else:
        reply = await agent.ask("find something about cats", stream=stream)
    end = "halted" if "microloop" in reply.response.metadata else "finished"
    events = list(await stream.history.get_events())
    answers = [each for each in events if isinstance(each, ModelResponse) and "microloop" not in each.metadata]
    return Finished(_told(events), len(answers), end)


def _answer(scene: Scene, asked: int) -> ModelResponse:
    turn = turn_of(scene, asked)
    usage = Usage(prompt_tokens=scene.tokens[0], completion_tokens=scene.tokens[1])
    if isinstance(turn, str):
        return ModelResponse(ModelMessage(turn), usage=usage)
    calls = [
        ToolCallEvent(name, id=call_id(asked, place, same_ids=scene.same_ids), arguments=json.dumps(arguments))
        for place, (name, arguments) in enumerate(turn)
    ]
    return ModelResponse(tool_calls=ToolCallsEvent(calls), usage=usage)


def _told(events: list[Any]) -> list[str | None]:
    """What the conversation says: each call is answered once, together with the others of its turn."""
    asked = [event.tool_calls.calls for event in events if isinstance(event, ModelResponse) and event.tool_calls]
    answered = [event.results for event in events if isinstance(event, ToolResultsEvent)]
    told: list[str | None] = []
    for calls, results in zip(asked, answered, strict=True):
        assert [each.parent_id for each in results] == [each.id for each in calls]
        told += ["\n\n".join(str(part.content) for part in each.result.parts) for each in results]
    assert len(told) == sum(isinstance(event, ToolResultEvent) for event in events)
    return told


HARNESSES = [AG2()]

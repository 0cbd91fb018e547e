"""Pydantic AI: an agent with `GuardrailCapability`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, capture_run_messages
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import CompletedStreamedResponse
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage
from scene import Finished, Harness, Scene, call_id, turn_of

from microloop import RunHalted
from microloop.adapters.pydantic_ai import GuardrailCapability

ASKED = "find something about cats"


class PydanticAI(Harness):
    name = "Pydantic AI"
    modes = ("sync", "async", "stream")
    pauses = True

    def play(self, scene: Scene, mode: str) -> Finished:
        model = Scripted(scene)
        guarding = [GuardrailCapability(scene.guard)] if scene.attached else []
        agent = Agent(
            model,
            tools=scene.tools.functions(asynchronous=mode == "async"),
            output_type=[str, DeferredToolRequests],
            capabilities=[*guarding, ErrorsAreAnswers()],
        )
        with capture_run_messages() as messages:
            try:
                result = run(agent, mode, ASKED, conversation_id=scene.run_id)
            except Exception as error:  # noqa: BLE001 - whatever ended the run is what is asked for
                end = "halted" if isinstance(error, RunHalted) else "raised"
                return Finished(told(messages), model.asked, end, error)
        if scene.consent is not None:
            result = answer(agent, mode, result, consent=scene.consent)
        return Finished(told(result.all_messages()), model.asked, "finished")


class ErrorsAreAnswers(AbstractCapability[Any]):
    """Tells the model of a tool's exception, which would end the run."""

    async def on_tool_execute_error(self, ctx: Any, *, error: Exception, **_: Any) -> Any:
        raise ToolFailed(str(error)) from error


class Scripted(FunctionModel):
    """Speaks the turns of a scene."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(self._speak)
        self.scene = scene
        self.asked = 0

    def _speak(self, *_: Any) -> ModelResponse:
        turn = turn_of(self.scene, self.asked)
        calls = [] if isinstance(turn, str) else enumerate(turn)
        parts: list[Any] = [
            ToolCallPart(name, arguments, tool_call_id=call_id(self.asked, place, same_ids=self.scene.same_ids))
            for place, (name, arguments) in calls
        ]
        self.asked += 1
        spent, given = self.scene.tokens
        usage = RequestUsage(input_tokens=spent, output_tokens=given)
        return ModelResponse(parts=parts or [TextPart(turn)], usage=usage)

    @asynccontextmanager
    async def request_stream(
        self, messages: list[ModelMessage], settings: Any, parameters: Any, *_: Any
    ) -> AsyncIterator[CompletedStreamedResponse]:
        response = await self.request(messages, settings, parameters)
        yield CompletedStreamedResponse(response, model_request_parameters=parameters, replay_events=True)


def run(agent: Agent[Any, Any], mode: str, *asked: str, **options: Any) -> Any:
    """The result of a run, in each way in which Pydantic AI runs an agent."""
    if mode != "sync":
        return asyncio.run(_run(agent, mode, *asked, **options))
    with closing(asyncio.new_event_loop()) as loop:  # `run_sync` would leave one of its own open
        asyncio.set_event_loop(loop)
        try:
            return agent.run_sync(*asked, **options)
        finally:
            asyncio.set_event_loop(None)


async def _run(agent: Agent[Any, Any], mode: str, *asked: str, **options: Any) -> Any:
    if mode == "async":
        return await agent.run(*asked, **options)
    async with agent.run_stream(*asked, **options) as result:
        await result.get_output()
        return result


def answer(agent: Agent[Any, Any], mode: str, result: Any, *, consent: bool) -> Any:
    """Goes on with a run that waits for somebody's approval."""
    messages = result.all_messages()
    calls = [part for part in messages[-1].parts if isinstance(part, ToolCallPart)]
    results = DeferredToolResults(approvals={each.tool_call_id: consent for each in calls})
    return run(agent, mode, message_history=messages, deferred_tool_results=results)


def told(messages: list[ModelMessage]) -> list[str | None]:
    """What the model was told of each call. Every call is answered exactly once, in the message after its own."""
    answers: list[str | None] = []
    for message, after in zip(messages, [*messages[1:], ModelRequest([])], strict=True):
        calls = [part.tool_call_id for part in message.parts if part.part_kind == "tool-call"]
        parts = [part for part in after.parts if getattr(part, "tool_call_id", None) in calls]
        found = {part.tool_call_id: str(part.content) for part in parts}
        assert len(found) == len(parts), f"{calls} were answered more than once"
        assert not found or set(found) == set(calls), f"{calls} were answered by {sorted(found)}"
        answers += [found.get(each) for each in calls]
    return answers


HARNESSES = [PydanticAI()]

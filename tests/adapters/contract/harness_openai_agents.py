"""OpenAI Agents SDK: an agent from `guarded_agent`, run by the `Runner`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import closing
from typing import Any, ClassVar

from agents import (
    Agent,
    AgentsException,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    Usage,
    function_tool,
)
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from scene import Finished, Harness, Scene, call_id, turn_of

from microloop import RunHalted
from microloop.adapters.openai_agents import guarded_agent

SETTINGS = RunConfig(tracing_disabled=True, tool_not_found_behavior="return_error_to_model")
ASKED = "find something about cats"


class OpenAIAgents(Harness):
    name = "OpenAI Agents SDK"
    modes = ("sync", "async", "stream")
    lacks: ClassVar[dict[str, str]] = {
        "call_ids_that_come_again_each_turn_hide_no_loop": "the SDK runs no tool for a call id that it has seen before"
    }

    def play(self, scene: Scene, mode: str) -> Finished:
        model = Scripted(scene)
        functions = scene.tools.functions(asynchronous=mode == "async")
        tools = [function_tool(each, failure_error_function=_shown) for each in functions]
        agent = Agent(name="researcher", model=model, tools=tools)
        guarded = guarded_agent(scene.guard, agent)
        try:
            said = run(guarded if scene.attached else agent, mode)
        except AgentsException as error:
            end = "halted" if isinstance(error, RunHalted) else "raised"
            items = [each.to_input_item() for each in error.run_data.new_items]
            return Finished(told(items), model.asked, end, error)
        return Finished(told(said), model.asked, "finished")


class Scripted(Model):
    """Speaks the turns of a scene."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.asked = 0

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        output = _output(self.scene, self.asked)
        self.asked += 1
        spent, given = self.scene.tokens
        usage = Usage(requests=1, input_tokens=spent, output_tokens=given, total_tokens=spent + given)
        return ModelResponse(output=output, usage=usage, response_id=None)

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[ResponseCompletedEvent]:
        answer = await self.get_response()
        response = Response.model_construct(
            id="response", output=answer.output, usage=answer.usage, object="response", model="scripted", tools=[]
        )
        yield ResponseCompletedEvent.model_construct(type="response.completed", response=response, sequence_number=0)


def _output(scene: Scene, asked: int) -> list[Any]:
    turn = turn_of(scene, asked)
    if isinstance(turn, str):
        return [message(turn)]
    return [
        ResponseFunctionToolCall(
            type="function_call",
            call_id=call_id(asked, place, same_ids=scene.same_ids),
            name=name,
            arguments=json.dumps(arguments),
        )
        for place, (name, arguments) in enumerate(turn)
    ]


def message(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(id="message", type="message", role="assistant", status="completed", content=[part])


def _shown(_: Any, error: Exception) -> str:
    return str(error)


def run(agent: Agent[Any], mode: str) -> list[Any]:
    """What the model would be told next, after a run in each way in which the SDK runs an agent."""
    if mode != "sync":
        return asyncio.run(_run(agent, mode)).to_input_list()
    with closing(asyncio.new_event_loop()) as loop:  # `run_sync` would leave one of its own open
        asyncio.set_event_loop(loop)
        try:
            return Runner.run_sync(agent, ASKED, run_config=SETTINGS, max_turns=100).to_input_list()
        finally:
            asyncio.set_event_loop(None)


async def _run(agent: Agent[Any], mode: str) -> Any:
    if mode == "async":
        return await Runner.run(agent, ASKED, run_config=SETTINGS, max_turns=100)
    result = Runner.run_streamed(agent, ASKED, run_config=SETTINGS, max_turns=100)
    async for _ in result.stream_events():
        pass
    return result


def told(items: list[Any]) -> list[str | None]:
    """The output of each call. The outputs of a turn follow its calls, and each call has exactly one."""
    answers: list[str | None] = []
    open_calls: list[str] = []
    for item in items:
        if item.get("type") == "function_call":
            open_calls.append(item["call_id"])
            answers.append(None)
        elif item.get("type") == "function_call_output":
            place = len(answers) - len(open_calls)
            assert item["call_id"] == open_calls.pop(0), "the outputs do not stand in the order of their calls"
            answers[place] = str(item["output"])
    return answers


HARNESSES = [OpenAIAgents()]

"""LlamaIndex: `guarded_agent` around a function agent, a ReAct agent, and a workflow of agents."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import HumanResponseEvent, InputRequiredEvent
from llama_index_model import ScriptedLLM
from scene import Finished, Harness, Scene

from microloop.adapters.llama_index import ask_in_stream, guarded_agent


def model_of(scene: Scene, *, react: bool = False) -> ScriptedLLM:
    return ScriptedLLM(turns=list(scene.turns), tokens=scene.tokens, same_ids=scene.same_ids, react=react)


class LlamaIndex(Harness):
    name = "LlamaIndex"
    modes = ("async", "stream")
    pauses = True
    warns = (":DeprecationWarning",)

    def play(self, scene: Scene, mode: str) -> Finished:
        tools = [FunctionTool.from_defaults(each) for each in scene.tools.functions(asynchronous=mode == "async")]
        agent = self.agent(scene, tools, streaming=mode == "stream")
        model = next(iter(agent.agents.values())).llm if isinstance(agent, AgentWorkflow) else agent.llm
        if scene.consent is not None:
            scene.guard.ask = ask_in_stream
        if scene.attached:
            agent = guarded_agent(scene.guard, agent)
        return asyncio.run(_run(agent, model, scene))

    def agent(self, scene: Scene, tools: list[Any], *, streaming: bool) -> Any:
        return FunctionAgent(name="agent", tools=tools, llm=model_of(scene), streaming=streaming)


class LlamaIndexWorkflow(LlamaIndex):
    name = "LlamaIndex, AgentWorkflow"

    def agent(self, scene: Scene, tools: list[Any], *, streaming: bool) -> Any:
        return AgentWorkflow(agents=[super().agent(scene, tools, streaming=streaming)])


class LlamaIndexReAct(LlamaIndex):
    name = "LlamaIndex, ReActAgent"
    lacks: ClassVar[dict[str, str]] = {
        "identical_calls_of_one_turn_run_once_and_all_are_answered": "a ReAct turn has one call",
        "a_finished_run_reports_every_answer": "a ReAct turn has one call",
    }

    def agent(self, scene: Scene, tools: list[Any], *, streaming: bool) -> Any:
        return ReActAgent(name="agent", tools=tools, llm=model_of(scene, react=True), streaming=streaming)


async def _run(agent: Any, model: ScriptedLLM, scene: Scene) -> Finished:
    memory = ChatMemoryBuffer.from_defaults(token_limit=1_000_000)
    handler = agent.run("find something about cats", memory=memory, max_iterations=100, run_id=scene.run_id)
    results: list[ToolCallResult] = []
    async for event in handler.stream_events():
        if isinstance(event, InputRequiredEvent):
            handler.ctx.send_event(HumanResponseEvent(response="yes" if scene.consent else "no", step=event.step))
        elif isinstance(event, ToolCallResult):
            results.append(event)
    output = await handler
    _check(memory.get_all(), results)
    halted = isinstance(output.raw, dict) and "microloop" in output.raw
    told: list[str | None] = [each.tool_output.content for each in results]
    return Finished(told, model.asked, "halted" if halted else "finished")


def _check(messages: list[ChatMessage], results: list[ToolCallResult]) -> None:
    """Every call in the memory is answered exactly once, before the model speaks again."""
    calls = [block.tool_call_id for each in messages for block in each.blocks if isinstance(block, ToolCallBlock)]
    answered = [each.additional_kwargs["tool_call_id"] for each in messages if each.role == "tool"]
    assert sorted(answered) == sorted(calls)
    assert messages[-1].role == "assistant"
    if calls:
        assert len(calls) == len(results)


HARNESSES = [LlamaIndex(), LlamaIndexWorkflow(), LlamaIndexReAct()]

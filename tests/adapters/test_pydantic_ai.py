"""The Pydantic AI adapter, beyond the contract: context, errors, retries, approvals, sub-agents, output, prices."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelRetry, RunContext, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import CallDeferred, UnexpectedModelBehavior
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturn, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from microloop import AdapterError, Guardrail, RunHalted
from microloop.adapters._gate import versions
from microloop.adapters._pydantic_ai import capability
from microloop.adapters.pydantic_ai import GuardrailCapability

pytestmark = pytest.mark.adapter
BLOCKED = "microloop"
STRICT = "strict_loop_detection"  # it refuses the third identical call
CATS = {"query": "cats"}


class Found(BaseModel):
    name: str


def search(query: str) -> str:
    """Search."""
    return f"nothing about {query}"


def asking(times: int, tool: str = "search", arguments: Any = CATS) -> FunctionModel:
    """A model that makes a call so many times in each run, and then is done."""

    def speak(messages: list[Any], _: AgentInfo) -> ModelResponse:
        asked = [type(each).__name__ for each in messages]
        latest = max(place for place, each in enumerate(messages) if _is_prompt(each))
        number = asked[latest:].count("ModelResponse")
        if number < times:
            return ModelResponse(parts=[ToolCallPart(tool, arguments, tool_call_id=f"c{len(messages)}")])
        return ModelResponse(parts=[TextPart("done")])

    return FunctionModel(speak)


def _is_prompt(message: Any) -> bool:
    return any(isinstance(part, UserPromptPart) and part.content == "find cats" for part in message.parts)


def agent_of(guard: Guardrail, model: Any, *tools: Any, **options: Any) -> Agent[Any, Any]:
    return Agent(model, tools=list(tools) or [search], capabilities=[GuardrailCapability(guard)], **options)


def run(agent: Agent[Any, Any], asked: str | None = "find cats", **options: Any) -> Any:
    return asyncio.run(agent.run(asked, **options))


def returns(result: Any) -> list[ToolReturnPart]:
    return [part for each in result.all_messages() for part in each.parts if isinstance(part, ToolReturnPart)]


def contents(result: Any) -> list[Any]:
    return [part.content for part in returns(result)]


def test_dependencies_and_values_pass_untouched() -> None:
    def who(context: RunContext[str], query: str) -> Found:
        """Say who asks."""
        return Found(name=context.deps)

    result = run(agent_of(Guardrail(), asking(1, "who"), who, deps_type=str), deps="Ada")
    assert contents(result) == [Found(name="Ada")]


def test_a_refusal_is_a_failed_result_and_costs_no_retry() -> None:
    result = run(agent_of(Guardrail(STRICT), asking(4), retries=0))
    assert [part.outcome for part in returns(result)] == ["success", "success", "failed", "failed"]
    assert result.output == "done"


def test_a_tools_exception_ends_the_run_as_it_is() -> None:
    def broken(query: str) -> str:
        """Search."""
        raise OSError("no such volume")

    with pytest.raises(OSError, match="no such volume"):
        run(agent_of(Guardrail(), asking(1, "broken"), broken))


def test_a_tool_that_asks_for_another_try_is_recorded_as_an_error() -> None:
    def picky(query: str) -> str:
        """Search."""
        raise ModelRetry("not this one")

    with pytest.raises(RunHalted):
        run(agent_of(Guardrail(), asking(20, "picky"), Tool(picky, max_retries=50)))


def test_advice_stands_beside_a_result_that_is_no_text() -> None:
    def count(query: str) -> ToolReturn:
        """Count."""
        return ToolReturn(return_value=0, content="a picture", metadata={"kept": True})

    result = run(agent_of(Guardrail("balanced"), asking(3, "count"), count))
    part, [advice, picture] = returns(result)[-1], _beside(result)[-1]
    assert (part.content, part.metadata) == (0, {"kept": True})
    assert BLOCKED in advice
    assert picture == "a picture"


def _beside(result: Any) -> list[Any]:
    parts = [part for each in result.all_messages() for part in each.parts if isinstance(part, UserPromptPart)]
    return [part.content for part in parts]


def test_wrong_arguments_are_answered_by_pydantic_and_counted_by_the_guard() -> None:
    guard = Guardrail()
    with pytest.raises(RunHalted):
        run(agent_of(guard, asking(20, arguments={"wrong": 1}), Tool(search, max_retries=50)))
    with pytest.raises(UnexpectedModelBehavior, match="retries"):
        run(agent_of(guard, asking(20, arguments={"wrong": 1}), search))


def test_a_conversation_is_a_session_and_a_prompt_in_it_is_the_persons_turn() -> None:
    guard = Guardrail(STRICT)
    agent = agent_of(guard, asking(2))
    first = run(agent)
    second = run(agent, message_history=first.all_messages())
    assert not any(BLOCKED in each and "nothing about" not in each for each in contents(second))
    session = guard.session(second.conversation_id)
    assert session.state()["steps"] == 4


def test_a_call_that_needs_consent_waits_for_an_approval() -> None:
    rules = [{"id": "consent", "path": "query", "ask": {"regex": "cats"}}]
    guard = Guardrail({"version": 1, "extends": "balanced", "tools": [{"match": "search", "rules": rules}]})
    agent = agent_of(guard, asking(1), output_type=[str, DeferredToolRequests])
    paused = run(agent)
    [call] = paused.output.approvals
    assert paused.output.metadata[call.tool_call_id]["microloop"]["action"] == "ask"
    for approved, told in ((True, "nothing about cats"), (False, "The tool call was denied.")):
        results = DeferredToolResults(approvals={call.tool_call_id: approved})
        result = run(agent, None, message_history=paused.all_messages(), deferred_tool_results=results)
        assert contents(result) == [told]


def test_a_call_that_the_tool_defers_is_no_error() -> None:
    def later(query: str) -> str:
        """Search."""
        raise CallDeferred

    guard = Guardrail()
    agent = agent_of(guard, asking(1, "later"), later, output_type=[str, DeferredToolRequests])
    paused = run(agent)
    [call] = paused.output.calls
    results = DeferredToolResults(calls={call.tool_call_id: "at last"})
    result = run(agent, None, message_history=paused.all_messages(), deferred_tool_results=results)
    assert contents(result) == ["at last"]


def test_an_agent_inside_a_tool_has_counters_of_its_own() -> None:
    guard = Guardrail(STRICT)
    inner = agent_of(guard, asking(2))

    async def ask(query: str) -> str:
        """Ask the researcher."""
        return f"{query}: {contents(await inner.run('find cats'))[0]}"

    queries = iter(("a", "b"))

    def speak(messages: list[Any], _: AgentInfo) -> ModelResponse:
        query = next(queries, None)
        parts = [TextPart("done")] if query is None else [ToolCallPart("ask", {"query": query})]
        return ModelResponse(parts=parts)

    result = run(agent_of(guard, FunctionModel(speak), ask))
    assert contents(result) == ["a: nothing about cats", "b: nothing about cats"]


def test_structured_output_is_no_tool_call() -> None:
    class Answer(BaseModel):
        text: str

    def speak(_: list[Any], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"text": "cats"})])

    guard = Guardrail({"version": 1, "extends": "balanced", "budgets": {"calls": 1}})
    agent = agent_of(guard, FunctionModel(speak), output_type=Answer)
    with guard.session("all of them") as session:
        assert [run(agent).output for _ in range(3)] == [Answer(text="cats")] * 3
        assert session.state()["steps"] == 0


def test_every_way_of_running_an_agent_is_guarded() -> None:
    async def through(way: Callable[[Agent[Any, Any]], Any]) -> None:
        with pytest.raises(RunHalted):
            await way(agent_of(Guardrail(), asking(20)))

    async def by_iteration(agent: Agent[Any, Any]) -> None:
        async with agent.iter("find cats") as steps:
            async for _ in steps:
                pass

    asyncio.run(through(by_iteration))
    asyncio.run(through(lambda agent: agent.run("find cats")))


def test_tokens_are_charged_with_the_price_of_the_model_that_answered() -> None:
    pytest.importorskip("genai_prices")
    usage = RequestUsage(input_tokens=100_000, output_tokens=10_000)  # 0.35 dollars an answer

    def speak(messages: list[Any], _: AgentInfo) -> ModelResponse:
        call = ToolCallPart("search", {"query": str(len(messages))})
        return ModelResponse(parts=[call], usage=usage)

    guard = Guardrail({"version": 1, "extends": "balanced", "budgets": {"usd": 0.5}})
    with pytest.raises(RunHalted) as halted:
        run(agent_of(guard, FunctionModel(speak, model_name="gpt-4o")))
    assert halted.value.verdict.reason == "budget.usd"


def test_a_decorator_of_the_same_guard_counts_no_call_twice() -> None:
    guard = Guardrail()
    with guard.session("one") as session:
        assert contents(run(agent_of(guard, asking(2), guard.verify(search)))) == ["nothing about cats"] * 2
        assert session.state()["steps"] == 2


def test_a_run_may_bring_the_guard_along() -> None:
    guard = Guardrail(STRICT)
    agent = Agent(asking(3), tools=[search])
    assert BLOCKED in contents(run(agent, capabilities=[GuardrailCapability(guard)]))[2]
    assert BLOCKED not in contents(run(agent))[2]


def test_a_pydantic_ai_that_is_too_old_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "_installed", lambda _: "1.0.0")
    with pytest.raises(AdapterError, match=r"pydantic-ai-slim is 1\.0\.0; .* or newer is needed"):
        versions.require("pydantic-ai-slim")


@pytest.mark.parametrize("hook", ["wrap_tool_execute", "before_model_request"])
def test_a_pydantic_ai_that_has_lost_a_hook_is_refused(monkeypatch: pytest.MonkeyPatch, hook: str) -> None:
    monkeypatch.delattr(AbstractCapability, hook)
    with pytest.raises(AdapterError, match=f"AbstractCapability of pydantic_ai has no {hook}"):
        importlib.reload(capability)

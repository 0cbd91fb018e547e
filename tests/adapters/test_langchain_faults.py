"""Faults: of the model, whose arguments are no JSON, and of the guard itself, which follow `on_error`."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from scripted_model import Scripted, answers, same, verdicts

from microloop import Guardrail
from microloop.adapters._gate import gate as gate_module
from microloop.adapters.langchain import GuardrailMiddleware

pytestmark = pytest.mark.adapter


@tool
def search(query: str) -> str:
    """Search."""
    return f"nothing about {query}"


def agent(model: Any, guard: Guardrail, **options: Any) -> Any:
    return create_agent(model, [search], middleware=[GuardrailMiddleware(guard, **options)])


class Truncated(BaseChatModel):
    """Sends arguments that were cut off, so many times, and then a proper call."""

    times: int

    @property
    def _llm_type(self) -> str:
        return "truncated"

    def bind_tools(self, tools: Any, **_: Any) -> Truncated:
        return self

    def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
        spoken = sum(isinstance(message, AIMessage) for message in messages)
        broken = {
            "name": "search",
            "args": '{"query": "ca',
            "id": f"c{spoken}",
            "error": None,
            "type": "invalid_tool_call",
        }
        proper = {"name": "search", "args": {"query": "cats"}, "id": f"c{spoken}", "type": "tool_call"}
        if spoken < self.times:
            message = AIMessage("", invalid_tool_calls=[broken])
        else:
            message = AIMessage("", tool_calls=[proper]) if spoken == self.times else AIMessage("done")
        return ChatResult(generations=[ChatGeneration(message=message)])


def test_a_model_whose_arguments_are_no_json_is_told_and_goes_on(run: Any) -> None:
    messages = run(agent(Truncated(times=1), Guardrail()))["messages"]
    assert verdicts(messages) == ["block args.malformed", ""]
    assert answers(messages)[0].tool_call_id == "c0"
    assert messages[-1].content == "done"


def test_a_model_that_goes_on_sending_such_arguments_is_halted(run: Any) -> None:
    state = run(agent(Truncated(times=50), Guardrail()))
    assert verdicts(state["messages"])[2] == "block loop.error"
    assert state["microloop_halted"]["action"] == "halt"


def test_a_broken_call_beside_a_proper_one_is_answered_and_the_other_runs(run: Any) -> None:
    class Both(Truncated):
        def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
            found = super()._generate([])
            if answers(messages):
                return ChatResult(generations=[ChatGeneration(message=AIMessage("done"))])
            found.generations[0].message.tool_calls = [
                {"name": "search", "args": {"query": "dogs"}, "id": "ok", "type": "tool_call"}
            ]
            return found

    found = answers(run(agent(Both(times=9), Guardrail()))["messages"])
    assert sorted((message.tool_call_id, message.status) for message in found) == [("c0", "error"), ("ok", "success")]


def broken(*_: object, **__: object) -> Any:
    raise RuntimeError("a fault of our own")


@pytest.mark.parametrize(("on_error", "status"), [("block", "error"), ("allow", "success")])
def test_a_fault_in_the_adapter_follows_on_error_and_is_reported(
    run: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, on_error: str, status: str
) -> None:
    graph = agent(Scripted(turns=same(1)), Guardrail({"version": 1, "extends": "balanced", "on_error": on_error}))
    monkeypatch.setattr(gate_module, "notes_of", broken)
    with caplog.at_level(logging.ERROR, logger="microloop"):
        found = answers(run(graph)["messages"])
    assert found[0].status == status
    assert "a fault of our own" in caplog.text


@pytest.mark.parametrize(("on_error", "status"), [("block", "error"), ("allow", "success")])
def test_a_fault_in_the_core_follows_on_error_too(
    run: Any, monkeypatch: pytest.MonkeyPatch, on_error: str, status: str
) -> None:
    monkeypatch.setattr("microloop.guardrail.judge", broken)
    graph = agent(Scripted(turns=same(1)), Guardrail({"version": 1, "extends": "balanced", "on_error": on_error}))
    assert answers(run(graph)["messages"])[0].status == status


def test_an_outcome_that_cannot_be_recorded_is_reported_and_reaches_the_model(
    run: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("microloop.session.Session.record", broken)
    with caplog.at_level(logging.ERROR, logger="microloop"):
        found = answers(run(agent(Scripted(turns=same(1)), Guardrail()))["messages"])
    assert found[0].content == "nothing about cats"
    assert "could not record a call of search" in caplog.text


@pytest.mark.parametrize("place", ["middleware.session_of", "middleware.heard"])
def test_a_fault_beside_the_calls_ends_the_run_or_is_reported(
    run: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    monkeypatch.setattr(f"microloop.adapters._langchain.{place}", broken)
    with pytest.raises(RuntimeError, match="a fault of our own"):
        run(agent(Scripted(turns=same(1)), Guardrail()))
    lenient = Guardrail({"version": 1, "extends": "balanced", "on_error": "allow"})
    with caplog.at_level(logging.ERROR, logger="microloop"):
        messages = run(agent(Scripted(turns=same(1)), lenient))["messages"]
    assert answers(messages)[0].content == "nothing about cats"
    assert "microloop failed in GuardrailMiddleware (on_error: allow)" in caplog.text


@pytest.mark.parametrize(("on_error", "status"), [("block", "error"), ("allow", "success")])
def test_a_tool_whose_schema_cannot_be_read_follows_on_error_alone(
    run: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, on_error: str, status: str
) -> None:
    monkeypatch.setattr("microloop.adapters._langchain.gate.declared_schema", broken)
    guard = Guardrail({"version": 1, "extends": "balanced", "on_error": on_error})
    with caplog.at_level(logging.ERROR, logger="microloop"):
        messages = run(agent(Scripted(turns=same(1)), guard))["messages"]
    assert [answer.status for answer in answers(messages)] == [status]
    assert f"the schema of search cannot be used (on_error: {on_error})" in caplog.text


def test_a_halt_after_a_tool_that_answers_directly_is_no_success_either(run: Any) -> None:
    guard = Guardrail({"version": 1, "extends": "balanced", "budgets": {"calls": 1}})
    direct = search.model_copy(update={"return_direct": True})
    graph = create_agent(Scripted(turns=same(9)), [direct], middleware=[GuardrailMiddleware(guard)])
    with guard.session("run"):
        assert sorted(run(graph)) == ["messages"]
        assert run(graph)["microloop_halted"]["reason"] == "budget.calls"


def test_in_observe_mode_nothing_is_withheld_and_everything_is_said(run: Any) -> None:
    seen: list[Any] = []
    messages = run(agent(Scripted(turns=same(9)), Guardrail("observe"), on_verdict=seen.append))["messages"]
    assert verdicts(messages) == [""] * 9
    assert [str(verdict.would) for verdict in seen][2:5] == ["warn", "warn", "block"]


def test_a_cancelled_call_is_no_outcome() -> None:
    guard = Guardrail()

    @tool
    async def slow(query: str) -> str:
        """Take time."""
        await asyncio.sleep(30)
        return query

    async def main() -> None:
        graph = create_agent(Scripted(turns=same(1, tool="slow")), [slow], middleware=[GuardrailMiddleware(guard)])
        with guard.session("run"):
            running = asyncio.ensure_future(graph.ainvoke({"messages": ["hi"]}))
            await asyncio.sleep(0.3)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    asyncio.run(main())
    # Were it still open, it would count with these.
    session = guard.session("run")
    for _ in range(2):
        session.record(session.check("slow", {"query": "cats"}), "waited")
    assert session.check("slow", {"query": "cats"}).seen == 3

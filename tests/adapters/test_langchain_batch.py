"""Identical calls in one model turn: one runs, the others are answered from it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from graphs import react
from langchain.agents import create_agent
from langchain.agents.middleware import ToolErrorMiddleware
from langchain_core.tools import tool
from scripted_model import Scripted, answers, assert_valid, verdicts

from microloop import Guardrail
from microloop.adapters._gate.answers import Answers, Leader, Unanswered
from microloop.adapters.langchain import GuardrailMiddleware

pytestmark = pytest.mark.adapter
SIX = [("slow", {"query": "cats"})] * 6


class Slow:
    """A tool that takes its time, so that all calls of a turn are under way at once."""

    def __init__(self, *, fails: bool = False) -> None:
        self.ran = 0
        self._lock = threading.Lock()

        def begin() -> None:
            with self._lock:
                self.ran += 1

        def end(query: str) -> tuple[str, dict[str, str]]:
            if fails:
                raise ZeroDivisionError(query)
            return f"about {query}", {"document": query}

        def slow(query: str) -> tuple[str, dict[str, str]]:
            """Take time."""
            begin()
            threading.Event().wait(0.05)
            return end(query)

        async def aslow(query: str) -> tuple[str, dict[str, str]]:
            """Take time."""
            begin()
            await asyncio.sleep(0.05)
            return end(query)

        aslow.__name__ = "slow"
        self.sync = tool(slow, response_format="content_and_artifact")
        self.asynchronous = tool(aslow, response_format="content_and_artifact")


def agent(model: Scripted, tools: list[Any], guard: Guardrail) -> Any:
    return create_agent(model, tools, middleware=[GuardrailMiddleware(guard)])


@pytest.mark.parametrize("make", [agent, react])
@pytest.mark.parametrize("way", ["sync", "sync tool, async graph", "async"])
def test_six_identical_calls_run_once_and_all_get_its_answer(make: Any, way: str) -> None:
    slow = Slow()
    graph = make(Scripted(turns=[SIX, "done"]), [slow.asynchronous if way == "async" else slow.sync], Guardrail())
    given = {"messages": [("user", "hi")]}
    state = graph.invoke(given) if way == "sync" else asyncio.run(graph.ainvoke(given))
    found = answers(state["messages"])
    assert slow.ran == 1
    assert [message.content for message in found] == ["about cats"] * 6
    assert [message.artifact for message in found] == [{"document": "cats"}] * 6
    assert len({message.id for message in found}) == 6
    assert_valid(state["messages"])


@pytest.mark.parametrize("make", [agent, react])
def test_a_turn_with_identical_calls_counts_as_one_call(run: Any, make: Any) -> None:
    slow, guard = Slow(), Guardrail()
    with guard.session("run") as session:
        run(make(Scripted(turns=[SIX, SIX, SIX, "done"]), [slow.sync], guard))
        assert session.state()["calls"] == slow.ran == 3


@pytest.mark.parametrize("make", [agent, react])
def test_different_calls_of_one_turn_all_run(run: Any, make: Any) -> None:
    slow = Slow()
    turn = [("slow", {"query": word}) for word in ("cats", "dogs", "cats")]
    found = answers(run(make(Scripted(turns=[turn, "done"]), [slow.sync], Guardrail()))["messages"])
    assert slow.ran == 2
    assert found[0].content == found[2].content


def test_if_the_first_fails_the_others_fail_with_the_same_error(run: Any) -> None:
    slow = Slow(fails=True)
    soften = ToolErrorMiddleware(lambda error, _: f"{type(error).__name__}: {error}")
    model = Scripted(turns=[SIX, "done"])
    messages = run(create_agent(model, [slow.sync], middleware=[soften, GuardrailMiddleware(Guardrail())]))["messages"]
    assert [message.content for message in answers(messages)] == ["ZeroDivisionError: cats"] * 6
    assert slow.ran == 1
    assert_valid(messages)


def test_a_tool_node_that_reports_errors_reports_the_same_error_for_all(run: Any) -> None:
    slow = Slow(fails=True)
    graph = react(Scripted(turns=[SIX, "done"]), [slow.sync], Guardrail(), handle_tool_errors=True)
    found = answers(run(graph)["messages"])
    assert len({message.content for message in found}) == 1
    assert "ZeroDivisionError" in found[0].content
    assert slow.ran == 1


def test_one_worker_is_enough(run: Any) -> None:
    slow = Slow()
    state = run(react(Scripted(turns=[SIX, "done"]), [slow.sync], Guardrail()), config={"max_concurrency": 1})
    assert slow.ran == 1
    assert_valid(state["messages"])


def test_every_call_of_a_halted_turn_is_answered(run: Any) -> None:
    slow = Slow()
    turn = [("slow", {"query": "cats"}), ("slow", {"query": "dogs"}), ("slow", {"query": "cats"})]
    messages = run(agent(Scripted(turns=[turn] * 20), [slow.sync], Guardrail()))["messages"]
    assert_valid(messages)
    assert any(verdict.startswith("halt") for verdict in verdicts(messages)[-3:])


def test_small_models_that_number_their_calls_anew_in_each_turn_are_still_counted(run: Any) -> None:
    slow = Slow()
    model = Scripted(turns=[SIX[:1]] * 4 + ["done"], same_ids=True)
    assert verdicts(run(agent(model, [slow.sync], Guardrail()))["messages"])[2:] == ["warn loop.repeat"] * 2


def test_who_waits_on_the_thread_that_would_have_to_answer_does_not_wait() -> None:
    with pytest.raises(Unanswered):
        Leader("call").wait()


def test_a_waiter_that_is_cancelled_takes_the_outcome_from_nobody() -> None:
    async def main() -> str:
        leader = Leader("call")
        impatient, patient = (asyncio.ensure_future(leader.await_outcome()) for _ in range(2))
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.sleep(0)
        leader.outcome.set_result("here")
        return str(await patient)

    assert asyncio.run(main()) == "here"


def test_outcomes_are_kept_for_the_latest_turns_only() -> None:
    kept = Answers()
    for step in range(1, 1001):
        kept.lead(step, f"turn {step // 10}", None)
    assert kept.leader((900,)) is None
    assert kept.leader((1000,)) is not None


def test_whoever_watches_and_fails_leaves_nobody_waiting(run: Any) -> None:
    def watch(verdict: Any) -> None:
        if verdict.action == "allow":
            raise ZeroDivisionError("the log is full")

    guarded = GuardrailMiddleware(Guardrail(), on_verdict=watch)
    with pytest.raises(ZeroDivisionError):
        run(create_agent(Scripted(turns=[SIX, "done"]), [Slow().sync], middleware=[guarded]))

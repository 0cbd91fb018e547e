"""Calls that need consent: LangGraph's own pause where there is a checkpointer, else `Guardrail(ask=…)`, else no."""

from __future__ import annotations

from typing import Any

import pytest
from graphs import react
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from scripted_model import Scripted, answers, assert_valid, verdicts

from microloop import Guardrail
from microloop.adapters._langchain.approval import read
from microloop.adapters.langchain import GuardrailMiddleware

pytestmark = pytest.mark.adapter
POLICY = {
    "version": 1,
    "extends": "balanced",
    "tools": [{"match": "refund", "rules": [{"id": "large", "path": "euros", "ask": {"range": {"min": 100}}}]}],
}
THREAD = {"configurable": {"thread_id": "customer-1"}}


class Refund:
    def __init__(self) -> None:
        self.paid: list[int] = []

        @tool
        def refund(euros: int) -> str:
            """Pay money back."""
            self.paid.append(euros)
            return f"paid {euros}"

        self.tool = refund


@pytest.fixture
def refund() -> Refund:
    return Refund()


def agent(refund: Refund, turns: list[Any], guard: Guardrail, checkpointer: Any = None) -> Any:
    guarded = GuardrailMiddleware(guard)
    return create_agent(Scripted(turns=turns), [refund.tool], middleware=[guarded], checkpointer=checkpointer)


ONE = [[("refund", {"euros": 500})], "done"]


def test_the_run_pauses_and_goes_on_when_a_person_agrees(run: Any, refund: Refund) -> None:
    guard = Guardrail(POLICY)
    graph = agent(refund, ONE, guard, InMemorySaver())
    paused = run(graph, config=THREAD)["__interrupt__"][0].value
    assert paused["action_requests"][0]["args"] == {"euros": 500}
    assert paused["microloop"]["reason"] == "rule.ask"
    assert refund.paid == []
    messages = run(graph, Command(resume={"decisions": [{"type": "approve"}]}), THREAD)["messages"]
    assert answers(messages)[0].content == "paid 500"
    assert refund.paid == [500]
    assert guard.session("customer-1").state()["calls"] == 1
    assert_valid(messages)


def test_a_person_who_says_no_is_quoted_to_the_model(run: Any, refund: Refund) -> None:
    graph = agent(refund, ONE, Guardrail(POLICY), InMemorySaver())
    run(graph, config=THREAD)
    answer = Command(resume={"decisions": [{"type": "reject", "message": "Ask for the receipt first."}]})
    messages = run(graph, answer, THREAD)["messages"]
    assert answers(messages)[0].status == "error"
    assert answers(messages)[0].content.endswith("Ask for the receipt first.")
    assert refund.paid == []


def test_after_a_refused_consent_nothing_is_left_open(run: Any, refund: Refund) -> None:
    guard = Guardrail(POLICY)
    graph = agent(refund, ONE, guard, InMemorySaver())
    run(graph, config=THREAD)
    run(graph, Command(resume=False), THREAD)
    # A call that is still open would be counted with this one.
    assert guard.session("customer-1").check("refund", {"euros": 500}).reason == "rule.ask"


def test_a_run_that_is_resumed_is_no_user_turn(run: Any, refund: Refund) -> None:
    turns = [[("refund", {"euros": 500})]] * 5 + ["done"]
    graph = agent(refund, turns, Guardrail(POLICY), InMemorySaver())
    state = run(graph, config=THREAD)
    while "__interrupt__" in state:
        state = run(graph, Command(resume=True), THREAD)
    assert verdicts(state["messages"])[-1] == "block loop.repeat"
    assert refund.paid == [500] * 4


def test_identical_calls_beside_one_that_waits_are_answered_and_ask_nobody(run: Any, refund: Refund) -> None:
    graph = agent(refund, [ONE[0] * 3, "done"], Guardrail(POLICY), InMemorySaver())
    assert len(run(graph, config=THREAD)["__interrupt__"]) == 1
    messages = run(graph, Command(resume=True), THREAD)["messages"]
    assert refund.paid == [500]
    assert sorted(message.status for message in answers(messages)) == ["error", "error", "success"]
    assert_valid(messages)


def test_a_tool_node_pauses_too_and_shares_the_answer_when_it_is_resumed(run: Any, refund: Refund) -> None:
    graph = react(Scripted(turns=[ONE[0] * 3, "done"]), [refund.tool], Guardrail(POLICY), InMemorySaver())
    assert len(run(graph, config=THREAD)["__interrupt__"]) == 1
    messages = run(graph, Command(resume="approve"), THREAD)["messages"]
    assert refund.paid == [500]
    assert [message.content for message in answers(messages)] == ["paid 500"] * 3
    assert_valid(messages)


def test_without_a_checkpointer_the_host_decides(run: Any, refund: Refund) -> None:
    asked: list[str] = []

    def ask(verdict: Any) -> bool:
        asked.append(verdict.rule)
        return True

    messages = run(agent(refund, ONE, Guardrail(POLICY, ask=ask)))["messages"]
    assert answers(messages)[0].content == "paid 500"
    assert asked == ["large"]


def test_with_nobody_to_ask_the_call_is_refused(run: Any, refund: Refund) -> None:
    messages = run(agent(refund, ONE, Guardrail(POLICY)))["messages"]
    assert verdicts(messages) == ["ask rule.ask"]
    assert answers(messages)[0].status == "error"
    assert refund.paid == []


def test_what_the_host_raises_when_it_is_asked_is_the_hosts_and_the_call_does_not_run(
    run: Any, refund: Refund, caplog: pytest.LogCaptureFixture
) -> None:
    def ask(verdict: Any) -> bool:
        raise ZeroDivisionError(verdict.rule)

    guard = Guardrail(POLICY, ask=ask)
    with guard.session("run") as session, pytest.raises(ZeroDivisionError):
        run(agent(refund, [ONE[0] * 2, "done"], guard))
    assert refund.paid == []
    assert session.check("refund", {"euros": 500}).reason == "rule.ask"
    assert caplog.text == ""


@pytest.mark.parametrize(
    "answer",
    [True, "yes", " Approve ", {"type": "accept"}, [{"type": "approve"}], {"decisions": [{"type": "approve"}]}],
)
def test_what_means_yes(answer: Any) -> None:
    assert read(answer).approved


@pytest.mark.parametrize(
    "answer", [False, None, 1, "", "maybe", {}, [], {"type": "edit"}, {"decisions": []}, [{"type": "approve"}] * 2]
)
def test_whatever_is_unclear_means_no(answer: Any) -> None:
    assert not read(answer).approved

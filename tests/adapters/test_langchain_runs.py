"""Which session a run is: threads, user turns, summaries, sub-agents, and runs that begin in another process."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command, interrupt
from scripted_model import Scripted, answers, assert_valid, same, verdicts

from microloop import Guardrail
from microloop.adapters.langchain import GuardrailMiddleware

pytestmark = pytest.mark.adapter
THREAD = {"configurable": {"thread_id": "t"}}


@tool
def search(query: str) -> str:
    """Search."""
    return "nothing"


def agent(guard: Guardrail, turns: list[Any], *before: Any, checkpointer: Any = None, tools: Any = None) -> Any:
    middleware = [*before, GuardrailMiddleware(guard)]
    return create_agent(Scripted(turns=turns), tools or [search], middleware=middleware, checkpointer=checkpointer)


TALK = [*same(3), *same(3)]
"""Two questions, and the same call three times for each."""


def test_a_new_question_on_a_thread_starts_the_counters_anew(run: Any) -> None:
    graph = agent(Guardrail(), TALK, checkpointer=InMemorySaver())
    run(graph, "first", THREAD)
    messages = run(graph, "second", THREAD)["messages"]
    assert verdicts(messages) == ["", "", "warn loop.repeat"] * 2


def test_where_the_policy_counts_for_the_session_a_new_question_does_not(run: Any) -> None:
    guard = Guardrail({"version": 1, "extends": "balanced", "loops": {"scope": "session"}})
    graph = agent(guard, TALK, checkpointer=InMemorySaver())
    run(graph, "first", THREAD)
    assert verdicts(run(graph, "second", THREAD)["messages"])[3:] == ["warn loop.repeat", *["block loop.repeat"] * 2]


def test_threads_have_sessions_of_their_own(run: Any) -> None:
    guard = Guardrail()
    graph = agent(guard, same(2), checkpointer=InMemorySaver())
    for name in ("a", "b"):
        run(graph, "hello", {"configurable": {"thread_id": name}})
    assert [guard.session(name).state()["calls"] for name in ("a", "b")] == [2, 2]


def test_a_run_id_names_the_session_where_there_is_no_thread(run: Any) -> None:
    guard, run_id = Guardrail(), "00000000-0000-4000-8000-000000000001"
    run(agent(guard, same(2)), "hello", {"run_id": run_id})
    assert guard.session(run_id).state()["calls"] == 2


def test_a_halt_by_a_loop_ends_with_the_next_question(run: Any) -> None:
    guard = Guardrail()
    graph = agent(guard, [*same(8)[:-1], "never said", *same(1)], checkpointer=InMemorySaver())
    assert run(graph, "first", THREAD)["microloop_halted"]["action"] == "halt"
    state = run(graph, "second", THREAD)
    assert state["microloop_halted"] is None
    assert state["messages"][-1].content == "done"


def test_a_halt_by_a_budget_does_not(run: Any) -> None:
    guard = Guardrail({"version": 1, "extends": "balanced", "budgets": {"calls": 1}})
    graph = agent(guard, same(9), checkpointer=InMemorySaver())
    for question in ("first", "second"):
        state = run(graph, question, THREAD)
        assert state["microloop_halted"]["reason"] == "budget.calls"
        assert_valid(state["messages"])


class Summarise(AgentMiddleware):
    """What LangChain's summarisation does to the messages: it speaks as a person."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.tools = []
        self._at = at
        self._done = False

    def before_model(self, state: Any, runtime: Any) -> Any:
        if self._done or len(answers(state["messages"])) != self._at:
            return None
        self._done = True
        summary = HumanMessage("They looked for cats.", additional_kwargs={"lc_source": "summarization"})
        turns = [message for message in state["messages"] if isinstance(message, AIMessage)]
        kept = [summary, *[AIMessage("…") for _ in turns]]
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept]}


def test_counters_survive_the_compaction_of_the_conversation(run: Any) -> None:
    messages = run(agent(Guardrail(), same(4), Summarise(at=2)))["messages"]
    assert verdicts(messages) == ["warn loop.repeat"] * 2


def test_a_critic_that_speaks_as_a_person_is_no_user_turn(run: Any) -> None:
    class Critic(AgentMiddleware):
        tools = ()

        def before_model(self, state: Any, runtime: Any) -> Any:
            return {"messages": [HumanMessage("Try harder.")]}

    assert verdicts(run(agent(Guardrail(), same(4), Critic()))["messages"])[2:] == ["warn loop.repeat"] * 2


def test_a_sub_agent_has_a_child_session_and_its_calls_are_charged_to_the_whole(run: Any) -> None:
    guard = Guardrail({"version": 1, "extends": "balanced", "budgets": {"calls": 5}})
    inner = agent(guard, same(2))

    @tool
    def delegate(query: str) -> str:
        """Hand a question to another agent."""
        return str(inner.invoke({"messages": [HumanMessage(query)]})["messages"][-1].content)

    questions = [[("delegate", {"query": f"question {n}"})] for n in range(5)]
    state = run(agent(guard, [*questions, "done"], tools=[delegate]))
    found = [str(message.content) for message in answers(state["messages"])]
    # Two calls of the inner agent and the one that started it make three; the sixth call is one too many.
    assert found[0] == "done"
    assert "halted" in found[1]
    assert state["microloop_halted"]["reason"] == "budget.calls"


def test_sub_agents_side_by_side_do_not_see_each_other(run: Any) -> None:
    guard, seen = Guardrail(), []
    inner = agent(guard, same(2))

    @tool
    def delegate(query: str) -> str:
        """Hand a question to another agent."""
        messages = inner.invoke({"messages": [HumanMessage(query)]})["messages"]
        seen.append(verdicts(messages))
        return query

    turn = [("delegate", {"query": f"question {n}"}) for n in range(4)]
    run(agent(guard, [turn, "done"], tools=[delegate]))
    assert seen == [["", ""]] * 4


def test_a_call_that_a_tool_interrupts_is_counted_once(run: Any) -> None:
    @tool
    def ask_person(question: str) -> str:
        """Ask."""
        return f"they said {interrupt(question)}"

    guard = Guardrail()
    turns = [[("ask_person", {"question": "when?"})], "done"]
    graph = agent(guard, turns, tools=[ask_person], checkpointer=InMemorySaver())
    run(graph, "hello", THREAD)
    messages = run(graph, Command(resume="on Monday"), THREAD)["messages"]
    assert answers(messages)[0].content == "they said on Monday"
    assert guard.session("t").state()["calls"] == guard.session("t").state()["steps"] == 1


def test_a_run_that_is_resumed_in_another_process_goes_on(run: Any) -> None:
    @tool
    def ask_person(question: str) -> str:
        """Ask."""
        return f"they said {interrupt(question)}"

    memory, turns = InMemorySaver(), [[("ask_person", {"question": "when?"})], "done"]
    run(agent(Guardrail(), turns, tools=[ask_person], checkpointer=memory), "hello", THREAD)
    there = agent(Guardrail(), turns, tools=[ask_person], checkpointer=memory)
    assert answers(run(there, Command(resume="now"), THREAD)["messages"])[0].content == "they said now"


def test_an_agent_that_was_paused_before_it_had_a_guard_goes_on_with_one(run: Any) -> None:
    @tool
    def ask_person(question: str) -> str:
        """Ask."""
        return f"they said {interrupt(question)}"

    memory, model = InMemorySaver(), Scripted(turns=[[("ask_person", {"question": "when?"})], "done"])
    run(create_agent(model, [ask_person], checkpointer=memory), "hello", THREAD)
    guarded = create_agent(model, [ask_person], checkpointer=memory, middleware=[GuardrailMiddleware(Guardrail())])
    assert answers(run(guarded, Command(resume="now"), THREAD)["messages"])[0].content == "they said now"

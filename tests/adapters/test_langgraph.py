"""LangGraph's `ToolNode` with a guard: made by us, or with our wrappers."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated, Any

import pytest
from graphs import loop, react
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphBubbleUp, GraphDrained
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import InjectedState, ToolNode, ToolRuntime
from langgraph.types import RetryPolicy
from scripted_model import Scripted, answers, assert_valid, same, verdicts
from typing_extensions import TypedDict

from microloop import Guardrail, RunHalted
from microloop.adapters.langgraph import async_tool_call_wrapper, guarded_tool_node, tool_call_wrapper

pytestmark = pytest.mark.adapter
THREAD = {"configurable": {"thread_id": "t"}}
BALANCED = ["", "", "warn loop.repeat", "warn loop.repeat", *["block loop.repeat"] * 3, "halt loop.repeat"]


@tool
def search(query: str) -> str:
    """Search."""
    return f"nothing about {query}"


def test_a_stuck_graph_is_advised_then_refused(run: Any) -> None:
    messages = run(react(Scripted(turns=same(5)), [search], Guardrail()))["messages"]
    assert verdicts(messages) == BALANCED[:5]
    assert answers(messages)[2].content.endswith("nothing about cats")
    assert answers(messages)[4].status == "error"


def test_a_halt_answers_every_call_and_ends_the_run_with_an_error(run: Any) -> None:
    twice = [("search", {"query": "cats"}), ("search", {"query": "dogs"})]
    graph = react(Scripted(turns=[twice] * 20), [search], Guardrail(), InMemorySaver())
    with pytest.raises(GraphDrained, match="this run is halted"):
        run(graph, config=THREAD)
    messages = graph.get_state(THREAD).values["messages"]
    assert verdicts(messages)[-1].startswith("halt")
    assert_valid(messages)


def test_a_conversation_that_was_halted_can_go_on(run: Any) -> None:
    graph = react(Scripted(turns=[*same(8)[:-1], *same(1)]), [search], Guardrail(), InMemorySaver())
    with pytest.raises(GraphDrained):
        run(graph, "first", THREAD)
    assert run(graph, "second", THREAD)["messages"][-1].content == "done"


@pytest.mark.parametrize("handling", [{}, {"handle_tool_errors": True}])
def test_a_halt_can_be_raised_through_any_error_handling(run: Any, handling: Any) -> None:
    graph = react(Scripted(turns=same(20)), [search], Guardrail(), on_halt="raise", **handling)
    with pytest.raises(RunHalted) as halted:
        run(graph)
    assert isinstance(halted.value, GraphBubbleUp)
    assert halted.value.verdict.reason == "loop.repeat"


def test_the_wrappers_do_the_same_for_a_tool_node_of_ones_own(run: Any) -> None:
    guard = Guardrail()
    node = ToolNode([search], wrap_tool_call=tool_call_wrapper(guard), awrap_tool_call=async_tool_call_wrapper(guard))
    assert verdicts(run(loop(Scripted(turns=same(5)), node))["messages"]) == BALANCED[:5]


def test_the_sync_wrapper_alone_serves_both(run: Any) -> None:
    node = ToolNode([search], wrap_tool_call=tool_call_wrapper(Guardrail()))
    assert verdicts(run(loop(Scripted(turns=same(5)), node))["messages"]) == BALANCED[:5]


def test_a_call_that_the_graph_retries_is_counted_once(run: Any) -> None:
    tries: list[str] = []

    @tool
    def flaky(query: str) -> str:
        """Fail twice."""
        tries.append(query)
        if len(tries) < 3:
            raise ConnectionError("flaky")
        return "there"

    guard = Guardrail()
    policy = RetryPolicy(initial_interval=0.01, max_attempts=5, jitter=False)
    graph = loop(Scripted(turns=same(1, tool="flaky")), guarded_tool_node(guard, [flaky]), retry_policy=policy)
    with guard.session("run") as session:
        messages = run(graph)["messages"]
        assert session.state()["calls"] == session.state()["steps"] == 1
    assert answers(messages)[0].content == "there"
    assert len(tries) == 3


def test_a_new_question_on_a_thread_starts_the_counters_anew(run: Any) -> None:
    graph = react(Scripted(turns=[*same(3), *same(3)]), [search], Guardrail(), InMemorySaver())
    run(graph, "first", THREAD)
    assert verdicts(run(graph, "second", THREAD)["messages"]) == ["", "", "warn loop.repeat"] * 2


def test_what_a_node_says_as_a_person_is_no_user_turn(run: Any) -> None:
    graph = StateGraph(dict_state())
    model = Scripted(turns=[[("search", {"query": "cats"})]] * 3 + ["done"])
    graph.add_node("critic", lambda _: {"messages": [HumanMessage("Try harder.")]})
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", guarded_tool_node(Guardrail(), [search]))
    graph.add_edge(START, "critic")
    graph.add_edge("critic", "model")
    graph.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else "__end__")
    graph.add_edge("tools", "critic")
    assert verdicts(run(graph.compile())["messages"]) == ["", "", "warn loop.repeat"]


def dict_state(key: str = "messages") -> Any:
    return TypedDict("State", {key: Annotated[list, add_messages]})  # type: ignore[misc, operator]


def test_messages_may_be_kept_under_another_key(run: Any) -> None:
    graph = StateGraph(dict_state("talk"))
    model = Scripted(turns=same(5))
    graph.add_node("model", lambda state: {"talk": [model.invoke(state["talk"])]})
    graph.add_node("tools", guarded_tool_node(Guardrail(), [search], messages_key="talk"))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda state: "tools" if state["talk"][-1].tool_calls else "__end__")
    graph.add_edge("tools", "model")
    messages = run(graph.compile(), {"talk": [("user", "hi")]})["talk"]
    assert verdicts(messages) == BALANCED[:5]


def test_state_and_runtime_are_injected_as_ever(run: Any) -> None:
    @tool
    def count(word: str, state: Annotated[dict[str, Any], InjectedState], runtime: ToolRuntime) -> str:
        """Count messages."""
        return f"{word} {len(state['messages'])} {runtime.tool_call_id}"

    model = Scripted(turns=[[("count", {"word": "now"})], "done"])
    assert answers(run(react(model, [count], Guardrail()))["messages"])[0].content == "now 2 call0.0"


def test_two_runs_at_once_do_not_see_each_other() -> None:
    meet = threading.Barrier(2, timeout=30)

    @tool
    def search(query: str) -> str:
        """Search."""
        meet.wait()
        return "nothing"

    graph = react(Scripted(turns=same(2)), [search], Guardrail())

    async def both() -> list[Any]:
        return await asyncio.gather(*(graph.ainvoke({"messages": [("user", "hi")]}) for _ in range(2)))

    assert [verdicts(state["messages"]) for state in asyncio.run(both())] == [["", ""], ["", ""]]


def test_the_tools_are_covered_as_soon_as_the_node_is_made() -> None:
    guard = Guardrail()
    guarded_tool_node(guard, [search])
    assert [(each.tool, each.hook) for each in guard.coverage()] == [("search", "ToolNode")]


def test_a_tool_node_outside_of_any_graph_is_guarded_too() -> None:
    guard = Guardrail({"version": 1, "extends": "balanced", "tools": [{"match": "search", "limit": {"calls": 1}}]})
    node = guarded_tool_node(guard, [search])
    graph = StateGraph(dict_state())
    graph.add_node("tools", node)
    graph.add_edge(START, "tools")
    calls = [{"name": "search", "args": {"query": word}, "id": word, "type": "tool_call"} for word in ("a", "b")]
    found = answers(graph.compile().invoke({"messages": [AIMessage("", tool_calls=calls)]})["messages"])
    assert sorted(message.status for message in found) == ["error", "success"]
    assert all(isinstance(message, ToolMessage) for message in found)

"""`@guard.verify` below `@tool`: a tool made from a guarded function is the tool made from the function itself."""

from __future__ import annotations

import asyncio
import functools

import langchain_shapes
import langchain_shapes_future
import pytest
from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.errors import GraphBubbleUp
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.store.memory import InMemoryStore
from langgraph.types import interrupt
from scripted_model import Scripted, answers, assert_valid, same

from microloop import BlockedCall, Guardrail, RunHalted

pytestmark = pytest.mark.adapter

# Its own limits, so that tuning the named policies changes nothing here.
STRICT = {
    "version": 1,
    "loops": {"repeat": {"warn": 2, "block": 3, "halt": 5}, "error": {"warn": 3, "block": 8}, "text": {"warn": 3}},
}
EITHER_MODULE = [langchain_shapes, langchain_shapes_future]


def cases(name):
    return [
        pytest.param(function, arguments, id=f"{module.__name__.removeprefix('langchain_')}-{function.__name__}")
        for module in EITHER_MODULE
        for function, arguments in getattr(module, name)
    ]


def pair(function):
    return tool(function), tool(Guardrail().verify(function))


CONFIG = {"configurable": {"user": "ann"}}


@pytest.mark.parametrize(("function", "arguments"), cases("IN_GRAPH"))
def test_the_tool_shows_the_model_the_same(function, arguments):
    own, guarded = pair(function)
    assert (guarded.name, guarded.description) == (own.name, own.description)
    assert guarded.tool_call_schema.model_json_schema() == own.tool_call_schema.model_json_schema()
    assert guarded.args == own.args
    assert (guarded.func is None) is (own.func is None)
    assert (guarded.coroutine is None) is (own.coroutine is None)
    assert arguments.keys() <= own.args.keys()


@pytest.mark.parametrize(("function", "arguments"), cases("CALLS"))
def test_the_tool_gives_the_same_sync_and_async(function, arguments):
    own, guarded = pair(function)

    async def both():
        return [await each.ainvoke(arguments, CONFIG) for each in (own, guarded)]

    assert len(set(asyncio.run(both()))) == 1
    if own.func is not None:
        assert guarded.invoke(arguments, CONFIG) == own.invoke(arguments, CONFIG)


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("function", "arguments"), cases("IN_GRAPH"))
def test_the_tool_gives_the_same_in_an_agent(function, arguments, is_async):
    own, guarded = pair(function)
    if not is_async and own.func is None:
        pytest.skip("an async tool in a sync agent fails in LangChain too")
    first, second = (
        run([each], same(1, own.name, **arguments), is_async=is_async, store=InMemoryStore()) for each in (own, guarded)
    )
    assert [message.content for message in answers(second)] == [message.content for message in answers(first)]
    assert all(message.status == "success" for message in answers(second))


def run(tools, turns, *, is_async=False, config=None, **options):
    agent = create_agent(Scripted(turns=turns), tools, **options)
    state, settings = {"messages": [HumanMessage("go")]}, {**CONFIG, **(config or {})}
    result = asyncio.run(agent.ainvoke(state, settings)) if is_async else agent.invoke(state, settings)
    return result["messages"]


def test_what_is_injected_is_no_part_of_the_call():
    guard = Guardrail(STRICT, on_block="raise")
    guarded = tool(guard.verify(langchain_shapes.injected_state))
    agent = create_agent(Scripted(turns=same(3, "injected_state", query="cats")), [guarded])
    agent.invoke({"messages": [HumanMessage("go")]})
    assert [each.tool for each in guard.coverage()] == ["injected_state"]


def runs_twice(query, arguments):
    assert query.invoke(arguments) == "no rows"
    assert query.invoke(arguments).endswith("no rows")


def make(guard, *, is_async=False):
    """The example of the README."""
    if is_async:

        @tool
        @guard.verify
        async def query_database(sql: str) -> str:
            """Executes a SQL query."""
            return "no rows"

        return query_database

    @tool
    @guard.verify
    def query_database(sql: str) -> str:
        """Executes a SQL query."""
        return "no rows"

    return query_database


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("runs_async", [False, True], ids=["invoke", "ainvoke"])
def test_a_stuck_agent_is_advised_then_refused_and_reads_why(is_async, runs_async):
    if is_async and not runs_async:
        pytest.skip("an async tool in a sync agent fails in LangChain too")
    guard = Guardrail()
    turns = same(6, "query_database", sql="select 1")
    said = answers(run([make(guard, is_async=is_async)], turns, is_async=runs_async))
    assert [message.content for message in said[:2]] == ["no rows", "no rows"]
    assert said[2].content.startswith("[microloop")
    assert said[2].content.endswith("\n\nno rows")
    assert "was refused" in said[4].content
    assert "no rows" not in said[4].content
    assert said[4].content != said[5].content


@pytest.mark.parametrize("runs_async", [False, True], ids=["invoke", "ainvoke"])
@pytest.mark.parametrize("handled", [False, True], ids=["raised", "handle_tool_errors"])
def test_a_halt_ends_the_run_whatever_handles_errors(runs_async, handled):
    guard = Guardrail(STRICT)
    model = Scripted(turns=same(9, "query_database", sql="select 1"))
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([make(guard)], handle_tool_errors=handled))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    agent, state = graph.compile(), {"messages": [HumanMessage("go")]}
    with pytest.raises(RunHalted) as halted:
        asyncio.run(agent.ainvoke(state)) if runs_async else agent.invoke(state)
    assert isinstance(halted.value, GraphBubbleUp)
    assert halted.value.verdict.reason == "loop.repeat"


def test_on_block_raise_holds_inside_a_tool_too():
    guard = Guardrail(STRICT, on_block="raise")
    with pytest.raises(BlockedCall):
        run([make(guard)], same(4, "query_database", sql="select 1"))


def test_a_tool_called_by_hand_is_a_tool_run():
    query = make(Guardrail(STRICT))
    runs_twice(query, {"sql": "select 1"})
    assert "was refused" in query.invoke({"sql": "select 1"})


def test_the_function_of_a_tool_called_by_hand_is_not():
    query = make(Guardrail(STRICT))
    for _ in range(2):
        query.func("select 1")
    with pytest.raises(BlockedCall):
        query.func("select 1")


def test_a_tool_with_an_artifact_answers_in_its_own_form():
    guard = Guardrail(STRICT)

    @tool(response_format="content_and_artifact")
    @guard.verify
    def chart(name: str) -> tuple[str, dict[str, str]]:
        """Draws a chart."""
        return "a chart", {"name": name}

    call = {"name": "chart", "args": {"name": "x"}, "id": "1", "type": "tool_call"}
    first, second, third = (chart.invoke(call) for _ in range(3))
    assert (first.content, first.artifact) == ("a chart", {"name": "x"})
    assert second.content.startswith("[microloop")
    assert second.content.endswith("a chart")
    assert second.artifact == {"name": "x"}
    assert "was refused" in third.content
    assert third.artifact is None


def test_a_subclass_of_base_tool_may_guard_its_own_run():
    guard = Guardrail(STRICT)

    class Query(BaseTool):
        name: str = "query"
        description: str = "Executes a query."

        @guard.verify(name="query")
        def _run(self, sql: str) -> str:
            return "no rows"

        @guard.verify(name="query")
        async def _arun(self, sql: str) -> str:
            return "no rows"

    query = Query()
    runs_twice(query, {"sql": "select"})
    assert "was refused" in query.invoke({"sql": "select"})
    assert "was refused" in asyncio.run(query.ainvoke({"sql": "select"}))


def test_a_helper_inside_a_tool_raises_because_code_reads_its_value():
    guard = Guardrail(STRICT)

    @guard.verify
    def rows(sql: str) -> list[str]:
        return []

    @tool
    def report(sql: str) -> str:
        """Counts rows."""
        return f"{len(rows(sql))} rows"

    assert [report.invoke({"sql": "select"}) for _ in range(2)] == ["0 rows"] * 2
    with pytest.raises(BlockedCall):
        report.invoke({"sql": "select"})


def test_another_decorator_between_is_no_obstacle():
    guard = Guardrail(STRICT)

    def timed(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        return wrapper

    @tool
    @timed
    @guard.verify
    def query(sql: str) -> str:
        """Executes a query."""
        return "no rows"

    runs_twice(query, {"sql": "select"})
    assert "was refused" in query.invoke({"sql": "select"})


def test_an_error_that_langchain_handles_counts_as_an_error():
    guard = Guardrail(STRICT)

    @guard.verify
    def query(sql: str) -> str:
        """Executes a query."""
        raise ToolException("no such table")

    handled = StructuredTool.from_function(query, handle_tool_error=True)
    for number in range(3):
        assert handled.invoke({"sql": f"select {number}"}) == "no such table"
    assert guard.last_verdict.reason == "loop.error"


def test_an_interrupt_in_a_tool_is_no_error():
    guard = Guardrail(STRICT)

    @tool
    @guard.verify
    def approve(what: str) -> str:
        """Asks a person."""
        return interrupt(what)

    for _ in range(6):
        run([approve], same(1, "approve", what="x"))
    assert guard.last_verdict is None


# Sessions


def test_two_runs_without_ids_never_see_each_others_steps():
    guard = Guardrail(STRICT)
    query = make(guard)
    for _ in range(3):
        said = answers(run([query], same(2, "query_database", sql="select 1")))
        assert "no rows" in said[-1].content


def test_one_thread_of_conversation_is_one_session_and_each_run_a_turn_of_the_person():
    guard = Guardrail({**STRICT, "budgets": {"calls": 5}})
    query = make(guard)
    thread = {"configurable": {"thread_id": "t1"}}
    for _ in range(2):
        said = answers(run([query], same(2, "query_database", sql="select 1"), config=thread))
        assert "no rows" in said[-1].content
    assert guard.session("t1").state()["calls"] == 4
    with pytest.raises(RunHalted, match="budget"):
        run([query], same(2, "query_database", sql="select 1"), config=thread)
    assert guard.session("t2").state()["calls"] == 0


@pytest.mark.parametrize("runs_async", [False, True], ids=["invoke", "ainvoke"])
def test_a_session_around_a_run_is_the_session_of_its_tools(runs_async):
    guard = Guardrail()
    with guard.session("mine") as session:
        run([make(guard)], same(2, "query_database", sql="select 1"), is_async=runs_async)
        assert session.state()["calls"] == 2


def test_parallel_calls_of_one_turn_are_counted_each():
    guard = Guardrail()
    turns = [[("query_database", {"sql": f"select {number}"}) for number in range(8)], "done"]
    with guard.session("mine") as session:
        messages = run([make(guard)], turns)
        assert session.state()["calls"] == 8
    assert_valid(messages)


# The wrong way round


def test_above_tool_the_tool_is_wrapped():
    guard = Guardrail(STRICT)

    @guard.verify
    @tool
    def query(sql: str) -> str:
        """Executes a query."""
        return "no rows"

    assert isinstance(query, BaseTool)
    runs_twice(query, {"sql": "select"})
    assert "was refused" in query.invoke({"sql": "select"})


def test_a_tool_that_is_guarded_inside_and_outside_counts_once():
    guard = Guardrail()
    wrapped = guard.wrap([make(guard)])[0]
    with guard.session("mine") as session:
        wrapped.invoke({"sql": "select"})
        assert session.state()["steps"] == 1

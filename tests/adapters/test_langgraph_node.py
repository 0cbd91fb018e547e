"""`@guard_node`: a node function that runs the model's tool calls itself."""

from __future__ import annotations

import inspect
import logging
import sys
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from graphs import loop
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphDrained
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime
from langgraph.types import Command
from scripted_model import Scripted, answers, assert_valid, same, verdicts

from microloop import AdapterError, Guardrail
from microloop.adapters.langgraph import guard_node

pytestmark = pytest.mark.adapter
THREAD = {"configurable": {"thread_id": "t"}}


class Tools:
    """Runs whatever the last message asks for, and notes it."""

    def __init__(self) -> None:
        self.ran: list[Any] = []

    def answer(self, state: Any) -> list[ToolMessage]:
        messages = state["messages"] if isinstance(state, dict) else getattr(state, "messages", state)
        calls = messages[-1].tool_calls
        self.ran += [call["args"]["query"] for call in calls]
        return [ToolMessage(f"nothing about {call['args']['query']}", tool_call_id=call["id"]) for call in calls]


def nodes(guard: Guardrail, tools: Tools, **options: Any) -> dict[str, Any]:
    @guard_node(guard, **options)
    def node(state: MessagesState) -> dict[str, Any]:
        return {"messages": tools.answer(state)}

    @guard_node(guard, **options)
    async def anode(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        return {"messages": tools.answer(state)}

    return {"invoke": node, "ainvoke": anode}


@pytest.fixture
def way(request: pytest.FixtureRequest) -> str:
    return str(request.node.callspec.params["run"])


def test_a_stuck_model_is_advised_refused_and_halted(run: Any, way: str) -> None:
    tools = Tools()
    graph = loop(Scripted(turns=same(20)), nodes(Guardrail(), tools)[way], InMemorySaver())
    with pytest.raises(GraphDrained):
        run(graph, config=THREAD)
    messages = graph.get_state(THREAD).values["messages"]
    assert [verdict.split()[0] if verdict else "" for verdict in verdicts(messages)] == [
        *["", "", "warn", "warn"],
        *["block", "block", "block", "halt"],
    ]
    assert answers(messages)[2].content.endswith("nothing about cats")
    assert tools.ran == ["cats"] * 4
    assert_valid(messages)


def test_the_node_sees_only_what_may_run_and_every_call_is_answered(run: Any, way: str) -> None:
    tools, rule = Tools(), {"id": "no-dogs", "path": "query", "deny": {"equals": "dogs"}}
    guard = Guardrail({"version": 1, "extends": "balanced", "tools": [{"match": "search", "rules": [rule]}]})
    turn = [("search", {"query": word}) for word in ("cats", "dogs", "cats", "birds")]
    state = run(loop(Scripted(turns=[turn, "done"]), nodes(guard, tools)[way]))
    assert tools.ran == ["cats", "birds"]
    given = {message.tool_call_id: message.content for message in answers(state["messages"])}
    assert given["call0.0"] == given["call0.2"] == "nothing about cats"
    assert given["call0.1"].startswith("[microloop")
    assert_valid(state["messages"])


def test_config_and_runtime_are_injected_as_ever() -> None:
    guard, seen = Guardrail(), []

    @guard_node(guard)
    def node(state: MessagesState, config: RunnableConfig, *, runtime: Runtime) -> dict[str, Any]:
        seen.append((config["configurable"]["thread_id"], runtime.execution_info is not None))
        return {"messages": [ToolMessage("x", tool_call_id=call["id"]) for call in state["messages"][-1].tool_calls]}

    loop(Scripted(turns=same(1)), node).invoke({"messages": [("user", "hi")]}, THREAD)
    assert seen == [("t", True)]


def test_the_decorated_node_looks_like_the_node() -> None:
    def tools(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        """Run the tools."""
        return {}

    guarded = guard_node(Guardrail())(tools)
    assert (guarded.__name__, guarded.__doc__) == ("tools", "Run the tools.")
    assert inspect.signature(guarded) == inspect.signature(tools)


def test_methods_can_be_nodes() -> None:
    guard = Guardrail()

    class Agent:
        @guard_node(guard)
        def tools(self, state: MessagesState) -> dict[str, Any]:
            return {
                "messages": [ToolMessage("x", tool_call_id=each["id"]) for each in state["messages"][-1].tool_calls]
            }

    messages = loop(Scripted(turns=same(5)), Agent().tools).invoke({"messages": [("user", "hi")]})["messages"]
    assert verdicts(messages)[4] == "block loop.repeat"


@dataclass
class Fields:
    messages: Annotated[list[Any], add_messages] = field(default_factory=list)


@pytest.mark.parametrize("kind", ["list", "one message", "command", "dataclass", "nothing"])
def test_whatever_form_a_node_answers_in_the_refusals_are_added(kind: str) -> None:
    guard = Guardrail({"version": 1, "extends": "balanced", "tools": [{"match": "*", "limit": {"calls": 1}}]})
    tools = Tools()

    @guard_node(guard)
    def node(state: Any) -> Any:
        found = tools.answer(state)
        answer = {"messages": found[0] if kind == "one message" else found}
        if kind == "nothing":
            return None
        return Command(update=answer) if kind == "command" else answer

    graph = StateGraph(Fields if kind == "dataclass" else MessagesState)
    graph.add_node("tools", node)
    graph.add_edge(START, "tools")
    calls = [{"name": "search", "args": {"query": word}, "id": word, "type": "tool_call"} for word in ("a", "b")]
    state = graph.compile().invoke({"messages": [HumanMessage("hi"), AIMessage("", tool_calls=calls)]})
    assert tools.ran == ["a"]
    assert {message.tool_call_id for message in answers(state["messages"])} == (
        {"b"} if kind == "nothing" else {"a", "b"}
    )


def test_a_command_is_left_as_it_is_and_the_advice_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    tools = Tools()

    @guard_node(Guardrail())
    def node(state: MessagesState) -> Command[Any]:
        return Command(update={"messages": tools.answer(state)})

    with caplog.at_level(logging.WARNING, logger="microloop"):
        messages = loop(Scripted(turns=same(3)), node).invoke({"messages": [("user", "hi")]})["messages"]
    assert [message.content for message in answers(messages)] == ["nothing about cats"] * 3
    assert "the advice has no place in a Command" in caplog.text


@pytest.mark.parametrize("ids", [("1", "2"), ("1", "1")])
def test_outside_of_a_graph_a_list_of_messages_is_a_state_too(ids: tuple[str, str]) -> None:
    tools = Tools()
    calls = [{"name": "search", "args": {"query": "a"}, "id": each, "type": "tool_call"} for each in ids]
    found = guard_node(Guardrail())(tools_of(tools))([AIMessage("", tool_calls=calls)])
    assert [message.tool_call_id for message in found] == list(ids)
    assert tools.ran == ["a"]


def tools_of(tools: Tools) -> Any:
    def node(state: Any) -> list[ToolMessage]:
        return tools.answer(state)

    return node


def test_a_node_that_raises_is_recorded_and_raises(run: Any) -> None:
    guard = Guardrail()

    @guard_node(guard)
    def node(state: MessagesState) -> dict[str, Any]:
        raise ZeroDivisionError("no")

    with guard.session("run") as session, pytest.raises(ZeroDivisionError):
        run(loop(Scripted(turns=same(1)), node))
    for _ in range(3):
        session.record(session.check("search", {"query": "cats"}), error="ZeroDivisionError: no")
    assert session.check("search", {"query": "cats"}).action == "block"


def test_a_node_without_pending_calls_is_left_alone() -> None:
    guard = Guardrail()

    @guard_node(guard)
    def node(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage("hello")]}

    assert node({"messages": [HumanMessage("hi")]}) == {"messages": [AIMessage("hello")]}


def test_decorated_tools_inside_the_node_are_counted_once() -> None:
    guard = Guardrail()

    @guard.verify
    def search(query: str) -> str:
        return "nothing"

    @guard_node(guard)
    def node(state: MessagesState) -> dict[str, Any]:
        calls = state["messages"][-1].tool_calls
        return {"messages": [ToolMessage(search(**call["args"]), tool_call_id=call["id"]) for call in calls]}

    turn = [("search", {"query": word}) for word in ("cats", "dogs")]
    with guard.session("run") as session:
        loop(Scripted(turns=[turn, "done"]), node).invoke({"messages": [("user", "hi")]})
        assert session.state()["calls"] == 2


@pytest.mark.skipif(sys.version_info >= (3, 11), reason="Python 3.11 gives every task its run")
def test_an_async_node_that_cannot_know_its_run_is_refused() -> None:
    async def node(state: MessagesState) -> dict[str, Any]:
        return {}

    with pytest.raises(AdapterError, match="config: RunnableConfig"):
        guard_node(Guardrail())(node)


def test_a_tool_node_is_refused_with_what_to_use_instead() -> None:
    with pytest.raises(AdapterError, match="guarded_tool_node"):
        guard_node(Guardrail())(ToolNode([]))

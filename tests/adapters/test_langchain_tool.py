"""`guard.wrap(tools)`: guarded copies of LangChain tools that keep all of what they are."""

from __future__ import annotations

import asyncio
import copy
import threading
from typing import Annotated, Any, Literal

import pytest
from graphs import loop
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, Tool, ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphDrained
from langgraph.prebuilt import InjectedState, ToolNode, ToolRuntime
from pydantic import BaseModel, Field
from scripted_model import Scripted, answers, assert_valid, same, verdicts

from microloop import BlockedCall, Guardrail, RunHalted
from microloop.adapters.langchain import wrap_tool

pytestmark = pytest.mark.adapter
NO_CATS = {
    "version": 1,
    "extends": "balanced",
    "tools": [{"match": "*", "rules": [{"id": "no-cats", "path": "query", "deny": {"equals": "cats"}}]}],
}


class Arguments(BaseModel):
    query: str = Field(description="What to look for")
    limit: int = 10


class Search(BaseTool):
    name: str = "search"
    description: str = "Search."
    args_schema: Any = Arguments
    found: str = "nothing"

    def _run(self, query: str, limit: int = 10, config: RunnableConfig = None) -> str:  # type: ignore[assignment]
        return f"{self.found} about {query}, {limit}, {bool(config)}"


def make(kind: str) -> BaseTool:
    def search(query: str, limit: int = 10) -> str:
        """Search."""
        return f"nothing about {query}, {limit}"

    async def asearch(query: str, limit: int = 10) -> str:
        """Search."""
        return f"nothing about {query}, {limit}"

    if kind == "class":
        return Search()
    if kind == "structured":
        return StructuredTool.from_function(search, coroutine=asearch)
    return StructuredTool.from_function(coroutine=asearch, name="search") if kind == "async" else tool(search)


def call(wrapped: BaseTool, given: Any, kind: str) -> Any:
    return asyncio.run(wrapped.ainvoke(given)) if kind in ("async", "structured") else wrapped.invoke(given)


KINDS = ["function", "structured", "async", "class"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_is_the_tool_in_everything_that_a_framework_looks_at(kind: str) -> None:
    original = make(kind)
    wrapped = wrap_tool(Guardrail(), original)
    assert isinstance(wrapped, type(original))
    assert type(wrapped).__name__ == type(original).__name__
    assert wrapped.tool_call_schema.model_json_schema() == original.tool_call_schema.model_json_schema()  # type: ignore[union-attr]
    assert wrapped.model_dump(exclude={"args_schema"}) == original.model_dump(exclude={"args_schema"})
    assert wrapped.args == original.args


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_asks_and_the_original_does_not(kind: str) -> None:
    original = make(kind)
    wrapped = wrap_tool(Guardrail(NO_CATS), original)
    assert call(wrapped, {"query": "cats"}, kind).startswith("[microloop")
    assert call(wrapped, {"query": "dogs"}, kind).startswith("nothing about dogs, 10")
    assert call(original, {"query": "cats"}, kind).startswith("nothing about cats")


@pytest.mark.parametrize("kind", KINDS)
def test_a_tool_call_is_refused_by_a_message(kind: str) -> None:
    asked = {"name": "search", "args": {"query": "cats"}, "id": "1", "type": "tool_call"}
    message = call(wrap_tool(Guardrail(NO_CATS), make(kind)), asked, kind)
    assert isinstance(message, ToolMessage)
    assert (message.status, message.tool_call_id, message.name) == ("error", "1", "search")


def test_a_tool_with_an_artifact_is_refused_in_its_own_form() -> None:
    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, dict[str, str]]:
        """Search."""
        return f"about {query}", {"document": query}

    wrapped = wrap_tool(Guardrail(NO_CATS), search)
    assert wrapped.invoke({"query": "cats"}).startswith("[microloop")
    found = wrapped.invoke({"name": "search", "args": {"query": "dogs"}, "id": "1", "type": "tool_call"})
    assert (found.content, found.artifact) == ("about dogs", {"document": "dogs"})


def test_errors_are_handled_as_the_tool_says_and_recorded() -> None:
    @tool
    def search(query: str) -> str:
        """Search."""
        raise ToolException("no such index")

    search.handle_tool_error = True
    wrapped = wrap_tool(Guardrail(), search)
    found = [wrapped.invoke({"query": "dogs"}) for _ in range(5)]
    assert found[:2] == ["no such index"] * 2
    assert found[2].startswith("[microloop")
    assert found[4].endswith(("change the arguments.", "another question.", "and finish."))


def test_an_exception_of_the_tool_is_the_callers() -> None:
    @tool
    def search(query: str) -> str:
        """Search."""
        raise ZeroDivisionError(query)

    with pytest.raises(ZeroDivisionError):
        wrap_tool(Guardrail(), search).invoke({"query": "dogs"})


def test_what_the_framework_injects_arrives_and_is_no_part_of_the_call(run: Any) -> None:
    @tool
    def note(
        text: str,
        call_id: Annotated[str, InjectedToolCallId],
        state: Annotated[dict[str, Any], InjectedState],
        runtime: ToolRuntime,
        config: RunnableConfig,
    ) -> str:
        """Take a note."""
        return f"{text} {call_id} {len(state['messages'])} {runtime.tool_call_id} {bool(config)}"

    guard = Guardrail()
    graph = loop(Scripted(turns=same(3, tool="note", text="milk")), ToolNode(guard.wrap([note])))
    found = answers(run(graph)["messages"])
    assert found[0].content == "milk call0.0 2 call0.0 True"
    assert verdicts(found)[2] == ""  # the answers differ: no loop
    assert [type(each).__name__ for each in found] == ["ToolMessage"] * 3


def test_a_text_is_the_value_of_the_only_argument() -> None:
    wrapped = wrap_tool(Guardrail(NO_CATS), make("function"))
    assert wrapped.invoke("cats").startswith("[microloop")
    assert wrapped.invoke("dogs").startswith("nothing about dogs")


def test_an_old_single_input_tool_keeps_working() -> None:
    wrapped = wrap_tool(Guardrail(), Tool(name="old", func=lambda text: f"<{text}>", description="Old."))
    assert wrapped.invoke("cats") == "<cats>"


def test_a_schema_given_as_json_is_enforced() -> None:
    schema = {"type": "object", "properties": {"size": {"enum": ["s", "m"]}}, "required": ["size"]}
    order = StructuredTool(name="order", description="Order.", args_schema=schema, func=lambda **given: str(given))
    wrapped = wrap_tool(Guardrail(), order)
    assert wrapped.invoke({"size": "s"}) == "{'size': 's'}"
    assert wrapped.invoke({"size": "xl"}).startswith("[microloop")


def test_a_literal_is_enforced_before_the_tool_sees_it() -> None:
    @tool
    def order(size: Literal["s", "m"]) -> str:
        """Order."""
        return size

    assert wrap_tool(Guardrail(), order).invoke({"size": "xl"}).startswith("[microloop")


def test_the_host_can_have_refusals_raised() -> None:
    with pytest.raises(BlockedCall):
        wrap_tool(Guardrail(NO_CATS, on_block="raise"), make("function")).invoke({"query": "cats"})


def test_a_halt_outside_of_a_graph_is_raised() -> None:
    wrapped = wrap_tool(Guardrail(), make("function"))
    for _ in range(7):
        wrapped.invoke({"query": "cats"})
    with pytest.raises(RunHalted):
        wrapped.invoke({"query": "cats"})


def test_a_halt_inside_of_a_graph_ends_it_with_every_call_answered(run: Any) -> None:
    thread = {"configurable": {"thread_id": "t"}}
    tools = Guardrail().wrap([make("structured")])
    graph = create_agent(Scripted(turns=same(20)), tools, checkpointer=InMemorySaver())
    with pytest.raises(GraphDrained):
        run(graph, config=thread)
    messages = graph.get_state(thread).values["messages"]
    assert verdicts(messages)[-1] == "halt loop.repeat"
    assert_valid(messages)


def test_the_thread_is_the_session(run: Any) -> None:
    guard = Guardrail()
    wrapped = guard.wrap(make("function"))
    wrapped.invoke({"query": "cats"}, {"configurable": {"thread_id": "a"}})
    graph = create_agent(Scripted(turns=same(2)), [wrapped], checkpointer=InMemorySaver())
    run(graph, config={"configurable": {"thread_id": "b"}})
    assert [guard.session(name).state()["calls"] for name in ("a", "b")] == [1, 2]


def test_threads_may_call_one_wrapped_tool_at_once() -> None:
    guard = Guardrail()
    wrapped = guard.wrap(make("function"))
    threads = [threading.Thread(target=wrapped.invoke, args=({"query": f"q{n}"},)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert guard.here().state()["calls"] == 8


def test_wrapping_twice_with_one_guard_is_wrapping_once() -> None:
    guard = Guardrail()
    wrapped = guard.wrap(make("function"))
    assert guard.wrap(wrapped) is wrapped
    assert guard.wrap(Guardrail().wrap(wrapped)) is not wrapped


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda wrapped: wrapped.model_copy()])
def test_copies_of_a_guarded_tool_are_guarded(duplicate: Any) -> None:
    wrapped = duplicate(wrap_tool(Guardrail(NO_CATS), make("class")))
    assert wrapped.invoke({"query": "cats"}).startswith("[microloop")

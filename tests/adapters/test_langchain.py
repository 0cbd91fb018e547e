"""A LangChain agent with `GuardrailMiddleware`: verdicts become what LangChain itself would answer."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolErrorMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.types import Command
from scripted_model import Scripted, answers, assert_valid, same, verdicts

from microloop import AdapterError, Guardrail, RunHalted
from microloop.adapters._gate.versions import require
from microloop.adapters.langchain import GuardrailMiddleware

pytestmark = pytest.mark.adapter
BALANCED = ["", "", "warn loop.repeat", "warn loop.repeat", *["block loop.repeat"] * 3, "halt loop.repeat"]


class Search:
    """A tool that counts how often it really ran."""

    def __init__(self) -> None:
        self.ran = 0

        @tool
        def search(query: str) -> str:
            """Search."""
            self.ran += 1
            return f"nothing about {query}"

        self.tool = search


@pytest.fixture
def search() -> Search:
    return Search()


def agent(model: Any, tools: list[Any], guard: Guardrail, **options: Any) -> Any:
    return create_agent(model, tools, middleware=[GuardrailMiddleware(guard, **options)])


def test_a_stuck_agent_is_advised_then_refused_then_halted(run: Any, search: Search) -> None:
    messages = run(agent(Scripted(turns=same(20)), [search.tool], Guardrail()))["messages"]
    assert verdicts(messages) == BALANCED
    assert search.ran == 4
    assert_valid(messages)


def test_advice_stands_at_the_head_of_the_result_and_a_refusal_is_all_there_is(run: Any, search: Search) -> None:
    found = answers(run(agent(Scripted(turns=same(5)), [search.tool], Guardrail()))["messages"])
    assert found[1].content == "nothing about cats"
    assert found[2].content.startswith("[microloop")
    assert found[2].content.endswith("\n\nnothing about cats")
    assert found[2].status == "success"
    assert (found[4].status, found[4].name) == ("error", "search")
    assert "cats" not in found[4].content


def test_a_halted_run_ends_with_a_message_and_an_outcome_that_are_no_success(run: Any, search: Search) -> None:
    state = run(agent(Scripted(turns=same(20)), [search.tool], Guardrail()))
    assert isinstance(state["messages"][-1], AIMessage)
    assert state["messages"][-1].content.startswith("This run was halted.")
    assert state["microloop_halted"]["reason"] == "loop.repeat"


def test_a_run_that_was_not_halted_has_no_such_outcome(run: Any, search: Search) -> None:
    state = run(agent(Scripted(turns=same(2)), [search.tool], Guardrail()))
    assert sorted(state) == ["messages"]


def test_a_halt_can_be_raised_instead(run: Any, search: Search) -> None:
    with pytest.raises(RunHalted) as halted:
        run(agent(Scripted(turns=same(20)), [search.tool], Guardrail(), on_halt="raise"))
    assert halted.value.verdict.reason == "loop.repeat"


def test_a_raised_halt_passes_through_error_handling_middleware(run: Any, search: Search) -> None:
    soften = ToolErrorMiddleware(lambda error, request: f"{type(error).__name__} in {request.tool_call['name']}")
    guarded = GuardrailMiddleware(Guardrail(), on_halt="raise")
    with pytest.raises(RunHalted):
        run(create_agent(Scripted(turns=same(20)), [search.tool], middleware=[soften, guarded]))


def test_a_misspelt_choice_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="'stop'"):
        GuardrailMiddleware(Guardrail(), on_halt="stop")  # type: ignore[arg-type]


def test_each_run_without_ids_has_a_session_of_its_own(run: Any, search: Search) -> None:
    graph = agent(Scripted(turns=same(3)), [search.tool], Guardrail())
    assert verdicts(run(graph)["messages"]) == verdicts(run(graph)["messages"]) == BALANCED[:3]


def test_two_runs_at_once_do_not_see_each_other() -> None:
    meet = threading.Barrier(2, timeout=30)

    @tool
    def search(query: str) -> str:
        """Search."""
        meet.wait()
        return "nothing"

    graph = agent(Scripted(turns=same(2)), [search], Guardrail())
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(graph.invoke({"messages": ["hi"]}))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [verdicts(state["messages"]) for state in results] == [["", ""], ["", ""]]


def test_two_tasks_of_one_event_loop_do_not_see_each_other(search: Search) -> None:
    graph = agent(Scripted(turns=same(2)), [search.tool], Guardrail())

    async def both() -> list[Any]:
        return await asyncio.gather(*(graph.ainvoke({"messages": ["hi"]}) for _ in range(2)))

    assert [verdicts(state["messages"]) for state in asyncio.run(both())] == [["", ""], ["", ""]]


def test_a_session_around_the_run_is_the_session_of_the_run(run: Any, search: Search) -> None:
    guard = Guardrail()
    with guard.session("mine") as session:
        run(agent(Scripted(turns=same(2)), [search.tool], guard))
        assert session.state()["calls"] == 2


def test_the_schema_that_the_tool_shows_the_model_is_enforced(run: Any, search: Search) -> None:
    model = Scripted(turns=[[("search", {"query": 7})], "done"])
    found = answers(run(agent(model, [search.tool], Guardrail()))["messages"])
    assert found[0].status == "error"
    assert "Expected arguments" in found[0].content
    assert search.ran == 0


def test_arguments_that_the_framework_injects_are_no_part_of_the_schema(run: Any) -> None:
    @tool
    def note(text: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
        """Take a note."""
        return f"{text} by {call_id}"

    found = answers(run(agent(Scripted(turns=[[("note", {"text": "milk"})], "done"]), [note], Guardrail()))["messages"])
    assert found[0].content == "milk by call0.0"


def test_an_unknown_tool_is_answered_by_the_framework_and_counted_as_an_error(run: Any, search: Search) -> None:
    messages = run(agent(Scripted(turns=same(3, tool="serach")), [search.tool], Guardrail()))["messages"]
    assert "not a valid tool" in answers(messages)[0].content
    assert verdicts(messages) == ["", "", "warn loop.repeat"]


def test_an_exception_of_a_tool_is_recorded_and_goes_on_as_it_is(run: Any) -> None:
    @tool
    def boom(query: str) -> str:
        """Fail."""
        raise ZeroDivisionError(query)

    model, guarded = Scripted(turns=same(5, tool="boom")), GuardrailMiddleware(Guardrail())
    with pytest.raises(ZeroDivisionError, match="cats"):
        run(create_agent(model, [boom], middleware=[guarded]))
    soften = ToolErrorMiddleware(lambda error, _: f"{type(error).__name__}: {error}")
    messages = run(create_agent(model, [boom], middleware=[soften, guarded]))["messages"]
    assert answers(messages)[0].content == "ZeroDivisionError: cats"
    assert verdicts(messages)[4] == "block loop.repeat"


def test_errors_that_a_tool_reports_are_recorded_as_errors(run: Any) -> None:
    @tool
    def fetch(number: int) -> ToolMessage:
        """Fetch."""
        return ToolMessage("404: not found", tool_call_id="", name="fetch", status="error")

    turns = [*[[("fetch", {"number": n})] for n in range(3)], "done"]
    assert verdicts(run(agent(Scripted(turns=turns), [fetch], Guardrail()))["messages"])[2] == "warn loop.error"


def test_advice_on_content_blocks_is_a_block_of_its_own(run: Any) -> None:
    @tool
    def look(query: str) -> list[dict[str, str]]:
        """Look."""
        return [{"type": "text", "text": query}]

    found = answers(run(agent(Scripted(turns=same(3, tool="look")), [look], Guardrail()))["messages"])
    assert [block["text"][:10] for block in found[2].content] == ["[microloop", "cats"]


def test_a_command_is_left_as_it_is_and_the_advice_is_logged(run: Any, caplog: pytest.LogCaptureFixture) -> None:
    @tool
    def go(query: str, call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Go."""
        return Command(update={"messages": [ToolMessage(f"went {query}", tool_call_id=call_id)]})

    with caplog.at_level(logging.WARNING, logger="microloop"):
        found = answers(run(agent(Scripted(turns=same(3, tool="go")), [go], Guardrail()))["messages"])
    assert [message.content for message in found] == ["went cats"] * 3
    assert "the advice has no place in a Command" in caplog.text


def test_a_decorated_tool_under_the_middleware_is_counted_once(run: Any) -> None:
    guard = Guardrail()

    @tool
    @guard.verify
    def search(query: str) -> str:
        """Search."""
        return "nothing"

    assert verdicts(run(agent(Scripted(turns=same(4)), [search], guard))["messages"]) == BALANCED[:4]


def test_a_wrapped_tool_under_the_middleware_is_counted_once(run: Any, search: Search) -> None:
    guard = Guardrail()
    graph = agent(Scripted(turns=same(4)), guard.wrap([search.tool]), guard)
    assert verdicts(run(graph)["messages"]) == BALANCED[:4]


def test_streaming_shows_the_same_answers(search: Search) -> None:
    graph = agent(Scripted(turns=same(5)), [search.tool], Guardrail())
    seen: list[Any] = []
    for update in graph.stream({"messages": [HumanMessage("hi")]}, stream_mode="updates"):
        seen += (update.get("tools") or {}).get("messages", [])
    assert verdicts(seen) == BALANCED[:5]


def test_coverage_lists_the_tools_before_any_of_them_is_called(run: Any, search: Search) -> None:
    guard = Guardrail()
    run(agent(Scripted(turns=["done"]), [search.tool], guard))
    assert [(each.tool, each.hook) for each in guard.coverage()] == [("search", "GuardrailMiddleware")]


def test_a_tool_that_the_provider_runs_is_said_to_be_unguarded(run: Any, search: Search, caplog: Any) -> None:
    with caplog.at_level(logging.WARNING, logger="microloop"):
        run(agent(Scripted(turns=same(2)), [search.tool, {"type": "web_search"}], Guardrail()))
    assert caplog.text.count("web_search runs at the model's provider") == 1


def test_wrapping_a_tool_does_not_import_the_agents() -> None:
    code = "import sys; from microloop.adapters.langchain import wrap_tool; print('langchain.agents' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_a_missing_or_old_package_is_named_with_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda package: "1.0.3")
    with pytest.raises(AdapterError, match=r"langgraph is 1\.0\.3; 1\.2\.11 or newer is needed: pip install"):
        require("langgraph")

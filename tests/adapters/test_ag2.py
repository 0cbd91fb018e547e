"""AG2 1.x: what the contract of all adapters cannot say."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from ag2 import Agent, Context, MemoryStream, ToolResult, tool
from ag2.events import ModelResponse, ToolCallEvent, ToolCallsEvent, ToolErrorEvent, ToolResultEvent, Usage
from ag2.testing import TestConfig
from pydantic import BaseModel

from microloop import Guardrail, RunHalted
from microloop.adapters.ag2 import GuardrailMiddleware

pytestmark = pytest.mark.adapter
STRICT = "strict_loop_detection"


class Page(BaseModel):
    title: str


@tool
def search(query: str) -> str:
    """Search the web."""
    return "nothing found"


def call(name: str = "search", number: int = 0, **arguments: Any) -> ToolCallEvent:
    return ToolCallEvent(name, id=f"c{number}", arguments=json.dumps(arguments or {"query": "cats"}))


def agent(guard: Guardrail, *turns: Any, tools: Any = (search,), **options: Any) -> Agent:
    config = TestConfig(*turns, raise_tool_errors=False)
    return Agent("agent", config=config, tools=tools, middleware=[GuardrailMiddleware(guard, **options)])


def ask(asked: Agent, **options: Any) -> tuple[Any, list[ToolResultEvent]]:
    async def run() -> Any:
        stream = MemoryStream()
        reply = await asked.ask("Find cats.", stream=stream, **options)
        return reply, [each for each in await stream.history.get_events() if isinstance(each, ToolResultEvent)]

    return asyncio.run(asyncio.wait_for(run(), 20))


def text(event: ToolResultEvent) -> str:
    return "".join(part.content for part in event.result.parts)


def test_a_refusal_is_an_error_event_without_a_traceback() -> None:
    _, results = ask(agent(Guardrail(STRICT), *[call()] * 3, "done"))
    assert [isinstance(each, ToolErrorEvent) for each in results] == [False, False, True]
    assert text(results[2]).startswith("[microloop #1] search was refused")
    assert "Traceback" not in text(results[2])


def test_a_halt_ends_with_a_marked_reply() -> None:
    reply, _ = ask(agent(Guardrail(STRICT), *[call()] * 9))
    assert reply.body.startswith("This run was halted. [microloop")
    assert reply.response.metadata["microloop"]["reason"] == "loop.repeat"


def test_a_halt_can_raise() -> None:
    with pytest.raises(RunHalted):
        ask(agent(Guardrail(STRICT), *[call()] * 9, on_halt="raise"))


def test_the_stream_is_the_session_and_another_question_is_a_user_turn() -> None:
    guard, stream = Guardrail(STRICT), MemoryStream()

    async def converse() -> Any:
        reply = await agent(guard, call(), call(), "done").ask("Find cats.", stream=stream)
        return await agent(guard, call(), call(), "done").ask("Once more.", stream=reply.context.stream)

    assert asyncio.run(converse()).body == "done"
    assert guard.session(str(stream.id)).state()["calls"] == 4


def test_a_session_around_the_run_comes_first() -> None:
    guard = Guardrail()
    with guard.session("mine") as session:
        ask(agent(guard, call(), "done"))
        assert session.state()["calls"] == 1


def test_a_sub_agent_has_a_session_of_its_own_and_shares_the_budget() -> None:
    guard = Guardrail({"version": 1, "extends": STRICT, "budgets": {"calls": 6}})
    helper = agent(guard, call(), call(), "one", call(), call(), "two").as_tool(description="Finds things.")
    name = helper.schema.function.name
    reply, results = ask(
        agent(guard, call(name, 0, objective="cats"), call(name, 1, objective="lions"), call(), "done", tools=[helper])
    )
    assert reply.response.metadata["microloop"]["reason"] == "budget.calls"
    assert not any(isinstance(each, ToolErrorEvent) for each in results[:2])


@pytest.mark.parametrize("made", [ToolCallEvent("serach", arguments="{}"), ToolCallEvent("search", arguments='{"q')])
def test_calls_that_ag2_answers_itself_are_a_loop_too(made: ToolCallEvent) -> None:
    seen: list[Any] = []
    turns = [ToolCallEvent(made.name, id=f"c{number}", arguments=made.arguments) for number in range(15)]
    reply, _ = ask(agent(Guardrail(STRICT), *turns, on_verdict=seen.append))
    assert "microloop" in reply.response.metadata
    assert {each.tool for each in seen} == {made.name}


def test_a_schema_holds_calls_that_ag2_would_let_through() -> None:
    reply, results = ask(agent(Guardrail(), call(query="cats", colour="red"), "done"))
    assert reply.body == "done"
    assert "search was refused" in text(results[0]) or "nothing found" in text(results[0])


def test_injected_context_models_and_results_that_are_no_text_are_left_alone() -> None:
    seen: list[Any] = []

    async def fetch(page: Page, ctx: Context) -> Any:
        """Fetch a page."""
        seen.append((page, ctx.variables["who"]))
        return {"title": page.title}

    fetch.__annotations__ = {"page": Page, "ctx": Context, "return": Any}
    _, results = ask(
        agent(Guardrail(), call("fetch", page={"title": "Cats"}), "done", tools=[fetch]), variables={"who": "me"}
    )
    assert seen == [(Page(title="Cats"), "me")]
    assert [part.data for part in results[0].result.parts] == [{"title": "Cats"}]


def test_a_final_result_stays_the_reply() -> None:
    @tool
    def answer(query: str) -> Any:
        """Give the answer."""
        return ToolResult("forty-two", final=True)

    assert ask(agent(Guardrail(), call("answer"), tools=[answer]))[0].body == "forty-two"


def test_the_exception_of_a_tool_reaches_ag2_as_it_is() -> None:
    class Own(Exception):
        pass

    @tool
    def broken(query: str) -> str:
        """Break."""
        raise Own("gone")

    _, results = ask(agent(Guardrail(), call("broken"), "done", tools=[broken]))
    assert isinstance(results[0].error, Own)


def test_tokens_are_charged_with_the_name_of_the_model() -> None:
    guard = Guardrail({"version": 1, "budgets": {"usd": 0.001}})
    usage = Usage(prompt_tokens=1_000_000, completion_tokens=0)
    turn = ModelResponse(tool_calls=ToolCallsEvent([call()]), usage=usage, model="gpt-4o", provider="openai")
    pytest.importorskip("genai_prices")
    reply, _ = ask(agent(guard, turn, "done"))
    assert reply.response.metadata["microloop"]["reason"] == "budget.usd"


def test_a_decorated_tool_is_counted_once() -> None:
    guard = Guardrail()

    @tool
    @guard.verify
    def lookup(query: str) -> str:
        """Look it up."""
        return "found"

    with guard.session("s") as session:
        ask(agent(guard, call("lookup"), "done", tools=[lookup]))
        assert session.state()["calls"] == 1


def test_a_misspelt_choice_is_said_at_once() -> None:
    with pytest.raises(ValueError, match="on_halt"):
        GuardrailMiddleware(Guardrail(), on_halt="stop")

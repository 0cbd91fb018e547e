"""Microsoft Agent Framework: what the contract of all adapters cannot say."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest
from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationContext,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
    tool,
)
from pydantic import BaseModel, Field

from microloop import AdapterError, Guardrail, RunHalted
from microloop.adapters.agent_framework import guardrail_middleware

pytestmark = pytest.mark.adapter
STRICT = "strict_loop_detection"
RULES = [{"id": "consent", "path": "query", "ask": {"regex": "cats"}}]
ASKING = {"version": 1, "extends": STRICT, "tools": [{"match": "search", "rules": RULES}]}


class Page(BaseModel):
    title: str


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Speaks these turns."""

    def __init__(self, *turns: Any) -> None:
        super().__init__()
        # The framework's own limit, three errors in a row, stands out of the way.
        self.function_invocation_configuration["max_consecutive_errors_per_request"] = 100
        self.turns = iter(turns)

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        return ResponseStream(self._updates(), finalizer=ChatResponse.from_updates) if stream else self._whole()

    async def _whole(self) -> ChatResponse:
        return ChatResponse.from_updates([update async for update in self._updates()])

    async def _updates(self) -> AsyncIterator[ChatResponseUpdate]:
        turn = next(self.turns)
        contents = [Content.from_text(turn)] if isinstance(turn, str) else turn
        yield ChatResponseUpdate(contents=contents, role="assistant", model="gpt-4o")


def search(query: str) -> str:
    """Search the web."""
    return "nothing found"


def call(name: str = "search", number: int = 0, **arguments: Any) -> list[Content]:
    return [Content.from_function_call(f"c{number}", name, arguments=json.dumps(arguments or {"query": "cats"}))]


def agent(guard: Guardrail, *turns: Any, tools: Any = (search,), name: str = "agent", **options: Any) -> Agent:
    middleware = guardrail_middleware(guard, **options)
    return Agent(Scripted(*turns), name=name, tools=list(tools), middleware=middleware)


def ask(asked: Agent, said: Any = "Find cats.", **options: Any) -> Any:
    async def run() -> Any:
        return await asyncio.wait_for(asked.run(said, **options), 20)

    return asyncio.run(run())


def told(response: Any) -> list[str]:
    contents = [content for message in response.messages for content in message.contents]
    return [str(content.result) for content in contents if content.type == "function_result"]


def test_a_halt_ends_with_a_marked_response() -> None:
    response = ask(agent(Guardrail(STRICT), *[call()] * 9))
    assert response.text.endswith("or change the arguments.")
    assert "This run was halted. [microloop" in response.text
    assert response.additional_properties["microloop"]["reason"] == "loop.repeat"


@pytest.mark.parametrize("stream", [False, True])
def test_a_halt_can_raise(*, stream: bool) -> None:
    asked = agent(Guardrail(STRICT), *[call()] * 9, on_halt="raise")

    async def run() -> Any:
        if not stream:
            return await asked.run("Find cats.")
        return [update async for update in asked.run("Find cats.", stream=True)]

    with pytest.raises(RunHalted):
        asyncio.run(run())


def test_refusals_do_not_use_up_the_frameworks_own_limit_of_errors() -> None:
    roles = {"default": "reader", "otherwise": "deny", "grants": {"reader": {"allow": ["read_*"]}}}
    guard = Guardrail({"version": 1, "roles": roles})
    turns = [call(number=number, query=str(number)) for number in range(5)]
    asked = agent(guard, *turns, "I may not search.")
    asked.client.function_invocation_configuration["max_consecutive_errors_per_request"] = 3
    response = ask(asked)
    assert all("microloop" in each for each in told(response))
    assert response.text == "I may not search."


def test_the_agents_session_is_the_session_and_another_run_is_a_user_turn() -> None:
    guard = Guardrail(STRICT)
    asked = agent(guard, *[call(), call(), "done"] * 2)
    session = asked.create_session(session_id="conversation")
    assert [ask(asked, session=session).text for _ in range(2)] == ["done", "done"]
    assert guard.session("conversation").state()["calls"] == 4


def test_runs_without_a_session_are_apart_and_a_session_around_them_comes_first() -> None:
    guard = Guardrail(STRICT)
    asked = agent(guard, *[call(), call(), "done"] * 4)
    assert [ask(asked).text for _ in range(2)] == ["done", "done"]
    with guard.session("mine") as session:
        assert [ask(asked).text for _ in range(2)] == ["done", "done"]
        assert session.state()["calls"] == 4


def test_a_sub_agent_has_a_session_of_its_own_and_shares_the_budget() -> None:
    guard = Guardrail({"version": 1, "extends": STRICT, "budgets": {"calls": 6}})
    helper = agent(guard, *[call(), call(), "nothing"] * 2, name="helper").as_tool()
    asks = [call("helper", number, task=task) for number, task in enumerate(("cats", "lions", "tigers"))]
    response = ask(agent(guard, *asks, "done", tools=[helper]))
    assert told(response)[:2] == ["nothing"] * 2
    assert response.additional_properties["microloop"]["reason"] == "budget.calls"


def test_a_question_names_the_rule_and_what_is_approved_runs() -> None:
    asked = agent(Guardrail(ASKING), call(), "done")
    session = asked.create_session()
    [question] = ask(asked, session=session).user_input_requests
    assert question.function_call.name == "search"
    assert question.additional_properties["microloop"]["rule"] == "consent"
    answer = Message("user", [question.to_function_approval_response(approved=True)])
    response = ask(asked, answer, session=session)
    assert told(response) == ["nothing found"]
    assert response.text == "done"


def test_calls_beside_a_question_run_once() -> None:
    ran: list[str] = []

    def note(text: str) -> str:
        """Note something."""
        ran.append(text)
        return "noted"

    asked = agent(Guardrail(ASKING), [*call(), *call("note", 1, text="x")], "done", tools=[search, note])
    session = asked.create_session()
    [question] = ask(asked, session=session).user_input_requests
    ask(asked, Message("user", [question.to_function_approval_response(approved=True)]), session=session)
    assert ran == ["x"]


@pytest.mark.parametrize(("name", "arguments"), [("serach", '{"query": "cats"}'), ("search", '{"query": ')])
def test_unknown_tools_and_broken_arguments_are_a_loop_too(name: str, arguments: str) -> None:
    turns = [[Content.from_function_call(f"c{number}", name, arguments=arguments)] for number in range(15)]
    assert "microloop" in ask(agent(Guardrail(STRICT), *turns)).additional_properties


def test_injected_contexts_and_results_that_are_no_text_are_left_alone() -> None:
    seen: list[Any] = []

    @tool
    def fetch(page: Page, ctx: FunctionInvocationContext) -> dict[str, str]:
        """Fetch a page."""
        seen.append((page, ctx.kwargs["who"]))
        return {"title": "Cats"}

    turns = [call("fetch", page={"title": "Cats"}), "done"]
    for asked in (agent(Guardrail(), *turns, tools=[fetch]), Agent(Scripted(*turns), tools=[fetch])):
        response = ask(asked, function_invocation_kwargs={"who": "me"})
        assert json.loads(told(response)[0]) == {"title": "Cats"}
    assert seen[0] == seen[1]


def test_a_schema_holds_calls_before_the_tool_runs() -> None:
    def count(number: Annotated[int, Field(ge=1)]) -> str:
        """Count."""
        return "counted"

    response = ask(agent(Guardrail(), call("count", number=0), "done", tools=[count]))
    assert "count was refused" in told(response)[0]


def test_a_decorated_tool_is_counted_once() -> None:
    guard = Guardrail()

    @guard.verify
    def lookup(query: str) -> str:
        """Look it up."""
        return "found"

    with guard.session("s") as session:
        ask(agent(guard, call("lookup"), "done", tools=[lookup]))
        assert session.state()["calls"] == 1


def test_money_is_charged_by_the_name_of_the_model() -> None:
    pytest.importorskip("genai_prices")
    guard = Guardrail({"version": 1, "budgets": {"usd": 0.001}})
    spent = Content.from_usage(
        {"input_token_count": 1_000_000, "output_token_count": 0, "total_token_count": 1_000_000}
    )
    response = ask(agent(guard, [*call(), spent], "done"))
    assert response.additional_properties["microloop"]["reason"] == "budget.usd"


def test_a_client_without_a_hook_around_the_model_is_refused() -> None:
    class Bare(FunctionInvocationLayer, BaseChatClient):
        def _inner_get_response(self, **_: Any) -> Any:
            raise AssertionError

    with pytest.raises(AdapterError, match="Bare has no ChatMiddlewareLayer"):
        ask(Agent(Bare(), middleware=guardrail_middleware(Guardrail())))


def test_a_misspelt_choice_is_said_at_once() -> None:
    with pytest.raises(ValueError, match="on_halt"):
        guardrail_middleware(Guardrail(), on_halt="stop")

"""What the middleware and the client for MCP do beyond the contract of all adapters."""

from __future__ import annotations

import asyncio
import logging
from typing import Annotated, Any

import pytest
from mcp.client import Client
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from pydantic import Field
from starlette.requests import Request

from microloop import Guardrail, RunHalted
from microloop.adapters._mcp import runs
from microloop.adapters._mcp.runs import Runs
from microloop.adapters.mcp import GuardedClient, GuardrailMiddleware

pytestmark = pytest.mark.adapter
CATS = {"query": "cats"}


def shop(*middleware: Any) -> MCPServer:
    server = MCPServer("shop", middleware=list(middleware))

    @server.tool()
    def search(query: str) -> dict[str, int]:
        """Search."""
        return {"found": 0}

    return server


def play(client: Any, *calls: Any, **options: Any) -> list[CallToolResult]:
    """The results of calls that a client makes, one after the other."""

    async def run() -> list[CallToolResult]:
        async with client as entered:
            return [await entered.call_tool(name, arguments, **options) for name, arguments in calls]

    return asyncio.run(run())


def action(result: CallToolResult) -> str | None:
    return (result.meta or {}).get("microloop", {}).get("action")


def test_a_refusal_is_an_error_that_carries_the_verdict() -> None:
    server = shop(GuardrailMiddleware(Guardrail("strict_loop_detection")))
    *allowed, refused = play(Client(server), *[("search", CATS)] * 3)
    assert [each.structured_content for each in allowed] == [{"found": 0}] * 2
    assert refused.is_error
    assert refused.meta["microloop"]["reason"] == "loop.repeat"


def test_advice_stands_before_the_result_whose_data_is_untouched() -> None:
    *_, third = play(Client(shop(GuardrailMiddleware(Guardrail()))), *[("search", CATS)] * 3)
    assert action(third) == "warn"
    assert third.content[0].text.startswith("[microloop")
    assert third.structured_content == {"found": 0}


def test_a_tool_that_was_never_listed_is_held_to_its_schema() -> None:
    for mode in ("auto", "legacy"):
        server = shop(GuardrailMiddleware(Guardrail()))
        (refused,) = play(Client(server, mode=mode), ("search", {"quarry": "cats"}))
        assert refused.meta["microloop"]["reason"] == "args.schema"


def test_a_low_level_server_that_lists_no_tools_is_guarded_without_schemas() -> None:
    async def call(_ctx: Any, params: Any) -> CallToolResult:
        # Of any other result the client would look for a schema in the listing.
        return CallToolResult(content=[{"type": "text", "text": f"{params.name} is closed"}], is_error=True)

    server = Server("low", on_call_tool=call)
    server.middleware.append(GuardrailMiddleware(Guardrail("strict_loop_detection")))
    results = play(Client(server), *[("search", CATS)] * 3)
    assert [each.content[0].text for each in results[:2]] == ["search is closed"] * 2
    assert action(results[2]) == "block"


def test_other_requests_and_other_middleware_are_left_alone() -> None:
    seen: list[str] = []

    async def other(ctx: Any, call_next: Any) -> Any:
        seen.append(ctx.method)
        return await call_next(ctx)

    server = shop(GuardrailMiddleware(Guardrail("strict_loop_detection")), other)

    @server.resource("shop://hours")
    def hours() -> str:
        return "nine to five"

    async def run() -> Any:
        async with Client(server) as client:
            await client.list_tools()
            await client.call_tool("search", CATS)
            return await client.read_resource("shop://hours")

    assert asyncio.run(run()).contents[0].text == "nine to five"
    assert [each for each in seen if "discover" not in each] == ["tools/list", "tools/call", "resources/read"]


def with_look_around(*middleware: Any) -> MCPServer:
    """The shop, with a tool whose schema has a pattern that takes no linear time."""
    server = shop(*middleware)

    @server.tool()
    def find(word: Annotated[str, Field(json_schema_extra={"pattern": "^(?!secret)."})]) -> str:
        """Find."""
        return f"no {word}"

    return server


@pytest.mark.parametrize("on_error", ["block", "allow"])
@pytest.mark.parametrize("side", ["server", "client"])
def test_a_tool_whose_schema_cannot_be_used_follows_on_error_and_the_listing_and_the_others_are_whole(
    caplog: pytest.LogCaptureFixture, side: str, on_error: str
) -> None:
    guard = Guardrail({"version": 1, "extends": "balanced", "on_error": on_error})
    server = with_look_around(*[GuardrailMiddleware(guard)] * (side == "server"))

    async def run() -> Any:
        async with Client(server) as client:
            agent = client if side == "server" else GuardedClient(guard, client)
            listed = [[each.name for each in (await agent.list_tools()).tools] for _ in range(3)]
            calls = [("find", {"word": "cats"}), ("search", CATS), ("search", {"quarry": "cats"})]
            return listed, [await agent.call_tool(name, arguments) for name, arguments in calls]

    listed, (found, searched, wrong) = asyncio.run(run())
    assert listed == [["search", "find"]] * 3
    assert found.is_error is (on_error == "block")
    assert ("look-around" if found.is_error else "no cats") in found.content[0].text
    assert searched.structured_content == {"found": 0}
    assert wrong.meta["microloop"]["reason"] == "args.schema"
    assert caplog.text.count(f"the schema of find cannot be used (on_error: {on_error})") == 1


def ordering() -> MCPServer:
    server = MCPServer("shop")

    @server.tool()
    async def order(what: str, ctx: Context) -> Any:
        if ctx.input_responses is None:
            form = ElicitRequestFormParams(message="Sure?", requested_schema={"type": "object", "properties": {}})
            return InputRequiredResult(input_requests={"sure": ElicitRequest(params=form)})
        return f"ordered {what}"

    return server


async def agree(*_: Any) -> ElicitResult:
    return ElicitResult(action="accept", content={})


def test_a_tool_that_asks_the_client_for_input_is_one_call() -> None:
    guard, server = Guardrail(), ordering()
    server.middleware.append(GuardrailMiddleware(guard))
    client = Client(server, elicitation_callback=agree)
    (result,) = play(client, ("order", {"what": "cat food"}), meta={"run_id": "one"})
    assert result.content[0].text == "ordered cat food"
    assert guard.session("one").state()["calls"] == 1


def test_the_guarded_session_of_a_guarded_client_counts_a_question_and_its_answer_once() -> None:
    guard = Guardrail()

    async def run() -> CallToolResult:
        async with GuardedClient(guard, Client(ordering())) as client:
            asked = await client.session.call_tool("order", {"what": "food"}, allow_input_required=True)
            assert isinstance(asked, InputRequiredResult)
            answers = {"sure": ElicitResult(action="accept", content={})}
            return await client.session.call_tool("order", {"what": "food"}, input_responses=answers)

    with guard.session("mine") as session:
        assert asyncio.run(run()).content[0].text == "ordered food"
    assert session.state()["calls"] == 1


def test_a_guarded_client_sends_no_refused_call_and_raises_when_the_run_is_halted() -> None:
    sent: list[str] = []

    async def count(ctx: Any, call_next: Any) -> Any:
        sent.append(ctx.method)
        return await call_next(ctx)

    client = GuardedClient(Guardrail("strict_loop_detection"), Client(shop(count)))
    with pytest.raises(RunHalted):
        play(client, *[("search", CATS)] * 6)
    assert sent.count("tools/call") == 2


def test_a_guarded_client_knows_the_schemas_that_were_listed_through_it() -> None:
    async def run() -> CallToolResult:
        async with GuardedClient(Guardrail(), Client(shop())) as client:
            await client.list_tools()
            return await client.call_tool("search", {"quarry": "cats"})

    assert asyncio.run(run()).meta["microloop"]["reason"] == "args.schema"


def test_a_guarded_client_is_the_client_in_all_else() -> None:
    async def run() -> None:
        async with GuardedClient(Guardrail(), Client(shop())) as client:
            assert client.server_info.name == "shop"
            with pytest.raises(AttributeError, match="nonsense"):
                _ = client.nonsense

    asyncio.run(run())


def test_the_server_and_the_agent_may_have_a_guard_of_their_own() -> None:
    server, agent = Guardrail("strict_loop_detection"), Guardrail()
    results = play(GuardedClient(agent, Client(shop(GuardrailMiddleware(server)))), *[("search", CATS)] * 3)
    assert [action(each) for each in results] == [None, None, "block"]


def request(**headers: str) -> Request:
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "headers": pairs, "query_string": b""})


def token(subject: str) -> AccessToken:
    return AccessToken(token="secret", client_id="desktop", scopes=[], subject=subject)


def test_a_run_is_known_by_its_name_then_by_the_older_session_then_by_the_caller_then_by_the_server() -> None:
    here = Runs("mcp")
    assert here.name({"run_id": 7}, request(mcp_session_id="s"), None) == "7"
    assert here.name({}, request(mcp_session_id="s"), None) == "s"
    assert here.name({}, request(), token("ann")) == '["desktop",null,"ann"]'
    assert here.name({}, None, None) == here.name({}, None, None)
    assert here.name({}, None, None) != Runs("mcp").name({}, None, None)


def test_no_caller_can_name_the_run_of_another() -> None:
    names = {Runs("mcp").name({"run_id": "one"}, request(), token(who)) for who in ("ann", "bob")}
    assert len(names | {"one"}) == 3


def test_strangers_share_no_session_and_the_log_says_what_that_costs(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(runs, "_warned", set())
    here = Runs("mcp")
    with caplog.at_level(logging.WARNING, logger="microloop"):
        assert here.name({}, request(), None) != here.name({}, request(), None)
    assert [each.getMessage()[:40] for each in caplog.records] == ["a tool was called over HTTP without a ru"]

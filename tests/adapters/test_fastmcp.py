"""What the middleware for FastMCP does beyond the contract of all adapters."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from fastmcp import Client, Context, FastMCP
from fastmcp.client.elicitation import ElicitResult
from fastmcp.exceptions import ToolError
from fastmcp.tools.base import ToolResult
from mcp_types import ElicitRequest, ElicitRequestFormParams, ImageContent, InputRequiredResult
from pydantic import Field

from microloop import Guardrail
from microloop.adapters._gate import versions
from microloop.adapters._gate.versions import require
from microloop.adapters.fastmcp import GuardrailMiddleware
from microloop.errors import AdapterError

pytestmark = pytest.mark.adapter
CATS = {"query": "cats"}
ASKING = {
    "version": 1,
    "extends": "balanced",
    "tools": [{"match": "search", "rules": [{"id": "consent", "path": "query", "ask": {"regex": "cats"}}]}],
}


def shop(guard: Guardrail, **options: Any) -> FastMCP:
    server = FastMCP("shop", middleware=[GuardrailMiddleware(guard, **options)])

    @server.tool
    def search(query: str) -> list[str]:
        """Search."""
        return []

    @server.tool
    def picture() -> ToolResult:
        """A picture, with data beside it."""
        content = ImageContent(type="image", data="aGk=", mime_type="image/png")
        return ToolResult(content=[content], structured_content={"width": 3}, meta={"made": "today"})

    return server


def play(server: FastMCP, *calls: Any, meta: Any = None, **options: Any) -> list[Any]:
    """The results of calls that one client makes, one after the other."""

    async def run() -> list[Any]:
        async with Client(server, **options) as client:
            return [
                await client.call_tool(name, arguments, raise_on_error=False, meta=meta) for name, arguments in calls
            ]

    return asyncio.run(run())


def action(result: Any) -> str | None:
    return (result.meta or {}).get("microloop", {}).get("action")


def test_a_tool_whose_schema_cannot_be_used_is_refused_and_the_listing_and_the_others_are_whole() -> None:
    server = shop(Guardrail())

    @server.tool
    def find(word: Annotated[str, Field(json_schema_extra={"pattern": "^(?!secret)."})]) -> str:
        """Find."""
        return f"no {word}"

    async def run() -> Any:
        async with Client(server) as client:
            return [each.name for each in await client.list_tools()]

    assert asyncio.run(run()) == ["search", "picture", "find"]
    found, searched = play(server, ("find", {"word": "cats"}), ("search", CATS))
    assert (found.meta["microloop"]["reason"], searched.is_error) == ("guard.fault", False)
    assert "look-around" in found.content[0].text


def test_a_refusal_is_an_error_that_carries_the_verdict_whatever_the_tool_returns() -> None:
    told: list[str] = []
    guard = Guardrail("strict_loop_detection")
    *allowed, refused = play(
        shop(guard, on_verdict=lambda each: told.append(str(each.action))), *[("search", CATS)] * 3
    )
    assert [each.data for each in allowed] == [[], []]
    assert refused.is_error
    assert refused.structured_content is None
    assert refused.meta["microloop"]["reason"] == "loop.repeat"
    assert refused.content[0].text == refused.meta["microloop"]["feedback"]
    assert told == ["allow", "allow", "block"]


def test_a_client_that_raises_on_errors_raises_the_feedback() -> None:
    async def run() -> None:
        async with Client(shop(Guardrail("strict_loop_detection"))) as client:
            for _ in range(3):
                await client.call_tool("search", CATS)

    with pytest.raises(ToolError, match="search was refused"):
        asyncio.run(run())


def test_pictures_and_data_pass_untouched_and_advice_stands_before_them() -> None:
    first, _, third = play(shop(Guardrail()), *[("picture", {})] * 3)
    assert (first.content[0].data, first.structured_content, first.meta["made"]) == ("aGk=", {"width": 3}, "today")
    assert action(first) is None
    assert action(third) == "warn"
    assert third.content[0].text.startswith("[microloop")
    assert (third.content[1].data, third.structured_content, third.meta["made"]) == ("aGk=", {"width": 3}, "today")


def test_an_empty_result_inside_an_object_is_empty() -> None:
    results = play(shop(Guardrail()), *[("search", {"query": f"{word} cats"}) for word in "abcdefghijklmnop"])
    assert {"loop.stall", "loop.near"} & {each.meta["microloop"]["reason"] for each in results if action(each)}


def test_the_context_is_injected_and_masked_errors_stay_masked() -> None:
    server = FastMCP("shop", middleware=[GuardrailMiddleware(Guardrail())], mask_error_details=True)

    @server.tool
    async def who(ctx: Context) -> str:
        return ctx.fastmcp.name

    @server.tool
    def broken() -> str:
        raise ValueError("a secret")

    named, failed = play(server, ("who", {}), ("broken", {}))
    assert named.data == "shop"
    assert failed.is_error
    assert "secret" not in failed.content[0].text


def test_runs_that_name_themselves_are_told_apart_on_one_connection_and_found_again_on_the_next() -> None:
    server = shop(Guardrail("strict_loop_detection"))
    assert [action(each) for each in play(server, *[("search", CATS)] * 2, meta={"run_id": "one"})] == [None, None]
    assert [action(each) for each in play(server, *[("search", CATS)] * 2, meta={"run_id": "two"})] == [None, None]
    assert [action(each) for each in play(server, ("search", CATS), meta={"run_id": "one"})] == ["block"]


def test_a_session_around_the_run_comes_before_the_name_of_the_run() -> None:
    guard = Guardrail()
    with guard.session("mine") as session:
        play(shop(guard), ("search", CATS), meta={"run_id": "theirs"})
    assert session.state()["calls"] == 1


def test_older_clients_are_guarded_too() -> None:
    results = play(shop(Guardrail("strict_loop_detection")), *[("search", CATS)] * 3, mode="legacy")
    assert [action(each) for each in results] == [None, None, "block"]


def test_a_tool_that_was_never_listed_is_held_to_its_schema() -> None:
    (refused,) = play(shop(Guardrail()), ("search", {"quarry": "cats"}))
    assert refused.meta["microloop"]["reason"] == "args.schema"


def test_listing_the_tools_again_declares_nothing_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    guard, declared = Guardrail(), []
    server, declare = shop(guard), guard.tool
    monkeypatch.setattr(guard, "tool", lambda *args: declared.append(args[0]) or declare(*args))

    async def run() -> None:
        async with Client(server) as client:
            for _ in range(3):
                await client.list_tools()

    asyncio.run(run())
    assert sorted(declared) == ["picture", "search"]


class Unreadable(FastMCP):
    async def get_tool(self, *_: Any, **__: Any) -> Any:
        raise OSError("the catalogue cannot be read")


def test_a_tool_that_cannot_be_looked_up_gets_no_unseen_call() -> None:
    (refused,) = play(Unreadable("shop", middleware=[GuardrailMiddleware(Guardrail())]), ("search", CATS))
    assert refused.is_error
    assert "the guard itself failed" in refused.content[0].text


def test_a_tool_that_asks_the_client_for_input_is_one_call() -> None:
    guard = Guardrail()
    server = FastMCP("shop", middleware=[GuardrailMiddleware(guard)])

    @server.tool
    async def order(what: str, ctx: Context) -> Any:
        if ctx.input_responses is None:
            form = ElicitRequestFormParams(message="Sure?", requested_schema={"type": "object", "properties": {}})
            return InputRequiredResult(input_requests={"sure": ElicitRequest(params=form)})
        return f"ordered {what}"

    async def agree(*_: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={})

    (result,) = play(server, ("order", {"what": "cat food"}), meta={"run_id": "one"}, elicitation_handler=agree)
    assert result.content[0].text == "ordered cat food"
    assert guard.session("one").state()["calls"] == 1


def test_a_decorated_tool_is_counted_once() -> None:
    guard = Guardrail()
    server = FastMCP("shop", middleware=[GuardrailMiddleware(guard)])

    @server.tool
    @guard.verify
    def search(query: str) -> str:
        """Search."""
        return f"nothing about {query}"

    play(server, ("search", CATS), meta={"run_id": "one"})
    assert guard.session("one").state()["calls"] == 1


@pytest.mark.parametrize("agreed", [True, False])
def test_a_coroutine_function_may_be_asked_for_consent(agreed: bool) -> None:  # noqa: FBT001 - a parameter of the test
    async def ask(_: object) -> bool:
        return agreed

    (result,) = play(shop(Guardrail(ASKING, ask=ask)), ("search", CATS))
    assert result.is_error is not agreed


def test_a_release_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(versions.FLOORS, "fastmcp", "99.0")
    with pytest.raises(AdapterError, match=r"fastmcp is .*; 99\.0 or newer is needed: pip install"):
        require("fastmcp")

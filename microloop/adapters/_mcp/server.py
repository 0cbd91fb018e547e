"""`GuardrailMiddleware`: the guard in front of the tools of an MCP server."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND, CallToolResult, TextContent

from microloop.adapters._gate.calls import Call, Entry
from microloop.adapters._gate.sessions import session_of
from microloop.adapters._mcp.gate import McpGate, marked, outcome
from microloop.adapters._mcp.runs import Runs, batch_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp.server.context import CallNext, ServerRequestContext

    from microloop.guardrail import Guardrail
    from microloop.verdict import Verdict


class GuardrailMiddleware:
    """Checks each tool call before it reaches the tool, and records what came of it.

    A refused call is answered with a result that is an error and says why; advice stands at the head of the result.
    Both have the verdict as `_meta["microloop"]`. A server cannot end the run of its client: once a run is halted, all
    of its calls are refused, and a host that sees `"action": "halt"` there should stop. `on_verdict` is told of every
    verdict.
    """

    def __init__(self, guard: Guardrail, *, on_verdict: Callable[[Verdict], None] | None = None) -> None:
        self._guard = guard
        self._runs = Runs("mcp")
        self._gate = _WireGate(guard, "mcp.GuardrailMiddleware", on_verdict=on_verdict)

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> Any:
        """Check, run, record; get to know the tools as they are listed."""
        if ctx.method == "tools/list":
            return self._listed(await call_next(ctx))
        params = ctx.params or {}
        name = params.get("name")
        if ctx.method != "tools/call" or not isinstance(name, str):
            return await call_next(ctx)

        async def execute() -> dict[str, Any]:
            return _wire(await call_next(ctx))

        return await self._gate.acall(
            name, lambda: self._look(ctx, call_next), lambda: self._call(name, params, ctx.request), execute
        )

    async def _look(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> None:
        """Asks for the tools as the same client would: a server may show different ones to different callers."""
        meta = (ctx.params or {}).get("_meta")
        listing = replace(ctx, method="tools/list", params={} if meta is None else {"_meta": meta})
        try:
            self._listed(await call_next(listing))
        except MCPError as error:
            if error.code != METHOD_NOT_FOUND:
                raise  # a server that lists no tools has no schemas to hold calls to

    def _listed(self, result: Any) -> Any:
        listing = _wire(result)
        for tool in listing.get("tools", ()):
            self._gate.declare(tool["name"], tool["inputSchema"])
        return result

    def _call(self, name: str, params: Mapping[str, Any], request: Any) -> Call:
        meta = params.get("_meta") or {}
        run = self._runs.name(meta, request, get_access_token())
        return Call(session_of(self._guard, run), name, params.get("arguments") or {}, batch=batch_of(meta))


class _WireGate(McpGate):
    """Here results are the objects of JSON that go over the wire."""

    def answer(self, entry: Entry, text: str) -> dict[str, Any]:
        content = [TextContent(type="text", text=text)]
        return _wire(CallToolResult(content=content, is_error=True, _meta=marked(entry)))

    def outcome_of(self, entry: Entry, result: dict[str, Any]) -> tuple[Any, BaseException | str | None]:
        del entry
        return outcome(result["content"], result.get("structuredContent"), error=result.get("isError", False))

    def advised(self, entry: Entry, result: dict[str, Any]) -> dict[str, Any]:
        advice = {"type": "text", "text": entry.verdict.feedback}
        return {**result, "content": [advice, *result["content"]], "_meta": marked(entry, result.get("_meta"))}

    def asks(self, result: dict[str, Any]) -> bool:
        return "content" not in result


def _wire(result: Any) -> dict[str, Any]:
    wire: dict[str, Any] = (
        result if isinstance(result, dict) else result.model_dump(by_alias=True, mode="json", exclude_none=True)
    )
    return wire

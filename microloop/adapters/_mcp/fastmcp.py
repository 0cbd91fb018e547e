"""`GuardrailMiddleware`: the guard in the hooks of a FastMCP server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastmcp.server.dependencies import get_access_token
from fastmcp.server.middleware import Middleware
from fastmcp.tools.base import InputRequiredToolResult, ToolResult
from mcp_types import TextContent

from microloop.adapters._gate.calls import Call, Entry
from microloop.adapters._gate.sessions import session_of
from microloop.adapters._gate.versions import require_hooks
from microloop.adapters._mcp.gate import McpGate, marked, outcome
from microloop.adapters._mcp.runs import Runs, batch_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.tools.base import Tool
    from mcp_types import CallToolRequestParams, ListToolsRequest

    from microloop.guardrail import Guardrail
    from microloop.verdict import Verdict


require_hooks(Middleware, "on_list_tools", "on_call_tool")


class GuardrailMiddleware(Middleware):
    """Checks each tool call before it reaches the tool, and records what came of it.

    A refused call is answered with a result that is an error and says why; advice stands at the head of the result.
    Both have the verdict as `_meta["microloop"]`. A server cannot end the run of its client: once a run is halted, all
    of its calls are refused, and a host that sees `"action": "halt"` there should stop. `on_verdict` is told of every
    verdict.
    """

    def __init__(self, guard: Guardrail, *, on_verdict: Callable[[Verdict], None] | None = None) -> None:
        self._guard = guard
        self._runs = Runs("fastmcp")
        self._gate = _FastMcpGate(guard, "fastmcp.GuardrailMiddleware", on_verdict=on_verdict)

    async def on_list_tools(
        self,
        context: MiddlewareContext[ListToolsRequest],
        call_next: CallNext[ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        """Get to know the tools."""
        tools: Sequence[Tool] = await call_next(context)
        for tool in tools:
            self._gate.declare(tool.name, tool.parameters)
        return tools

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Check, run, record."""
        result: ToolResult = await self._gate.acall(
            context.message.name,
            lambda: self._look(context),
            lambda: self._call(context),
            lambda: call_next(context),
        )
        return result

    async def _look(self, context: MiddlewareContext[CallToolRequestParams]) -> None:
        """A client may call a tool that it never listed."""
        name, server = context.message.name, context.fastmcp_context
        tool = None if server is None else await server.fastmcp.get_tool(name)
        if tool is not None:
            self._gate.declare(name, tool.parameters)

    def _call(self, context: MiddlewareContext[CallToolRequestParams]) -> Call:
        request = context.fastmcp_context and context.fastmcp_context.request_context
        meta = (request and request.meta) or {}
        run = self._runs.name(meta, request and request.request, get_access_token())
        return Call(
            session_of(self._guard, run), context.message.name, context.message.arguments or {}, batch=batch_of(meta)
        )


class _FastMcpGate(McpGate):
    def answer(self, entry: Entry, text: str) -> ToolResult:
        return ToolResult(content=text, meta=marked(entry), is_error=True)

    def outcome_of(self, entry: Entry, result: ToolResult) -> tuple[Any, BaseException | str | None]:
        del entry
        return outcome(result.content, result.structured_content, error=result.is_error)

    def advised(self, entry: Entry, result: ToolResult) -> ToolResult:
        advice = TextContent(type="text", text=entry.verdict.feedback)
        return result.model_copy(update={"content": [advice, *result.content], "meta": marked(entry, result.meta)})

    def asks(self, result: ToolResult) -> bool:
        return isinstance(result, InputRequiredToolResult)

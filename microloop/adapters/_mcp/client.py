"""`GuardedClient`: the guard on the side of the agent, whatever the server does."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult, InputRequiredResult, TextContent

from microloop.adapters._gate.calls import Call, Entry
from microloop.adapters._gate.sessions import session_of
from microloop.adapters._mcp.gate import McpGate, marked, outcome
from microloop.adapters._mcp.runs import batch_of
from microloop.errors import RunHalted, run_halted

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from typing_extensions import Self

    from microloop.guardrail import Guardrail
    from microloop.verdict import Verdict


class GuardedClient:
    """An MCP `Client`, or a `ClientSession`, whose tool calls are checked before they are sent.

    A refused call is answered with a result that is an error and says why, and is not sent; a halt raises `RunHalted`.
    Everything else is the client's own. Schemas are known of the tools that were listed through this object.

    async with GuardedClient(guard, Client("https://example.org/mcp")) as client:
        await client.call_tool("search", {"query": "cats"})
    """

    def __init__(self, guard: Guardrail, client: Any, *, on_verdict: Callable[[Verdict], None] | None = None) -> None:
        self._guard = guard
        self._client = client
        self._run = f"mcp-{uuid.uuid4().hex}"
        self._gate = _ClientGate(guard, "mcp.GuardedClient", on_verdict=on_verdict)

    async def list_tools(self, *args: Any, **options: Any) -> Any:
        """The client's `list_tools`."""
        listing = await self._client.list_tools(*args, **options)
        for tool in listing.tools:
            self._gate.declare(tool.name, tool.input_schema)
        return listing

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None, *args: Any, **options: Any) -> Any:
        """The client's `call_tool`: check, send, record."""
        meta = options.get("meta") or {}

        def find() -> Call:
            session = session_of(self._guard, str(meta.get("run_id") or self._run))
            return Call(session, name, arguments or {}, batch=batch_of(meta))

        return await self._gate.arun(
            name, None, find, lambda: self._client.call_tool(name, arguments, *args, **options)
        )

    @property
    def session(self) -> GuardedClient:
        """The client's session, guarded as well: frameworks ask for it."""
        session = GuardedClient(self._guard, self._client.session)
        session._run, session._gate = self._run, self._gate
        return session

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        if isinstance(error, RunHalted):
            # An orderly end: as an error, the client's task groups would wrap it into groups of exceptions.
            await self._client.__aexit__(None, None, None)
            return None
        swallowed: bool | None = await self._client.__aexit__(kind, error, traceback)
        return swallowed


class _ClientGate(McpGate):
    def answer(self, entry: Entry, text: str) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True, _meta=marked(entry))

    def outcome_of(self, entry: Entry, result: Any) -> tuple[Any, BaseException | str | None]:
        del entry
        if not isinstance(result, CallToolResult):
            return result, None
        return outcome(result.content, result.structured_content, error=result.is_error)

    def advised(self, entry: Entry, result: Any) -> Any:
        if not isinstance(result, CallToolResult):
            return super().advised(entry, result)
        advice = TextContent(type="text", text=entry.verdict.feedback)
        return result.model_copy(update={"content": [advice, *result.content], "meta": marked(entry, result.meta)})

    def halted(self, verdict: Verdict) -> None:
        raise run_halted(verdict)

    def asks(self, result: Any) -> bool:
        return isinstance(result, InputRequiredResult)

"""A workbench that asks the guard before each call of another one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NoReturn

from autogen_core.tools import StaticStreamWorkbench, ToolResult, Workbench

from microloop.adapters._autogen.gate import failed
from microloop.adapters._autogen.runs import session_of_run
from microloop.adapters._gate.calls import Call
from microloop.adapters._gate.notes import notes_of
from microloop.errors import AdapterError
from microloop.log import logger

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping

    from autogen_core import CancellationToken
    from autogen_core.tools import ToolSchema

    from microloop.adapters._autogen.gate import WorkbenchGate

_END = object()


class GuardedWorkbench(Workbench):
    """Another workbench, with a guard before its tools.

    Nothing but a cancellation leaves `call_tool` as an exception: the agent would wait for its result for ever.
    """

    def __init__(self, inner: Workbench, gate: WorkbenchGate) -> None:
        self._inner = inner
        self._gate = gate
        self._schemas: dict[str, ToolSchema] = {}

    async def list_tools(self) -> list[ToolSchema]:
        """The tools of the inner workbench, which the guard gets to know."""
        tools: list[ToolSchema] = await self._inner.list_tools()
        for tool in tools:
            name = tool["name"]
            # Schemas are made anew each time; one that has not changed is declared once.
            if self._schemas.get(name) != tool:
                self._schemas[name] = tool
            self._gate.declare(name, self._schemas[name])
        return tools

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
        call_id: str | None = None,
    ) -> ToolResult:
        """Check, run, record."""

        async def execute() -> ToolResult:
            return await self._inner.call_tool(name, arguments, cancellation_token, call_id)

        return await self._guarded(name, arguments, cancellation_token, call_id, execute)

    async def _guarded(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        token: CancellationToken | None,
        call_id: str | None,
        execute: Callable[[], Awaitable[ToolResult]],
    ) -> ToolResult:
        def find() -> Call:
            return self._call(name, arguments, token, call_id)

        try:
            if name not in self._schemas:
                await self.list_tools()
            result: ToolResult = await self._gate.arun(name, call_id, find, execute)
        except asyncio.CancelledError:
            if token is None or not token.is_cancelled():
                raise
            return failed(name, f"{name} was cancelled.")
        except Exception as error:  # noqa: BLE001 - whatever it is, an answer keeps the agent from waiting for ever
            logger().error("the call of %s failed in its workbench", name, exc_info=error)
            return failed(name, str(error))
        return result

    def _call(
        self, name: str, arguments: Mapping[str, Any] | None, token: CancellationToken | None, call_id: str | None
    ) -> Call:
        session = session_of_run(self._gate.guard, token)
        batch = notes_of(session).batch
        key = call_id if batch else None
        return Call(session, name, arguments or {}, call_id, key, batch, self._schemas.get(name))

    # The rest is the inner workbench's own

    async def start(self) -> None:
        """Start the inner workbench."""
        await self._inner.start()

    async def stop(self) -> None:
        """Stop the inner workbench."""
        await self._inner.stop()

    async def reset(self) -> None:
        """Reset the inner workbench."""
        await self._inner.reset()

    async def save_state(self) -> Mapping[str, Any]:
        """The state of the inner workbench."""
        state: Mapping[str, Any] = await self._inner.save_state()
        return state

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Give the inner workbench its state back."""
        await self._inner.load_state(state)

    def _to_config(self) -> NoReturn:
        # What is loaded again from a configuration would have no guard.
        raise AdapterError("a guarded workbench cannot be dumped: dump the one inside, and guard it after loading")


class GuardedStreamWorkbench(GuardedWorkbench, StaticStreamWorkbench):
    """The same for a workbench of tools that show what they do meanwhile. AutoGen listens only to this class."""

    async def call_tool_stream(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
        call_id: str | None = None,
    ) -> AsyncGenerator[Any, None]:
        """Check, run with all events passed on, record."""
        events: asyncio.Queue[Any] = asyncio.Queue()

        async def execute() -> ToolResult:
            last: Any = None
            async for event in self._inner.call_tool_stream(name, arguments, cancellation_token, call_id):
                if isinstance(event, ToolResult):
                    last = event
                else:
                    events.put_nowait(event)
            return last

        call = asyncio.create_task(self._guarded(name, arguments, cancellation_token, call_id, execute))
        call.add_done_callback(lambda _: events.put_nowait(_END))
        try:
            while (event := await events.get()) is not _END:
                yield event
            yield await call
        finally:
            call.cancel()

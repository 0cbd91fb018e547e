"""A gate inside a tool, which a hook of the same guard may stand around."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from microloop.adapters._gate.gate import Gate
from microloop.coverage import checked_by_outer_hook, take_passage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from microloop.adapters._gate.calls import Call


class InnerGate(Gate):
    """Lets a call pass that a hook around it has checked."""

    def run(
        self, name: str, call_id: str | None, find: Callable[[], Call], execute: Callable[[], Any], native: Any = None
    ) -> Any:
        """See `Gate.run`."""
        if take_passage(self.guard, name, None):
            with checked_by_outer_hook(self.guard, name):
                return execute()
        return super().run(name, call_id, find, execute, native)

    async def arun(
        self,
        name: str,
        call_id: str | None,
        find: Callable[[], Call],
        execute: Callable[[], Awaitable[Any]],
        native: Any = None,
    ) -> Any:
        """See `Gate.arun`."""
        if take_passage(self.guard, name, None):
            with checked_by_outer_hook(self.guard, name):
                return await execute()
        return await super().arun(name, call_id, find, execute, native)

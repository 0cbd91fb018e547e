"""A gate for frameworks that call one hook before a tool and another one after it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from microloop.adapters._gate.gate import MAY_RUN, Gate

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from microloop.adapters._gate.calls import Call, Entry
    from microloop.guardrail import Guardrail
    from microloop.verdict import Verdict

# A call whose second hook never comes is forgotten at last.
_MOST = 4096


class PairedGate(Gate):
    """`before` judges a call; `after` or `after_error` records what came of it. A `key` tells which belong together."""

    def __init__(self, guard: Guardrail, hook: str, *, on_verdict: Callable[[Verdict], None] | None = None) -> None:
        super().__init__(guard, hook, on_verdict=on_verdict)
        self._open: OrderedDict[Hashable, Entry] = OrderedDict()
        self._lock = threading.Lock()

    def before(
        self, key: Hashable, name: str, call_id: str | None, find: Callable[[], Call], native: Any = None
    ) -> Any | None:
        """The answer to a call that may not run; None for one that may."""
        entry = self.enter(name, call_id, find, native)
        return self._admitted(key, entry, self.admit(entry))

    async def abefore(
        self, key: Hashable, name: str, call_id: str | None, find: Callable[[], Call], native: Any = None
    ) -> Any | None:
        """`before` for an event loop."""
        entry = self.enter(name, call_id, find, native)
        return self._admitted(key, entry, await self.aadmit(entry))

    def after(self, key: Hashable, result: Any) -> Any:
        """The result as the model gets it. One that belongs to no call that was let through stays as it is."""
        entry = self._closed(key)
        return result if entry is None else self.done(entry, result)

    def after_error(self, key: Hashable, error: BaseException) -> None:
        """The tool raised."""
        entry = self._closed(key)
        if entry is not None:
            self.failed(entry, error)

    def _admitted(self, key: Hashable, entry: Entry, answer: Any) -> Any | None:
        if answer is not MAY_RUN:
            return answer
        if entry.call is not None:
            self._opened(key, entry)
        return None

    def _opened(self, key: Hashable, entry: Entry) -> None:
        with self._lock:
            self._open[key] = entry
            forgotten = self._open.popitem(last=False)[1] if len(self._open) > _MOST else None
        if forgotten is not None:
            self.abandon(forgotten)

    def _closed(self, key: Hashable) -> Entry | None:
        with self._lock:
            return self._open.pop(key, None)

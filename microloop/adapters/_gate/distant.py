"""A gate for tools that run elsewhere: this process is asked before a call, and told later what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from microloop.adapters._gate.paired import PairedGate

if TYPE_CHECKING:
    from collections.abc import Hashable

    from microloop.adapters._gate.calls import Entry


class DistantGate(PairedGate):
    """What it is told may never come, and advice goes another way than the result."""

    def advised(self, entry: Entry, result: Any) -> Any:
        """The advice alone."""
        del result
        return entry.verdict.feedback

    async def ashared(self, entry: Entry) -> Any:
        """A second identical call is refused: the first may run only after this answer."""
        return self.refused(entry)

    def advice_after(self, key: Hashable, outcome: Any) -> str | None:
        """Records what came of a call; the advice to it, if there is any."""
        told = self.after(key, outcome)
        return None if told is outcome else str(told)

    def dropped(self, key: Hashable) -> None:
        """A call that was let through and cut short."""
        entry = self._closed(key)
        if entry is not None:
            self.abandon(entry)

"""Calls under way, and what they gave back, for the identical calls beside them.

A model sometimes makes one call twice in a turn, and frameworks run both at once. The guard lets the first through;
the others wait here for what it gives back. The first is always under way by then: nobody waits for one that waits.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

_TURNS = 8
_CALLS = 256


class Unanswered(Exception):
    """There is no outcome to share: the first call was interrupted, cancelled or denied."""


@dataclass
class Leader:
    """The call that runs, on behalf of all that are identical to it."""

    call_id: str | None
    closed: bool = False
    """Whether the guard waits for no outcome any more: a framework that retries makes the same call again."""
    thread: int = field(default_factory=threading.get_ident)
    outcome: Future[Any] = field(default_factory=Future)

    def __post_init__(self) -> None:
        # From now on a waiter that is cancelled cannot cancel the outcome for the others.
        self.outcome.set_running_or_notify_cancel()

    def wait(self) -> Any:
        """The outcome, or the leader's own error."""
        if not self.outcome.done() and self.thread == threading.get_ident():
            # Both run on one thread, for example by a blocking call inside an event loop: the wait would never end.
            raise Unanswered
        return self.outcome.result()

    async def await_outcome(self) -> Any:
        """The outcome, without holding up the event loop."""
        return await asyncio.shield(asyncio.wrap_future(self.outcome))


class Answers:
    """The leaders of one session's latest model turns, by step. What they gave back is kept no longer than that."""

    def __init__(self) -> None:
        self._turns: OrderedDict[object, OrderedDict[int, Leader]] = OrderedDict()

    def lead(self, step: int, turn: str | None, call_id: str | None) -> Leader:
        """A call goes first. The same step again, by a retry or after an interrupt, has its outcome still to come."""
        earlier = self._find(step)
        calls = self._turns.setdefault(turn or step, OrderedDict())
        leader = calls[step] = Leader(call_id, closed=earlier is not None and earlier.closed)
        self._turns.move_to_end(turn or step)
        for kept, most in ((self._turns, _TURNS), (calls, _CALLS)):
            if len(kept) > most:
                kept.popitem(last=False)
        return leader

    def running(self, step: int) -> Leader | None:
        """The call of that step, if it is under way."""
        leader = self._find(step)
        return leader if leader is not None and not leader.outcome.done() else None

    def leader(self, steps: tuple[int, ...]) -> Leader | None:
        """The call that another one follows, by the evidence of its verdict, if it is still remembered."""
        return self._find(steps[0]) if steps else None

    def _find(self, step: int) -> Leader | None:
        return next((calls[step] for calls in self._turns.values() if step in calls), None)

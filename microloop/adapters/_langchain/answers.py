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

_MOST = 256


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
    """The latest leaders of one session, by step."""

    def __init__(self) -> None:
        self._leaders: OrderedDict[int, Leader] = OrderedDict()

    def lead(self, step: int, call_id: str | None) -> Leader:
        """A call goes first. The same step again, by a retry or after an interrupt, has its outcome still to come."""
        earlier = self._leaders.pop(step, None)
        leader = self._leaders[step] = Leader(call_id, closed=earlier is not None and earlier.closed)
        if len(self._leaders) > _MOST:
            self._leaders.popitem(last=False)
        return leader

    def running(self, step: int) -> Leader | None:
        """The call of that step, if it is under way."""
        leader = self._leaders.get(step)
        return leader if leader is not None and not leader.outcome.done() else None

    def leader(self, steps: tuple[int, ...]) -> Leader | None:
        """The call that another one follows, by the evidence of its verdict, if it is still remembered."""
        return self._leaders.get(steps[0]) if steps else None

"""The sessions whose `with` blocks are open: in each context, which ones, and which is the innermost."""

from __future__ import annotations

from contextvars import ContextVar
from threading import Lock
from typing import TYPE_CHECKING

from microloop import _native

if TYPE_CHECKING:
    from microloop.session import Session


class Entered:
    """Those of one guard: two guards may each have a current session at the same time."""

    __slots__ = ("_lock", "_open", "current")

    def __init__(self, lock: Lock) -> None:
        self.current: ContextVar[Session | None] = ContextVar("microloop.session", default=None)
        self._open: ContextVar[tuple[Session, ...]] = ContextVar("microloop.sessions", default=())
        self._lock = lock

    def enter(self, session: Session) -> None:
        """Makes a session the current one."""
        if session.closed:
            raise session.failure(_native.STALE_HANDLE)
        with self._lock:
            session.entered += 1
        self._open.set((*self._open.get(), session))
        self.current.set(session)

    def leave(self, session: Session) -> None:
        """Makes the session before it the current one again; ends it if nobody could find it any more."""
        entered = self._open.get()
        # Blocks of generators and tasks may end in another order, or another context, than they began in.
        place = max((index for index, each in enumerate(entered) if each is session), default=len(entered))
        left = (*entered[:place], *entered[place + 1 :])
        self._open.set(left)
        self.current.set(left[-1] if left else None)
        with self._lock:
            session.entered -= 1
            ended = session.entered == 0 and session.anonymous
        if ended:
            session.close()

"""Which session a run of a framework is."""

from __future__ import annotations

import threading
import uuid
import weakref
from typing import TYPE_CHECKING

from microloop.errors import SessionError

if TYPE_CHECKING:
    from microloop.guardrail import Guardrail
    from microloop.session import Session


def session_of(guard: Guardrail, run_id: str | None, *, parent: Session | None = None) -> Session:
    """The session that a `with` block chose, else that of the framework's own run, else the guard's own."""
    current = guard.current.get()
    if current is not None:
        return current
    return guard.here() if run_id is None else guard.session(run_id, parent=parent)


def child_of(parent: Session, name: str) -> Session:
    """The session of a part of a run, as a sub-agent is: counters of its own, charged to its parent's budget."""
    try:
        return parent.guard.session(name, parent=parent)
    except SessionError:
        # Its parent was let go of and made anew in the meantime; the child goes on with what it knows.
        return parent.guard.session(name)


class RunIds:
    """Ids for runs that a framework knows only by an object, one for each as long as the object lives."""

    def __init__(self) -> None:
        self._ids: weakref.WeakKeyDictionary[object, str] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, run: object) -> str:
        """The id of the run that this object stands for."""
        with self._lock:
            return self._ids.setdefault(run, f"run-{uuid.uuid4().hex}")

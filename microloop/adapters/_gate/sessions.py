"""Which session a run of a framework is."""

from __future__ import annotations

import threading
import uuid
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from microloop.guardrail import Guardrail
    from microloop.session import Session


def session_of(guard: Guardrail, run_id: str | None, *, parent: Session | None = None) -> Session:
    """The session that a `with` block chose, else that of the framework's own run, else the guard's own."""
    current = guard.current.get()
    if current is not None:
        return current
    return guard.here() if run_id is None else guard.session(run_id, parent=parent)


class RunIds:
    """Ids for runs that a framework knows only by an object, one for each as long as the object lives."""

    def __init__(self) -> None:
        self._ids: weakref.WeakKeyDictionary[object, str] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, run: object) -> str:
        """The id of the run that this object stands for."""
        with self._lock:
            return self._ids.setdefault(run, f"run-{uuid.uuid4().hex}")

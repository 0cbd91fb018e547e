"""Which session a run of CrewAI is, and what its models spend.

A run is what CrewAI gives an execution id: the outermost kickoff of a crew, a flow or an agent. Each task in it has a
child session: counters of its own, for agents at work on different tasks do not repeat each other, and one budget.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from crewai.execution import get_execution_uuid

from microloop.adapters._gate import sessions
from microloop.adapters._gate.usage import Usage, spend

if TYPE_CHECKING:
    from microloop.guardrail import Guardrail
    from microloop.session import Session
    from microloop.verdict import Verdict


def session_of(guard: Guardrail, task: Any = None) -> Session:
    """The session of a task in the run that this code is called in; that of the run itself without a task."""
    root = sessions.session_of(guard, get_execution_uuid())
    return root if task is None else sessions.child_of(root, f"{root.id}/{task.id}")


def enter_run(session: Session) -> None:
    """Tell a session that outlives a run, and the ones above it, when the next run begins: a person has spoken."""
    run = get_execution_uuid()
    each: Session | None = session
    while each is not None:
        each.entered_run(run)
        each = each.parent


class Meter:
    """Reads the counters of a run's models. They never go back, and other runs may use the same model."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: dict[int, tuple[Any, Usage]] = {}

    def since(self, model: Any) -> Usage:
        """What a model has used since it was last read; nothing at first."""
        now = _total(model)
        with self._lock:
            # Holding the model keeps its address from being used for another one.
            _, before = self._read.get(id(model), (model, now))
            self._read[id(model)] = (model, now)
        return now - before


_meters: WeakKeyDictionary[Session, Meter] = WeakKeyDictionary()
_lock = threading.Lock()


def charge(session: Session, model: Any) -> Verdict | None:
    """Charges what a model has used since the run last asked it."""
    if not hasattr(model, "get_token_usage_summary"):
        return None
    run = session
    while run.parent is not None:
        run = run.parent
    with _lock:
        meter = _meters.setdefault(run, Meter())
    return spend(session, meter.since(model), model=model.model, provider=model.provider)


def _total(model: Any) -> Usage:
    total = model.get_token_usage_summary()
    return Usage(total.prompt_tokens, total.completion_tokens, total.cached_prompt_tokens)

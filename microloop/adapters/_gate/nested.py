"""Agents that a guarded tool runs. Each such call has a child session: counters of its own, budgets of its parent."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from microloop.adapters._gate.calls import Call
    from microloop.guardrail import Guardrail
    from microloop.session import Session

_caller: ContextVar[Call | None] = ContextVar("microloop.caller", default=None)


@contextmanager
def called_by(call: Call | None) -> Iterator[None]:
    """Around a tool: an agent that runs inside works for this call."""
    token = _caller.set(call)
    try:
        yield
    finally:
        _caller.reset(token)


def child_of_caller(guard: Guardrail) -> Session | None:
    """The session of an agent inside a tool; None outside, and where a `with` block inside has chosen another one."""
    call = _caller.get()
    if call is None or guard.current.get() is not call.session:
        return None
    return call.session.child(f"{call.session.id}/{call.name}/{call.batch}/{call.call_id}")

"""Calls that a framework answers itself, where no hook reaches them: unknown tools, arguments that are no JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from microloop.verdict import Action

if TYPE_CHECKING:
    from microloop.adapters._gate.calls import Call
    from microloop.adapters._gate.gate import Gate


def judge_unrun(gate: Gate, call: Call, error: BaseException | str) -> None:
    """Counts such a call with the error that answers it: it may be a loop all the same, which a halt ends."""
    verdict = call.session.check(call.name, call.arguments, call_id=call.key, batch=call.batch)
    gate.tell(verdict)
    if verdict.allowed:
        call.session.record(verdict, error=error)
    elif verdict.action is Action.ASK:
        call.session.cancel(verdict)

"""Turns of the model that no hook of a tool sees: texts, and calls that the framework answers itself.

Such calls are those of unknown tools, and those whose arguments are no JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from microloop.verdict import Action

if TYPE_CHECKING:
    from microloop.adapters._gate.calls import Call
    from microloop.adapters._gate.gate import Gate
    from microloop.session import Session


def judge_text(gate: Gate, session: Session, text: str) -> None:
    """Counts a turn without a call."""
    verdict = session.assistant_turn(text)
    if verdict.reason != "none":
        gate.tell(verdict)


def judge_unrun(gate: Gate, call: Call, error: BaseException | str) -> None:
    """Counts a call that runs nowhere, with the error that answers it: it may be a loop all the same."""
    verdict = call.session.check(call.name, call.arguments, call_id=call.key, batch=call.batch)
    gate.tell(verdict)
    if verdict.allowed:
        call.session.record(verdict, error=error)
    elif verdict.action is Action.ASK:
        call.session.cancel(verdict)

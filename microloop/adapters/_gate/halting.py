"""How a run ends when the guard halts it, where the adapter ends it between two turns of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from microloop.verdict import Action, Verdict

if TYPE_CHECKING:
    from microloop.session import Session

OnHalt: TypeAlias = Literal["end", "raise"]


def check_choice(on_halt: str) -> None:
    """Refuse a misspelt choice at once, and not at the first halt."""
    if on_halt not in ("end", "raise"):
        raise ValueError(f'on_halt is {on_halt!r}; it is "end" or "raise"')


def halt_of(session: Session) -> Verdict | None:
    """The verdict that halted a session; None as long as it goes on."""
    if session.state()["halted"] is None:
        return None
    return session.last_verdict or Verdict(action=Action.HALT)

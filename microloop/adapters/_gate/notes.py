"""What the adapters remember of a session besides what its engine counts."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from microloop.adapters._gate.answers import Answers

if TYPE_CHECKING:
    from microloop.session import Session


class Notes:
    """Notes on one session."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.answers = Answers()
        self.turn = 0
        """How often the model was asked, where a hook sees it."""
        self.person: str | None = None
        """The latest message of a person that was seen."""
        self.heard: object = None
        """The invocation in which that was."""
        self.charged: str | None = None
        """The latest model turn whose tokens were charged, where a hook meets it more than once."""
        self.run: object = None
        """What the session was named after; held, because its address may be the name."""

    @property
    def batch(self) -> str | None:
        """What the calls of the model's latest turn have in common; None where no hook sees its turns."""
        return f"turn-{self.turn}" if self.turn else None

    def next_turn(self) -> None:
        """The model is asked again: the calls that it makes now belong together."""
        with self.lock:
            self.turn += 1


_lock = threading.Lock()


def notes_of(session: Session) -> Notes:
    """The notes on a session."""
    # On the session itself: they hold results and exceptions, which may hold the session, and would keep it for ever.
    with _lock:
        if session.notes is None:
            session.notes = Notes()
        notes: Notes = session.notes
    return notes

"""Which session an ADK context belongs to, and the turns of its models."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from microloop.adapters._gate.nested import child_of_caller
from microloop.adapters._gate.notes import notes_of
from microloop.adapters._gate.sessions import session_of

if TYPE_CHECKING:
    from microloop.guardrail import Guardrail
    from microloop.session import Session


@dataclass(slots=True)
class Turns:
    """How often the model of one agent was asked, and which model that is."""

    count: int = 0
    model: str | None = None


class Runs:
    """The runs of one guard. Agents that run side by side share a session, and each has turns of its own."""

    def __init__(self, guard: Guardrail) -> None:
        self._guard = guard
        self._turns: WeakKeyDictionary[Session, dict[str, Turns]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def session(self, context: Any) -> Session:
        """The session of a context of ADK, which is told when a new invocation begins with a person's turn."""
        session = child_of_caller(self._guard) or session_of(self._guard, _name(context.session))
        notes = notes_of(session)
        with notes.lock:
            before, notes.heard = notes.heard, context.invocation_id
            if before not in (None, notes.heard) and not _is_answer(context.user_content):
                session.user_turn()
        return session

    def turns(self, session: Session, context: Any) -> Turns:
        """The turns of the agent that a context belongs to."""
        with self._lock:
            return self._turns.setdefault(session, {}).setdefault(context.agent_name, Turns())

    def batch(self, session: Session, context: Any) -> str | None:
        """What the calls of the agent's latest turn have in common; None where the model's hooks see no turns."""
        count = self.turns(session, context).count
        return f"{context.agent_name}-turn-{count}" if count else None


def _name(session: Any) -> str:
    """ADK's session ids are unique only together with the application and the user."""
    return f"{session.app_name}/{session.user_id}/{session.id}"


def _is_answer(content: Any) -> bool:
    """Whether the person has only answered a question of the run before, by a confirmation or a late result."""
    parts = (content and content.parts) or []
    return any(part.function_response is not None for part in parts)

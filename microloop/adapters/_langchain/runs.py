"""Which session a LangGraph run is, and what the adapters note about it.

A run is known by its thread, else by its run id, else by the control object that LangGraph makes for each invocation.
A `with guard.session(...)` around the run comes before all of them. A graph inside a graph, as a sub-agent is, has a
child session, whose calls are charged to its parent's budget.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from microloop import ambient
from microloop.adapters._gate.notes import notes_of
from microloop.adapters._gate.sessions import child_of
from microloop.adapters._langchain.messages import first_human, last_human

if TYPE_CHECKING:
    from collections.abc import Sequence

    from microloop.guardrail import Guardrail
    from microloop.session import Session


def session_of(guard: Guardrail, namespace: str | None, messages: Sequence[Any]) -> Session:
    """The session of the run that this code is called in. `namespace` is LangGraph's path of the node."""
    root = guard.current.get() or _root(guard)
    path = _path(namespace)
    if not path:
        return root
    # The message that a sub-agent was started with tells two of them apart that run side by side.
    return child_of(root, f"{root.id}/{path}#{first_human(messages)}")


def _root(guard: Guardrail) -> Session:
    run = ambient.current_run()
    if run is None:
        return guard.here()
    session = guard.session(run.id)
    notes_of(session).run = run.marker
    return session


def _path(namespace: str | None) -> str:
    """The graphs around this one, without the ids that differ each time: `tools:6e…|agent:c9…` is in `tools`."""
    outer = (namespace or "").split("|")[:-1]
    return "|".join(re.sub(r":.*", "", each) for each in outer)


def hear(session: Session, messages: Sequence[Any], invocation: object = None) -> None:
    """Tell the session of a user turn, if an invocation begins and a person has spoken since the one before.

    What a graph says in a person's name while it runs, as summaries and critics do, is no user turn; neither is the
    answer to an interrupt. Without an `invocation` one begins with this call.
    """
    notes = notes_of(session)
    with notes.lock:
        if invocation is not None and invocation is notes.heard:
            return
        notes.heard = invocation
        before, person = notes.person, last_human(messages)
        notes.person = person or before
        if before is not None and person is not None and person != before:
            session.user_turn()

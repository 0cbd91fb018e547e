"""Which session an AutoGen run is.

AutoGen gives a run no id, but one cancellation token, which reaches both the model client and the workbench. In a team
each participant has a child session of the run's: counters of its own, budgets charged to the run. So has an agent that
a tool runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autogen_core import MessageHandlerContext

from microloop.adapters._gate.nested import child_of_caller
from microloop.adapters._gate.sessions import RunIds, session_of

if TYPE_CHECKING:
    from autogen_core import CancellationToken

    from microloop.guardrail import Guardrail
    from microloop.session import Session

_ids = RunIds()


def session_of_run(guard: Guardrail, token: CancellationToken | None) -> Session:
    """The session of the agent that asks its model, or calls a tool, with this token."""
    child = child_of_caller(guard)
    if child is not None:
        return child
    run_id = None if token is None else _ids.of(token)
    session = session_of(guard, run_id)
    session.entered_run(run_id)
    participant = _participant()
    return session if participant is None else session.child(f"{session.id}/{participant}")


def _participant() -> str | None:
    try:
        return str(MessageHandlerContext.agent_id().type)
    except RuntimeError:  # no runtime is at work: the agent runs by itself
        return None

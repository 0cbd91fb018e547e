"""Which session a run of the Agents SDK is, and how it ends when it is halted."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from agents.exceptions import AgentsException

from microloop.adapters._gate import sessions
from microloop.adapters._gate.halting import halt_of
from microloop.adapters._gate.nested import child_of_caller
from microloop.errors import RunHalted

if TYPE_CHECKING:
    from agents import RunContextWrapper

    from microloop.guardrail import Guardrail
    from microloop.session import Session
    from microloop.verdict import Verdict

_MARK = "microloop_run"


class AgentRunHalted(RunHalted, AgentsException):
    """The runner wraps exceptions of strangers. One of its own it passes on, with the transcript in `run_data`."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict)
        self.run_data = None


def session_of(guard: Guardrail, context: RunContextWrapper[Any]) -> Session:
    """The session of a run. A new run in the same session begins with the person's turn."""
    run = _run_id(context)
    session = child_of_caller(guard) or sessions.session_of(guard, run)
    session.entered_run(run)
    return session


def _run_id(context: RunContextWrapper[Any]) -> str:
    # The SDK has no id for a run. All contexts of one run share this object, and a `RunState` takes a copy of it, with
    # what stands in it, through a pause.
    run: str = vars(context.usage).setdefault(_MARK, f"run-{uuid.uuid4().hex}")
    return run


def end_if_halted(session: Session) -> None:
    """Raises `RunHalted` in a session that was halted."""
    verdict = halt_of(session)
    if verdict is not None:
        raise AgentRunHalted(verdict)

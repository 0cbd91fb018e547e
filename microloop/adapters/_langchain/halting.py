"""How a run ends when the guard halts it, in hooks that have no way of their own to end one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from microloop import ambient
from microloop.errors import run_halted

if TYPE_CHECKING:
    from microloop.verdict import Verdict


def end_after_step(verdict: Verdict) -> None:
    """Let the graph finish this step, with every call answered, and start no further one.

    LangGraph then raises `GraphDrained` with the feedback, and a checkpointer has a conversation that can go on. Where
    no graph is running there is nothing to finish: `RunHalted` is raised.
    """
    run = ambient.current_run()
    drain = getattr(run.marker if run is not None else None, "request_drain", None)
    if drain is None:
        raise run_halted(verdict)
    drain(verdict.feedback)


def raise_now(verdict: Verdict) -> None:
    """End the run here. The calls of this step stay unanswered."""
    raise run_halted(verdict)

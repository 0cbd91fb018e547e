"""This project's monitor, as a rule: told what microloop 0.3.0 is told; a run is over when it is called stalled."""

from __future__ import annotations

from collections.abc import Iterator

from evaluate.corpus import Run, Step
from evaluate.rules.streaks import after
from microloop import Monitor

_STUCK = ("stalled", "regressing")


def statuses(run: Run) -> Iterator[str]:
    """The status after each step."""
    monitor = Monitor()
    for place, step in enumerate(run.steps):
        observation, metrics = _told(step, place)
        yield str(
            monitor.observe({"tool": step.tool, "arguments": step.arguments}, observation, metrics=metrics).status
        )


def _told(step: Step, place: int) -> tuple[str, dict[str, int] | None]:
    if step.outcome is None:
        # What the log does not say is equal to nothing, here as for the other rules.
        return f"unknown outcome {place}", None
    return step.outcome[1], {"exit_code": int(step.error is not None)}


def first_stop(run: Run) -> int | None:
    """The call after the first step at which the run is called stalled or regressing."""
    stuck = next((place for place, status in enumerate(statuses(run)) if status in _STUCK), None)
    return after(stuck, run.steps)


def marks(run: Run) -> frozenset[int]:
    """The steps that it finds anything wrong with."""
    return frozenset(place for place, status in enumerate(statuses(run)) if status != "healthy")

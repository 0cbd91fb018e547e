"""How the runs of a recording ended."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from microloop.counting import counted
from microloop.decision import Status

if TYPE_CHECKING:
    from microloop.timeline import TimelineStep

LEVELS = tuple(str(status) for status in Status if status is not Status.HEALTHY)


@dataclass(slots=True)
class RunEnd:
    """One run, as far as it was read."""

    run_id: str
    steps: int = 0
    status: Status = Status.HEALTHY
    since: int | None = None
    """The step at which it came to this status; None if it was healthy all along."""
    progress: int = 0
    first_stop: int | None = None

    def count(self, step: TimelineStep) -> None:
        """Add its next step."""
        self.steps += 1
        if step.status is not self.status:
            self.status, self.since = step.status, step.number
        self.progress += step.verified_progress
        if self.first_stop is None and step.stops:
            self.first_stop = step.number

    def __str__(self) -> str:
        since = "" if self.since is None else f" since step {self.since}"
        progress = f"; verified progress {counted(self.progress, 'time')}" if self.progress else ""
        stop = "" if self.first_stop is None else f"; the guard would have stopped it at step {self.first_stop}"
        return f"{counted(self.steps, 'step')}, {self.status}{since}{progress}{stop}"

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        return {
            "run_id": self.run_id,
            "steps": self.steps,
            "status": str(self.status),
            "since": self.since,
            "verified_progress": self.progress,
            "first_stop": self.first_stop,
        }


class Ends:
    """All runs. A run that is read again from its start replaces what was known of it."""

    def __init__(self) -> None:
        self._runs: dict[str, RunEnd] = {}
        self._earlier: dict[str, RunEnd] = {}

    def count(self, step: TimelineStep) -> None:
        """Add a step."""
        if step.run_id not in self._runs:
            self._runs[step.run_id] = RunEnd(step.run_id)
        self._runs[step.run_id].count(step)

    def begin_anew(self) -> None:
        """What comes now is another file."""
        self._earlier.update(self._runs)
        self._runs = {}

    @property
    def runs(self) -> list[RunEnd]:
        """In the order in which they began."""
        return list({**self._earlier, **self._runs}.values())

    def reach(self, level: str) -> bool:
        """Whether a run ended as badly as this, or worse."""
        return any(severity(run.status) >= severity(Status(level)) for run in self.runs)

    def __str__(self) -> str:
        counted = Counter(str(run.status) for run in self.runs)
        return ", ".join(f"{counted[str(status)]} {status}" for status in Status if counted[str(status)])


def severity(status: Status) -> int:
    """How bad it is: healthy, warning, stalled, regressing.

    >>> sorted(["stalled", "healthy", "regressing"], key=lambda name: severity(Status(name)))
    ['healthy', 'stalled', 'regressing']
    """
    return tuple(Status).index(status)

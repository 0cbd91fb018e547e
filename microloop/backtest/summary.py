"""What all runs together come to, under one policy."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from microloop.backtest.judge import RunResult, Stop


@dataclass(slots=True)
class Group:
    """Runs that ended alike."""

    runs: int = 0
    stopped: int = 0
    steps: int = 0
    steps_saved: int = 0
    not_run: int = 0
    tokens: int = 0
    tokens_saved: int = 0

    def add(self, result: RunResult) -> None:
        """Count one run."""
        self.runs += 1
        self.stopped += result.stop is not None
        self.steps += result.steps
        self.steps_saved += result.steps_saved
        self.not_run += result.not_run
        self.tokens += result.tokens
        self.tokens_saved += result.tokens_saved

    @property
    def rate(self) -> float:
        """The share of runs that are stopped."""
        return self.stopped / self.runs if self.runs else 0.0


@dataclass(frozen=True, slots=True)
class Example:
    """A run that was stopped for a reason, and where."""

    file: str
    run_id: str
    stop: Stop


@dataclass(slots=True)
class Summary:
    """The runs under one policy: those that succeeded, those that failed, and those of which nobody knows."""

    policy: str
    succeeded: Group = field(default_factory=Group)
    failed: Group = field(default_factory=Group)
    unknown: Group = field(default_factory=Group)
    actions: Counter[str] = field(default_factory=Counter)
    stops: Counter[str] = field(default_factory=Counter)
    """Runs by the reason of their first stop."""
    stops_in_succeeded: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Example] = field(default_factory=dict)

    def add(self, result: RunResult) -> None:
        """Count one run."""
        self._group_of(result).add(result)
        self.actions.update(result.actions)
        if result.stop is None:
            return
        self.stops[result.stop.reason] += 1
        self.stops_in_succeeded[result.stop.reason] += bool(result.succeeded)
        self._take_example(result, result.stop)

    def _group_of(self, result: RunResult) -> Group:
        if result.succeeded is None:
            return self.unknown
        return self.succeeded if result.succeeded else self.failed

    def _take_example(self, result: RunResult, stop: Stop) -> None:
        """The first one, but rather a run that succeeded: that is the one to look at."""
        first_good = result.succeeded and self.stops_in_succeeded[stop.reason] == 1
        if first_good or stop.reason not in self.examples:
            self.examples[stop.reason] = Example(result.file, result.run_id, stop)

    @property
    def runs(self) -> int:
        """All runs."""
        return self.succeeded.runs + self.failed.runs + self.unknown.runs

    def groups(self) -> dict[str, Group]:
        """The three groups by name."""
        return {"succeeded": self.succeeded, "failed": self.failed, "unknown": self.unknown}

    def as_dict(self) -> dict[str, Any]:
        """The numbers as plain JSON values."""
        names = Group.__slots__
        return {
            "policy": self.policy,
            "runs": {name: {key: getattr(group, key) for key in names} for name, group in self.groups().items()},
            "actions": dict(self.actions),
            "reasons": [self._reason(reason) for reason, _ in self.stops.most_common()],
        }

    def _reason(self, reason: str) -> dict[str, Any]:
        example = self.examples[reason]
        where = {"file": example.file, "run_id": example.run_id, "step": example.stop.step, "tool": example.stop.tool}
        return {
            "reason": reason,
            "runs": self.stops[reason],
            "succeeded": self.stops_in_succeeded[reason],
            "example": where,
        }

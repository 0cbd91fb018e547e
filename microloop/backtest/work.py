"""What is done with a file: its runs are read and judged, each under every policy that is compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from microloop.backtest.judge import RunResult, judge_run
from microloop.backtest.outcomes import Outcomes
from microloop.backtest.runs import Found, Problem, read_file

Judged: TypeAlias = "tuple[RunResult, ...] | Problem"
"""A run's results, one for each policy in their order; or what could not be read."""


@dataclass(frozen=True, slots=True)
class Work:
    """Everything a process needs to know, as plain values."""

    policies: tuple[Mapping[str, Any], ...]
    outcomes: Outcomes = field(default_factory=Outcomes)
    log_format: str | None = None
    role: str | None = None

    def read(self, file: str) -> Iterator[Found]:
        """The runs of one file."""
        return read_file(Path(file), self.outcomes, self.log_format)

    def judge(self, found: Found) -> Judged:
        """One run."""
        if isinstance(found, Problem):
            return found
        return tuple(judge_run(policy, found, self.role) for policy in self.policies)

    def judge_file(self, file: str) -> list[Judged]:
        """All runs of one file."""
        return [self.judge(found) for found in self.read(file)]

"""What the oracle says about a call."""

from __future__ import annotations

from dataclasses import dataclass, replace

SEVERITY = ["allow", "warn", "ask", "block", "halt"]


@dataclass(frozen=True)
class Finding:
    """One detector's opinion; what the contract leaves open is None."""

    action: str
    reason: str
    limit: float | None = None
    seen: float | None = None
    evidence: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Verdict:
    """The answer to one check."""

    step: int
    action: str
    reason: str
    limit: float | None = None
    seen: float | None = None
    evidence: tuple[int, ...] | None = None

    @property
    def runs(self) -> bool:
        return self.action in ("allow", "warn", "ask")

    def at_step(self, step: int) -> Verdict:
        return replace(self, step=step)


def most_severe(findings: list[Finding]) -> Finding | None:
    """Pick the most severe; among equals the first."""
    best = None
    for finding in findings:
        if best is None or SEVERITY.index(finding.action) > SEVERITY.index(best.action):
            best = finding
    return best


Levels = dict[str, int | None]
ALL = ("warn", "block", "halt")


def met(levels: Levels, n: int, only: tuple[str, ...] = ALL) -> tuple[str, int] | None:
    """Find the most severe level that `n` reaches, and its number."""
    reached = None
    for action in only:
        level = levels.get(action)
        if level is not None and n >= level:
            reached = (action, level)
    return reached

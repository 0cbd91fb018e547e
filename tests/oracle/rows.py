"""The detectors that count a tool's calls in a row: error, invalid arguments, near and stall."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from oracle.identity import reworded
from oracle.outcomes import Outcome, error_identity
from oracle.policy import Tool
from oracle.verdict import Finding, met


@dataclass
class Errors:
    """Failures of one tool in a row with the same error."""

    identity: str = ""
    text: str = ""
    count: int = 0
    since_refusal: int = 0
    epoch: int = 0
    shift: int = 0

    def complete(self, outcome: Outcome, epoch: int, shift: int) -> None:
        if not outcome.failed:
            self.count = self.since_refusal = 0
            return
        identity = error_identity(outcome.text)
        moved_on = self.shift != shift and self.text != outcome.text
        if identity == self.identity and epoch == self.epoch and not moved_on:
            self.count += 1
            self.since_refusal += 1
        else:
            self.count = self.since_refusal = 1
        self.identity, self.text, self.epoch, self.shift = identity, outcome.text, epoch, shift

    def judge(self, tool: Tool, epoch: int, shift: int) -> list[Finding]:
        if self.count == 0 or self.epoch != epoch:
            return []
        levels, n = tool.levels("error"), self.count + 1
        still = self.shift == shift
        candidates = [
            met(levels, n, only=("halt",)) if still else None,
            met(levels, self.since_refusal + 1, only=("block",)) if still else None,
            met(levels, n, only=("warn",)),
        ]
        for reached in candidates:
            if reached:
                return [Finding(reached[0], "loop.error", reached[1])]
        return []


@dataclass
class Invalid:
    """Calls of one tool in a row whose arguments failed in the same way."""

    failure: tuple[str, str] | None = None
    count: int = 0

    def judge(self, tool: Tool, failure: tuple[str, str] | None) -> Finding | None:
        """Every invalid call is blocked; from the level `block` on it is a loop."""
        if failure is None:
            self.failure, self.count = None, 0
            return None
        self.count = self.count + 1 if failure == self.failure else 1
        self.failure = failure
        reached = met(tool.levels("invalid"), self.count, only=("block", "halt"))
        if reached:
            return Finding(reached[0], "loop.error", reached[1], self.count)
        return Finding("block", failure[0])


@dataclass
class Row:
    """Different calls of one tool in a row with the same outcome."""

    count: int = 0
    outcome: str = ""
    identity: str = ""
    last_two: list[Any] = field(default_factory=list)

    def keeps_words(self, tool: Tool) -> bool:
        """Words are kept of a call only if the third call from it may reach the lowest level."""
        levels = [level for level in tool.levels("near").values() if level is not None]
        return bool(levels) and self.count + 3 >= min(levels)

    def complete(self, tool: Tool, identity: str, args: Any, outcome: Outcome) -> None:
        """`args` are None where no words of the call are kept."""
        if outcome.failed or tool.effect in ("write", "idempotent"):
            return
        if outcome.acknowledgement and tool.effect != "read":
            return
        same = self.count > 0 and outcome.for_stall == self.outcome
        if same and identity == self.identity:
            return
        self.count = self.count + 1 if same else 1
        self.outcome, self.identity = outcome.for_stall, identity
        self.last_two = [*self.last_two, args][-2:]

    def judge(self, tool: Tool, identity: str, args: Any) -> list[Finding]:
        if self.count == 0 or identity == self.identity:
            return []
        return self.near(tool, args) + self.stall(tool)

    def near(self, tool: Tool, args: Any) -> list[Finding]:
        if len(self.last_two) < 2 or None in self.last_two:
            return []
        before, last = self.last_two
        if not (reworded(args, last) and reworded(last, before)):
            return []
        only = ("warn", "block", "halt") if tool.effect == "read" else ("warn",)
        reached = met(tool.levels("near"), self.count + 1, only=only)
        return [Finding(reached[0], "loop.near", reached[1], self.count + 1)] if reached else []

    def stall(self, tool: Tool) -> list[Finding]:
        levels, n = tool.levels("stall"), self.count + 1
        reached = met(levels, n, only=("block", "halt"))
        if reached:
            return [Finding(reached[0], "loop.stall", reached[1], n)]
        warn = levels.get("warn")
        return [Finding("warn", "loop.stall", warn, n)] if warn and n % warn == 0 else []

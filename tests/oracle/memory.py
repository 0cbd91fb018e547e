"""What is remembered of one call."""

from __future__ import annotations

from dataclasses import dataclass, field

from oracle.outcomes import Outcome

EVIDENCE = 8


@dataclass
class Memory:
    """The fields of "What is remembered of a call" in the loop contract."""

    epoch: int
    shift: int
    outcome: Outcome | None = None
    succeeded: bool = False
    streak: int = 0
    total: int = 0
    fails: int = 0
    refusals: int = 0
    pending: int = 0
    flagged: bool = False
    returned: bool = False
    evidence: list[int] = field(default_factory=list)
    since: int = 0
    last_check: int | None = None
    last_failure: int = 0

    def complete(self, outcome: Outcome, step: int, epoch: int, shift: int, now: int) -> None:
        """Rules 1 to 3 of the contract; the session does rule 4."""
        if self.outcome == outcome and self.epoch == epoch:
            self.total += 1
            self.streak = self.streak + 1 if self.shift == shift else 1
        else:
            self.total = self.streak = 1
            self.evidence = []
            self.flagged = self.returned = False
            self.since = now
        self.evidence = [*self.evidence, step][-EVIDENCE:]
        self.count_failure(outcome, epoch, shift, now)
        self.outcome = outcome
        self.refusals = 0

    def changes(self, outcome: Outcome, epoch: int) -> bool:
        """Whether the world was seen to move: another outcome than the one remembered in this epoch."""
        return self.outcome is not None and self.epoch == epoch and self.outcome != outcome

    def count_failure(self, outcome: Outcome, epoch: int, shift: int, now: int) -> None:
        if not outcome.failed:
            self.fails = 0
            self.succeeded = True
            return
        another = self.shift != shift and self.outcome != outcome
        self.fails = 1 if another or self.epoch != epoch else self.fails + 1
        self.last_failure = now

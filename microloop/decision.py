"""`Decision`: where a run stands after one step."""

from __future__ import annotations

from enum import Enum
from typing import Any, Protocol

import msgspec

from microloop.policy import InterventionAction


class Status(str, Enum):
    """Whether a run is getting anywhere.

    >>> Status("stalled") is Status.STALLED
    True
    """

    HEALTHY = "healthy"
    WARNING = "warning"
    STALLED = "stalled"
    REGRESSING = "regressing"

    def __str__(self) -> str:
        return self.value


# The hot path goes by these: looking a member up on its class costs as much as a function call.
HEALTHY, WARNING, STALLED, REGRESSING = Status
OBSERVE, REPLAN, STOP = InterventionAction


class Proof(msgspec.Struct, frozen=True):
    """Why a run is judged as it is: which steps, and what they show."""

    reason: str
    steps: tuple[int, ...] = ()
    why: str = ""


class Report(msgspec.Struct, frozen=True):
    """A decision as the core writes it, with its evidence."""

    step: int = 0
    status: Status = HEALTHY
    intervention: InterventionAction = OBSERVE
    verified_progress: bool = False
    evidence: tuple[Proof, ...] = ()
    feedback: str = ""


NOTHING = Report()


class Teller(Protocol):
    """Who knows the evidence of a step."""

    def report(self, step: int) -> Report:
        """The evidence of a step, or `NOTHING`."""


class Decision(msgspec.Struct, frozen=True):
    """Where a run stands after one step.

    What it rests on is fetched when it is first looked at, and at once where the policy asks for something. The run
    keeps it for the last 64 steps that were not healthy; of an older one that nobody looked at, `evidence` is empty.

    >>> Decision(3, Status.STALLED, InterventionAction.Replan).should_intervene
    True
    """

    step: int = 0
    status: Status = HEALTHY
    intervention: InterventionAction = OBSERVE
    """What the policy asks the host to do now."""
    verified_progress: bool = False
    """Whether a check of the run says that things are better than ever."""
    unread: tuple[str, ...] = ()
    """What was given and could not be read as it is, such as `metrics.speed`."""
    _teller: Teller | None = None
    _report: Report | None = None

    @property
    def evidence(self) -> tuple[Proof, ...]:
        """Which steps led here, and what they show."""
        return self._told().evidence

    @property
    def reasons(self) -> tuple[str, ...]:
        """The stable codes of the evidence."""
        return tuple(each.reason for each in self.evidence)

    @property
    def feedback(self) -> str:
        """Text for the model, where the run is not healthy."""
        return self._told().feedback

    @property
    def should_intervene(self) -> bool:
        """Whether the policy asks for more than watching."""
        return self.intervention is not OBSERVE

    @property
    def recovery_context(self) -> str:
        """What to tell the model when you intervene; empty otherwise."""
        return self.feedback if self.should_intervene else ""

    def as_dict(self) -> dict[str, Any]:
        """The decision with its evidence as plain JSON values, for logs.

        >>> Decision(3, Status.STALLED).as_dict()["status"]
        'stalled'
        """
        fields = {name: getattr(self, name) for name in ("step", "status", "intervention", "verified_progress")}
        made: dict[str, Any] = msgspec.to_builtins(
            {**fields, "evidence": self.evidence, "feedback": self.feedback, "unread": self.unread}
        )
        return made

    def _told(self) -> Report:
        report = self._report
        if report is None:
            telling = self.status is not HEALTHY or self.verified_progress
            report = self._teller.report(self.step) if telling and self._teller is not None else NOTHING
            msgspec.structs.force_setattr(self, "_report", report)
        return report

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items() if value not in ("", [], ()))
        return f"Decision({shown})"

    def __reduce__(self) -> tuple[Any, ...]:
        # The run is native memory of this process: the copy in another one takes the evidence with it.
        report = self._told()
        fields = (self.step, self.status, self.intervention, self.verified_progress, self.unread, None, report)
        return Decision, fields


def _parts(low: int) -> tuple[Status, InterventionAction, bool]:
    status, intervention = tuple(Status)[low & 3], (OBSERVE, REPLAN, STOP, OBSERVE)[low >> 4 & 3]
    return status, intervention, bool(low & 0x80)


PARTS = [_parts(low) for low in range(256)]
"""What the lowest eight bits of what `microloop_observe` returns stand for."""

"""What a run amounts to: its sums, what came after the first stop, and where tokens and time went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from microloop.decision import Status
from microloop.report import units
from microloop.timeline import Timeline, TimelineStep

_PERSON, _MODEL = "waiting for a person", "the model"


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over some steps. None where the log has none of it."""

    steps: int
    calls: int
    errors: int
    tokens: int | None
    usd: float | None
    took: int | None
    """Milliseconds."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One of the things that a run uses up, and how much of it went where: most first."""

    title: str
    shown: Callable[[int], str]
    parts: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        """All of it."""
        return sum(amount for _, amount in self.parts)


def sums(steps: Sequence[TimelineStep]) -> Sums:
    """The sums over some steps of a run."""
    calls = [step for step in steps if step.is_call]
    times = [step.at for step in steps if step.at is not None]
    return Sums(
        steps=len(steps),
        calls=len(calls),
        errors=sum(step.failed for step in calls),
        tokens=_total([step.tokens for step in steps]),
        usd=_total([step.usd for step in steps]),
        took=max(times) - min(times) if len(times) > 1 else None,
    )


def after_stop(timeline: Timeline) -> Sums | None:
    """What came after the guard's first stop; None if there was none.

    What the model spent on the step that is stopped is spent: it counts with what came before.
    """
    stop = timeline.first_stop
    if stop is None:
        return None
    place = timeline.steps.index(stop)
    later, last = sums(timeline.steps[place + 1 :]), sums(timeline.steps[place:])
    return Sums(last.steps, last.calls, last.errors, later.tokens, later.usd, last.took)


def verdicts(steps: Iterable[TimelineStep]) -> Counter[str]:
    """How often the guard would have done what."""
    return Counter(str(step.would) for step in steps if step.verdict is not None)


def worst(steps: Iterable[TimelineStep]) -> Status:
    """The worst that the run stood at."""
    order = tuple(Status)
    return order[max((order.index(step.status) for step in steps), default=0)]


def measures(steps: Sequence[TimelineStep]) -> list[Measure]:
    """What the log tells of, by tool."""
    calls = Counter(step.tool for step in steps if step.is_call)
    returned: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    for step in steps:
        returned[step.tool] += step.size
        tokens[step.tool] += step.tokens or 0
    found = [
        _measure("Calls", units.count, calls),
        _measure("Tokens", units.count, tokens),
        _measure("Time", units.duration, _times(steps)),
        _measure("Bytes that came back", units.size, returned),
    ]
    return [measure for measure in found if measure.parts]


def _measure(title: str, shown: Callable[[int], str], amounts: Counter[str]) -> Measure:
    return Measure(title, shown, tuple(part for part in amounts.most_common() if part[1] > 0))


def _times(steps: Sequence[TimelineStep]) -> Counter[str]:
    """A step lasts until the next one begins: a call has the tool's time, and that of the model until it goes on."""
    times: Counter[str] = Counter()
    for step, following in pairwise(steps):
        if step.at is not None and following.at is not None:
            times[_who_took(step, following)] += max(0, following.at - step.at)
    return times


def _who_took(step: TimelineStep, following: TimelineStep) -> str:
    if not following.is_call and following.tool == "user":
        return _PERSON
    return step.tool if step.is_call else _MODEL


def _total(amounts: Iterable[float | None]) -> Any:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None

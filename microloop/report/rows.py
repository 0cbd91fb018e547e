"""The steps of a run as the rows that are shown: repeated calls joined, and rounds of up to four calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from microloop.decision import Status
from microloop.report.figures import Sums, sums
from microloop.timeline import Timeline, TimelineStep
from microloop.verdict import ALLOW

_LONGEST_ROUND = 4


@dataclass(frozen=True, slots=True)
class Row:
    """One call, or calls that came again and again with the same verdict."""

    place: int
    """Of its first step in the run, from 0."""
    round: tuple[TimelineStep, ...]
    """What came again, as it was the first time."""
    times: int
    last: TimelineStep
    sums: Sums

    @property
    def first(self) -> TimelineStep:
        """The first step."""
        return self.round[0]

    @property
    def length(self) -> int:
        """How many steps it is."""
        return len(self.round) * self.times

    @property
    def judged(self) -> TimelineStep | None:
        """The first step that the guard has something to say about."""
        return next((step for step in self.round if step.would is not ALLOW), None)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Rows in which the run's status is the same; the guard's first stop begins a new one."""

    status: Status
    rows: tuple[Row, ...]
    first_stop: bool

    @property
    def length(self) -> int:
        """How many steps it is."""
        return sum(row.length for row in self.rows)


def stretches(timeline: Timeline) -> Iterator[Stretch]:
    """The run in pieces."""
    steps, stop = timeline.steps, timeline.first_stop
    begin = 0
    for place in range(1, len(steps) + 1):
        ends = place == len(steps) or steps[place].status is not steps[begin].status or steps[place] is stop
        if ends and place > begin:
            yield Stretch(steps[begin].status, tuple(_rows(steps, begin, place)), steps[begin] is stop)
            begin = place


def _rows(steps: Sequence[TimelineStep], begin: int, end: int) -> Iterator[Row]:
    keys = [_key(step) for step in steps[begin:end]]
    place = 0
    while place < len(keys):
        length, times = _repeated(keys, place)
        after = place + length * times
        joined = steps[begin + place : begin + after]
        yield Row(begin + place, tuple(joined[:length]), times, joined[-1], sums(joined))
        place = after


def _key(step: TimelineStep) -> tuple[object, ...]:
    reason = None if step.would is ALLOW or step.verdict is None else step.verdict.reason
    return step.tool, step.call or step.arguments, step.would, reason, step.failed


def _repeated(keys: Sequence[object], place: int) -> tuple[int, int]:
    """How long the round is that begins here, and how often it comes: the one that joins most steps."""
    best = (1, 1)
    for length in range(1, _LONGEST_ROUND + 1):
        times = _times(keys, place, length)
        if times > 1 and length * times > best[0] * best[1]:
            best = (length, times)
    return best


def _times(keys: Sequence[object], place: int, length: int) -> int:
    at = place + length
    while at < len(keys) and keys[at] == keys[at - length]:
        at += 1
    return (at - place) // length

"""What a row of the table is: one kind of work, and the proof that it was done."""

import itertools
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import workload


class Row(ABC):
    """One kind of work: made in the process of its group, warmed, sampled in turn with all others, verified."""

    name: ClassVar[str]
    work: ClassVar[str]
    # The row of the same group whose time is no part of the work: the empty loop, or the tool's own body.
    minus: ClassVar[str | None] = "loop"
    # What the project promised, in nanoseconds.
    target: ClassVar[float | None] = None
    # Whether single operations are timed too, for the slowest in a hundred.
    tails: ClassVar[bool] = False

    @abstractmethod
    def run(self, operations: int) -> None:
        """Do the work that many times, and nothing else."""

    @abstractmethod
    def verify(self, operations: int) -> None:
        """Fail unless the work so far, that many times, was what the name says."""


def endless_calls() -> Iterator[dict[str, Any]]:
    """Return the arguments of one call after the other, beginning anew after the last."""
    return itertools.cycle([workload.arguments(number) for number in range(workload.CALLS)])


def endless_outcomes() -> Iterator[str]:
    """Return the outcomes that belong to `endless_calls`."""
    return itertools.cycle([workload.outcome(number) for number in range(workload.CALLS)])


class Loop(Row):
    """The loop itself: what `for` and the iterator cost, taken off the others."""

    name = "loop"
    work = "the empty loop"
    minus = None

    def __init__(self) -> None:
        """Take the calls that all rows take."""
        self.calls = endless_calls()

    def run(self, operations: int) -> None:
        """Take that many calls and drop them."""
        for _ in itertools.islice(self.calls, operations):
            pass

    def verify(self, operations: int) -> None:
        """Fail if the calls are not what the table says: distinct, of 120 bytes."""
        assert operations > 0
        texts = {json.dumps(workload.arguments(n), separators=(",", ":")) for n in range(workload.CALLS)}
        assert len(texts) == workload.CALLS
        assert {len(text) for text in texts} == {120}

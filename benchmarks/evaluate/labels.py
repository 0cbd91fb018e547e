"""Warnings beside what people called the same steps: does a warning fall on what they call a repetition?

The labels are local: each is about a call and the one before it. A detector that waits for the third of a kind cannot
mark the second, and a human who looks at two calls cannot see the third.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from evaluate.corpus import Run

LABELS = ("Repetition", "Refinement", "Follow-up", "Divergence")


@dataclass(frozen=True)
class Agreement:
    """How many labelled steps there are of each kind, and how many of these are marked."""

    name: str
    labelled: Counter[str]
    marked: Counter[str]

    def share(self, label: str) -> float:
        """The share of a label's steps that are marked."""
        return self.marked[label] / max(1, self.labelled[label])

    @property
    def precision(self) -> float:
        """Of the marked steps, those that people call a repetition."""
        return self.marked["Repetition"] / max(1, sum(self.marked.values()))


def agreement(name: str, marks: Callable[[Run], frozenset[int]], runs: Iterable[Run]) -> Agreement:
    """Count over the labelled runs; `marks` gives the places of the steps that a detector finds fault with."""
    labelled: Counter[str] = Counter()
    marked: Counter[str] = Counter()
    for run in runs:
        places = marks(run) if run.labels else frozenset()
        for place, label in enumerate(run.labels, 1):
            labelled[label] += 1
            marked[label] += place in places
    return Agreement(name, labelled, marked)

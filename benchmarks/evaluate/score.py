"""What a row scores on some runs: successful runs that it stops, and steps that it saves in the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from evaluate.corpus import Run
from evaluate.intervals import Interval, bootstrap, clopper_pearson
from evaluate.rule import Judge


@dataclass(frozen=True)
class Score:
    """Counted over runs. A step is saved if it comes at or after the first stop of its run."""

    good: int
    good_stopped: int
    failed: tuple[int, ...]
    """Steps of each failed run."""
    saved: tuple[int, ...]
    """How many of these would not have been made."""
    unjudged: int
    """Steps of the runs whose source does not say whether they succeeded."""
    unjudged_cut: int

    @property
    def rate(self) -> float | None:
        """The share of successful runs that are stopped; None if there are none."""
        return self.good_stopped / self.good if self.good else None

    @cached_property
    def rate_interval(self) -> Interval:
        """Where that share lies with 95 % confidence."""
        return clopper_pearson(self.good_stopped, self.good)

    @property
    def steps_saved(self) -> int:
        """In failed runs."""
        return sum(self.saved)

    @property
    def saving(self) -> float:
        """Their share of all steps of failed runs."""
        return self.steps_saved / max(1, sum(self.failed))

    @cached_property
    def saving_interval(self) -> Interval:
        """Where that share lies with 95 % confidence."""
        return bootstrap(self.saved, self.failed)

    def ahead_of(self, other: Score) -> Interval:
        """Where the difference of the two shares lies with 95 % confidence, run by run."""
        return bootstrap([mine - theirs for mine, theirs in zip(self.saved, other.saved, strict=True)], self.failed)


def score(judge: Judge, runs: Iterable[Run]) -> Score:
    """Count one row."""
    judged = [(run, judge.stops(run)) for run in runs]
    good = [place for run, place in judged if run.succeeded]
    failed = [(len(run.steps), _after(run, place)) for run, place in judged if run.succeeded is False]
    unjudged = [(len(run.steps), _after(run, place)) for run, place in judged if run.succeeded is None]
    return Score(
        good=len(good),
        good_stopped=sum(place is not None for place in good),
        failed=tuple(steps for steps, _ in failed),
        saved=tuple(saved for _, saved in failed),
        unjudged=sum(steps for steps, _ in unjudged),
        unjudged_cut=sum(cut for _, cut in unjudged),
    )


def _after(run: Run, place: int | None) -> int:
    return 0 if place is None else len(run.steps) - place


def by_source(judge: Judge, runs: Sequence[Run]) -> dict[str, Score]:
    """A score for each source, in alphabetical order, InterCode last."""
    sources = sorted({(run.apart, run.source) for run in runs})
    return {source: score(judge, [run for run in runs if run.source == source]) for _, source in sources}

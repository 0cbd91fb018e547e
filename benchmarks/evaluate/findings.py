"""Everything that is measured, before it is written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evaluate import judges, monitor, published
from evaluate.corpus import Run
from evaluate.guard import Guard
from evaluate.labels import Agreement, agreement
from evaluate.rule import ADVISES, Judge
from evaluate.score import Score, by_source, score
from microloop import Action, Policy

TARGET = 0.01


@dataclass(frozen=True)
class Row:
    """A judge, its score on the pooled runs, on InterCode, and by source."""

    name: str
    does: str
    pooled: Score
    apart: Score
    sources: dict[str, Score]

    @property
    def above_target(self) -> list[str]:
        """The sources of which it stops more successful runs than one in a hundred."""
        return [source for source, each in self.sources.items() if (each.rate or 0) > TARGET]


@dataclass(frozen=True)
class Half:
    """A judge on the half that its threshold was not chosen on."""

    name: str
    does: str
    pooled: Score


@dataclass(frozen=True)
class Findings:
    """All tables."""

    runs: int
    steps: int
    rows: list[Row]
    halved: list[Half]
    labels: list[Agreement]

    @property
    def ours(self) -> Row:
        """The row that the targets are about."""
        return self.rows[0]

    def rivals(self) -> list[Row]:
        """Rows of others that stop runs, and stop no larger share of the successful ones."""
        rate = self.ours.pooled.rate or 0
        others = [row for row in self.rows if not row.name.startswith(judges.FAMILY) and row.does != ADVISES]
        return [row for row in others if (row.pooled.rate or 0) <= rate]


def find(runs: Sequence[Run], python: Path | None) -> Findings:
    """Judge all runs by all rules; `python` is the interpreter that has microloop 0.3.0."""
    pooled = [run for run in runs if not run.apart]
    found = judges.asked(python, runs)
    ours = judges.ours(runs)
    halved, reported_on = judges.on_the_other_half(ours[0], pooled)
    return Findings(
        runs=len(runs),
        steps=sum(len(run.steps) for run in runs),
        rows=[
            _row(judge, runs) for judge in (*ours, *judges.others(runs, found), *judges.in_hindsight(ours[0], pooled))
        ],
        halved=[Half(judge.name, judge.does, score(judge, reported_on)) for judge in halved],
        labels=_labels(runs, found),
    )


def _row(judge: Judge, runs: Sequence[Run]) -> Row:
    pooled = score(judge, [run for run in runs if not run.apart])
    apart = score(judge, [run for run in runs if run.apart])
    return Row(judge.name, judge.does, pooled, apart, by_source(judge, runs))


def _labels(runs: Sequence[Run], found: published.Statuses | None) -> list[Agreement]:
    labelled = [run for run in runs if run.labels]
    watching = {name: Guard(Policy(extends=name, mode="observe")) for name in ("balanced", "strict_loop_detection")}
    rows = [agreement(f"microloop {name}", partial(_warned, guard), labelled) for name, guard in watching.items()]
    rows.append(agreement("microloop Monitor", monitor.marks, labelled))
    if found is not None:
        rows.append(agreement("microloop 0.3.0 (PyPI)", partial(published.marks, found=found), labelled))
    return rows


def _warned(guard: Guard, run: Run) -> frozenset[int]:
    """The steps with a verdict other than allow; in observe mode none is kept from running."""
    verdicts = enumerate(guard.verdicts(run))
    return frozenset(place for place, verdict in verdicts if (verdict.would or verdict.action) is not Action.ALLOW)

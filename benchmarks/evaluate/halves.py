"""Thresholds that are chosen on this data: on one half of the runs, and reported on the other."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from evaluate.corpus import Run
from evaluate.rule import Judge, Rule
from evaluate.score import score


def halves(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """One half to choose on, one to report on; a run's half is told by the digest of its id alone."""
    chosen = [run for run in runs if _first_half(run.run_id)]
    return chosen, [run for run in runs if not _first_half(run.run_id)]


def _first_half(run_id: str) -> bool:
    return hashlib.sha256(run_id.encode()).digest()[0] % 2 == 0


def tuned(rule: Rule, like: Judge, runs: Sequence[Run]) -> Rule | None:
    """The rule with the lowest threshold at which it stops no more successful runs than another; None if none does."""
    good = [run for run in runs if run.succeeded]
    allowed = score(like, good).good_stopped
    for threshold in range(2, rule.highest + 1):
        candidate = replace(rule, threshold=threshold)
        if score(candidate, good).good_stopped <= allowed:
            return candidate
    return None

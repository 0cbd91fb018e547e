"""A run's score: the largest factor at which the scaled policy still stops it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from microloop.backtest.judge import judge_run
from microloop.backtest.runs import RecordedRun
from microloop.calibration.ladder import FACTORS, scaled

Family: TypeAlias = "tuple[tuple[float, Mapping[str, Any]], ...]"
NEVER = 0.0
"""The score of a run that no factor stops."""


def family(policy_document: Mapping[str, Any]) -> Family:
    """A resolved policy with its levels times each factor, mildest first."""
    return tuple((factor, _member(policy_document, factor)) for factor in reversed(FACTORS))


def score_run(members: Family, run: RecordedRun, role: str | None = None) -> float:
    """The score of one run; infinite if not even the mildest member lets it pass.

    The first member that stops the run tells its score, so that the rules are nested by construction, also where a
    refusal changes what is counted after it.
    """
    for factor, document in members:
        if judge_run(document, run, role).stop is not None:
            return math.inf if factor == FACTORS[-1] else factor
    return NEVER


def _member(policy_document: Mapping[str, Any], factor: float) -> dict[str, Any]:
    loops = policy_document.get("loops", {})
    changed = {name: {**loops[name], **levels} for name, levels in scaled(loops, factor).items()}
    return {**policy_document, "loops": {**loops, **changed}}

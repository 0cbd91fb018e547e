"""The rows of the tables: this project's policies first, then everybody else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evaluate import monitor, published
from evaluate.corpus import Run
from evaluate.guard import Guard, recorded
from evaluate.halves import halves, tuned
from evaluate.rule import ADVISES, Judge, Rule, Told
from evaluate.rules import PUBLISHED, step_limit
from microloop import Action, Policy
from microloop.calibration import choose, family, score_run

FAMILY = "microloop balanced"
STOPS = (Action.BLOCK, Action.HALT)
_LONGEST = 1000
_ALPHAS = (0.01, 0.02)
_LIMIT = Rule("limit on steps", step_limit.stop, threshold=_LONGEST, does="ends the run", highest=_LONGEST)


def ours(runs: Sequence[Run]) -> list[Judge]:
    """Two policies, the advice of the first, and the monitor."""
    balanced, strict = (Policy.load(name) for name in ("balanced", "strict_loop_detection"))
    return [
        told(FAMILY, "refuses the call", balanced, runs, STOPS),
        told("microloop strict_loop_detection", "refuses the call", strict, runs, STOPS),
        told("microloop balanced, first advice", ADVISES, balanced, runs, (Action.WARN, *STOPS)),
        Told("microloop Monitor, stalled", ADVISES, {run.run_id: monitor.first_stop(run) for run in runs}),
    ]


def told(name: str, does: str, policy: Policy, runs: Sequence[Run], actions: tuple[Action, ...]) -> Told:
    """The row of a policy, which stops a run at the first verdict with one of these actions."""
    guard = Guard(policy)
    return Told(name, does, {run.run_id: guard.first(run, *actions) for run in runs})


def others(runs: Sequence[Run], found: published.Statuses | None) -> list[Judge]:
    """The published rules, and microloop 0.3.0 if it could be asked."""
    rows: list[Judge] = list(PUBLISHED)
    if found is not None:
        places = {run.run_id: published.first_stop(run, found) for run in runs}
        rows.append(Told("microloop 0.3.0 (PyPI), stalled", "ends the run, if so set", places))
    return rows


def in_hindsight(balanced: Judge, runs: Sequence[Run]) -> list[Judge]:
    """The lowest limit on steps that stops no more good runs of these very runs: nobody could have known it before."""
    limit = tuned(_LIMIT, balanced, runs)
    return [] if limit is None else [replace(limit, name=f"limit on steps at {limit.threshold}, in hindsight")]


def on_the_other_half(balanced: Judge, runs: Sequence[Run]) -> tuple[list[Judge], list[Run]]:
    """Rules with thresholds chosen on one half of the runs, and the other half, to report them on."""
    chosen_on, reported_on = halves(runs)
    rules = [tuned(rule, balanced, chosen_on) for rule in (_LIMIT, *PUBLISHED)]
    named = [_named(rule) for rule in rules if rule is not None]
    return [balanced, *_calibrated(chosen_on, reported_on), *named, _limit_by_source(chosen_on)], reported_on


def _calibrated(chosen_on: Sequence[Run], reported_on: Sequence[Run]) -> list[Judge]:
    """What `microloop calibrate` makes of the good runs of a half."""
    members = family(Policy.load("balanced").document)
    scores = [score_run(members, recorded(run)) for run in chosen_on if run.succeeded]
    factors = {alpha: choose(scores, alpha).factor for alpha in _ALPHAS}
    named = {f"microloop calibrated to {alpha:.0%}: × {factor:g}": factor for alpha, factor in factors.items()}
    policies = {name: Policy.load(dict(members)[factor]) for name, factor in named.items()}
    return [told(name, "refuses the call", policy, reported_on, STOPS) for name, policy in policies.items()]


def _named(rule: Rule) -> Told | Rule:
    name = rule.name.partition(",")[0]
    return Rule(f"{name} at {rule.threshold}", rule.stop, rule.threshold, rule.does)


class _LimitBySource:
    """A limit for each source: what somebody can choose who has only runs of one agent, and knows how they ended."""

    name = "limit on steps, one a source"
    does = "ends the run"

    def __init__(self, limits: Mapping[str, int]) -> None:
        self._limits = limits

    def stops(self, run: Run) -> int | None:
        return step_limit.stop(run.steps, self._limits.get(run.source, _LONGEST))


def _limit_by_source(runs: Sequence[Run]) -> _LimitBySource:
    """The longest successful run of each source; a source without one has no limit."""
    limits: dict[str, int] = {}
    for run in runs:
        if run.succeeded:
            limits[run.source] = max(limits.get(run.source, 0), len(run.steps))
    return _LimitBySource(limits)


def asked(python: Path | None, runs: Sequence[Run]) -> published.Statuses | None:
    """What microloop 0.3.0 says, where it is installed."""
    return None if python is None else published.statuses(python, runs)

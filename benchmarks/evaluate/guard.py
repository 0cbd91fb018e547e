"""This project's guard, as a rule."""

from __future__ import annotations

from collections.abc import Iterator

from evaluate.corpus import Run, Step
from microloop import Action, Guardrail, Policy, Verdict
from microloop.backtest import RecordedRun
from microloop.recorded import Step as RecordedStep
from microloop.replay import UNKNOWN, Replay

_PACE = 2000
"""Milliseconds between two steps, as `microloop check` assumes them: no recording here has times."""


class Guard:
    """The verdicts of a policy on recorded runs."""

    def __init__(self, policy: Policy) -> None:
        """Compile the policy once."""
        self._guard = Guardrail(policy)

    def verdicts(self, run: Run) -> Iterator[Verdict]:
        """The verdict on each step, as if the agent had gone on whatever it was told."""
        with Replay(self._guard) as replay:
            for number, step in enumerate(run.steps):
                verdict = replay.step({**_played(step), "at": number * _PACE})
                assert verdict is not None
                yield verdict

    def first(self, run: Run, *actions: Action) -> int | None:
        """The place of the first verdict with one of these actions."""
        return next((place for place, verdict in enumerate(self.verdicts(run)) if verdict.action in actions), None)


def recorded(run: Run) -> RecordedRun:
    """The run as `microloop backtest` reads it."""
    steps = tuple(RecordedStep(run.run_id, number, step.tool, _played(step)) for number, step in enumerate(run.steps))
    return RecordedRun(run.source, run.run_id, steps, run.succeeded)


def _played(step: Step) -> dict[str, object]:
    outcome = {"error": step.error} if step.error is not None else {"result": step.result}
    known = outcome if step.outcome is not None else {"result": UNKNOWN}
    return {"tool": step.tool, "args": step.arguments, **known}

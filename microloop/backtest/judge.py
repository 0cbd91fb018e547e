"""One run under one policy: a pure function, the same in this process, in a pool and on a cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from microloop.backtest.runs import RecordedRun
from microloop.guardrail import Guardrail
from microloop.policy import Policy
from microloop.recheck import RunSummary
from microloop.recorded import Step
from microloop.replay import Replay, runs
from microloop.verdict import Action, Verdict


@dataclass(frozen=True, slots=True)
class Stop:
    """The first call that would have been refused, or that would have ended the run."""

    place: int
    """Counted from 0, over the steps as they were recorded."""
    step: int
    """The step's own number."""
    reason: str
    tool: str


@dataclass(frozen=True, slots=True)
class RunResult:
    """What would have become of one run."""

    file: str
    run_id: str
    succeeded: bool | None
    steps: int
    tokens: int
    actions: Mapping[str, int]
    reasons: Mapping[str, int]
    stop: Stop | None = None
    not_run: int = 0
    """Calls that were refused, and all that comes after a halt."""
    steps_saved: int = 0
    """Steps from the first stop on: what is saved if the agent gives up there."""
    tokens_saved: int = 0


def judge_run(policy_document: Mapping[str, Any], run: RecordedRun, role: str | None = None) -> RunResult:
    """Replay a run under a policy, given as the resolved document that `Policy.document` is.

    >>> from microloop.recorded import step_of
    >>> step = step_of({"tool": "search", "arguments": {}, "result": "no"}, {})
    >>> result = judge_run(Policy.load("strict_loop_detection").document, RecordedRun("a.jsonl", "", (step,) * 4))
    >>> result.stop.reason, result.stop.place, result.steps_saved
    ('loop.repeat', 2, 2)
    """
    summary = RunSummary(run.run_id)
    stop: Stop | None = None
    not_run = 0
    with Replay(_guard(json.dumps(policy_document, sort_keys=True)), role=role) as replay:
        for place, (step, verdict) in enumerate(_judged(summary, replay, run.steps)):
            if verdict is None or runs(verdict):
                continue
            not_run += 1
            stop = stop or Stop(place, step.number, verdict.reason, step.tool)
    return _result(run, summary, stop, not_run)


@lru_cache(maxsize=64)  # a family of policies that one is chosen from has a few dozen
def _guard(document: str) -> Guardrail:
    """Compiled once in each process: that costs more than a short run."""
    return Guardrail(Policy.load(json.loads(document)))


def _judged(summary: RunSummary, replay: Replay, steps: Sequence[Step]) -> Iterator[tuple[Step, Verdict | None]]:
    """Each step with its verdict. What comes after a halt, until a person speaks, has that one and is not counted."""
    halt: Verdict | None = None
    for step in steps:
        summary.steps += 1
        at = summary.clock(step.played.get("at"))
        if halt is not None and "user" not in step.played:
            yield step, halt
            continue
        verdict = replay.step({**step.played, "at": at})
        if verdict is not None:
            summary.count(step, verdict)
        halt = verdict if verdict is not None and verdict.action is Action.HALT else None
        yield step, verdict


def _result(run: RecordedRun, summary: RunSummary, stop: Stop | None, not_run: int) -> RunResult:
    tokens = [int(step.played.get("spend", {}).get("tokens", 0)) for step in run.steps]
    saved = len(run.steps) if stop is None else stop.place
    return RunResult(
        file=run.file,
        run_id=run.run_id,
        succeeded=run.succeeded,
        steps=len(run.steps),
        tokens=sum(tokens),
        actions=dict(summary.actions),
        reasons=dict(summary.reasons),
        stop=stop,
        not_run=not_run,
        steps_saved=len(run.steps) - saved,
        tokens_saved=sum(tokens[saved:]),
    )

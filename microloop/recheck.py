"""Recorded runs through a guard: each in a session of its own, each with what would have become of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from microloop.guardrail import Guardrail
from microloop.logs import read
from microloop.policy import Policy
from microloop.recorded import BrokenLine, Step
from microloop.replay import Replay
from microloop.standing import Standing
from microloop.verdict import Action, Verdict


@dataclass(frozen=True, slots=True)
class JudgedStep:
    """A step and the verdict on it; None for a user's message, and for what comes after the run was halted."""

    step: Step
    verdict: Verdict | None
    evidence: tuple[int, ...] = ()
    """The verdict's evidence in the numbers of the recording."""
    after_halt: bool = False


_PACE = 2000
Judged: TypeAlias = "JudgedStep | BrokenLine"


@dataclass(slots=True)
class RunSummary:
    """What would have become of one run."""

    run_id: str
    steps: int = 0
    actions: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    first_stop: int | None = None
    halted_at: int | None = None
    began: int | None = None
    now: int = 0
    numbers: dict[int, int] = field(default_factory=dict)
    """The recording's number of each of the guard's steps."""

    @property
    def stopped(self) -> bool:
        """Whether a call would have been blocked, or the run halted."""
        return self.first_stop is not None

    def clock(self, at: int | None) -> int:
        """Milliseconds since the run began, at its next step."""
        if at is not None:
            self.began = at - self.now if self.began is None else self.began
            self.now = max(self.now, at - self.began)
        elif self.steps > 1:
            self.now += _PACE
        return self.now

    def count(self, step: Step, verdict: Verdict) -> None:
        """Add one verdict."""
        self.numbers.setdefault(verdict.step, step.number)
        self.actions[str(verdict.action)] += 1
        if verdict.action is not Action.ALLOW or verdict.would is not None:
            self.reasons[verdict.reason] += 1
        if verdict.action in (Action.BLOCK, Action.HALT) and self.first_stop is None:
            self.first_stop = step.number
        if verdict.action is Action.HALT and self.halted_at is None:
            self.halted_at = step.number


class Recheck:
    """Replays the runs of a recording, in any order and interleaved.

    A run's clock starts with its first step. Where the recording has no times, a step takes two seconds: that is quick
    for a model, and slow enough that no limit per minute is met for want of a clock.

    >>> recheck = Recheck(Policy.load("strict_loop_detection"))
    >>> line = b'{"tool": "search", "arguments": {}, "result": "no"}'
    >>> [str(judged.verdict.action) for judged in recheck.judge([line] * 3)], recheck.stopped
    (['allow', 'allow', 'block'], True)
    """

    def __init__(self, policy: Policy, *, role: str | None = None, only: frozenset[str] = frozenset()) -> None:
        self.policy = policy
        self.runs: dict[str, RunSummary] = {}
        self.broken_lines = 0
        self._guard = Guardrail(policy)
        self._role = role
        self._only = only
        self._replays: dict[str, Replay] = {}

    @property
    def stopped(self) -> bool:
        """Whether anything would have been stopped in any of the runs."""
        return any(run.stopped for run in self.runs.values())

    def judge(self, lines: Iterable[bytes], log_format: str | None = None) -> Iterator[Judged]:
        """Each step with what the guard says about it, and each broken line."""
        for line in read(lines, log_format):
            if isinstance(line, BrokenLine):
                self.broken_lines += 1
                yield line
            elif not self._only or line.run_id in self._only:
                yield self.step(line)

    def step(self, step: Step) -> JudgedStep:
        """One step with what the guard says about it."""
        run = self.runs.setdefault(step.run_id, RunSummary(step.run_id))
        run.steps += 1
        if run.halted_at is not None and "user" not in step.played:
            return JudgedStep(step, None, after_halt=True)
        verdict = self._replay(step.run_id).step({**step.played, "at": run.clock(step.played.get("at"))})
        if verdict is None:
            return JudgedStep(step, None)
        run.count(step, verdict)
        return JudgedStep(step, verdict, tuple(run.numbers[number] for number in verdict.evidence))

    def standing(self, run_id: str) -> Standing:
        """Where a run stands after its latest step."""
        return self._replay(run_id).monitor

    def _replay(self, run_id: str) -> Replay:
        replay = self._replays.get(run_id)
        if replay is None:
            replay = self._replays[run_id] = Replay(self._guard, role=self._role)
        return replay

"""Recorded runs as what happened in them, step by step, and what guard and monitor say about each.

The policy is replayed in observe mode: each step is judged as it came, and the guard says what it would have done. Up
to its first stop, that is what it does when it enforces; from there on, the run would have gone another way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from microloop import shown
from microloop.decision import Decision, Proof, Report, Status
from microloop.judgement import as_json
from microloop.policy import Policy
from microloop.recheck import JudgedStep, Recheck
from microloop.recorded import BrokenLine, Line, Step
from microloop.replay import UNKNOWN
from microloop.verdict import ALLOW, BLOCK, HALT, Action, Verdict

ARGUMENTS, OUTCOME, FEEDBACK = 160, 240, 1000
"""The most characters that are shown of what was called, of what came back, and of what is said about it."""


@dataclass(frozen=True, slots=True)
class TimelineStep:
    """One step of a run. All texts are fit to be shown: one line, short, without controls.

    Verdict and decision name steps by the recording's numbers.
    """

    run_id: str
    number: int
    tool: str
    """The tool's name; `user` or `assistant` where somebody spoke."""
    arguments: str
    """The call's arguments, or what was said."""
    call: bytes
    """The same for the same call; empty where somebody spoke."""
    outcome: str | None
    """What came back; None where somebody spoke, and where the log does not say."""
    size: int
    """How many bytes came back."""
    failed: bool
    """Whether what came back was an error."""
    tokens: int | None
    usd: float | None
    at: int | None
    """When, in milliseconds, as the log has it."""
    verdict: Verdict | None
    """What the guard says; None for a user's message."""
    decision: Decision
    """Where the run stands after the step."""

    @property
    def is_call(self) -> bool:
        """Whether a tool was called."""
        return bool(self.call)

    @property
    def would(self) -> Action:
        """What the guard would have done."""
        return ALLOW if self.verdict is None else self.verdict.would or self.verdict.action

    @property
    def stops(self) -> bool:
        """Whether the guard would not have let this step happen."""
        return self.would in (BLOCK, HALT)

    @property
    def status(self) -> Status:
        """Whether the run is getting anywhere."""
        return self.decision.status

    @property
    def verified_progress(self) -> bool:
        """Whether this very step shows that a check is better than ever."""
        return self.decision.verified_progress and self.decision.step == self.number


@dataclass(frozen=True, slots=True)
class Timeline:
    """A whole run."""

    run_id: str
    steps: tuple[TimelineStep, ...]

    @property
    def first_stop(self) -> TimelineStep | None:
        """Where the guard would have stopped the run for the first time."""
        return next((step for step in self.steps if step.stops), None)


def watch(steps: Iterable[Step], policy: Policy, *, role: str | None = None) -> Iterator[TimelineStep]:
    """Each step as it comes, in whatever order the runs are recorded.

    >>> played = {"tool": "ls", "args": {}, "result": "a.txt, and no more"}
    >>> steps = [Step("", number, "ls", played) for number in range(5)]
    >>> [(str(step.status), str(step.would)) for step in watch(steps, Policy.load("balanced"))][2:]
    [('warning', 'warn'), ('warning', 'warn'), ('stalled', 'block')]
    """
    recheck = Recheck(observing(policy), role=role)
    for step in steps:
        judged = recheck.step(step)
        yield _timeline_step(judged, _decision(recheck, step.run_id))


def timelines(steps: Iterable[TimelineStep]) -> Iterator[Timeline]:
    """Each run, in the order in which they begin. Any step may be the next of any run, so all are read first.

    >>> from microloop.logs import read
    >>> lines = [b'{"run_id": "a", "tool": "ls"}', b'{"run_id": "b", "tool": "ls"}', b'{"run_id": "a", "tool": "cat"}']
    >>> steps = watch(steps_of(read(lines), print), Policy.load())
    >>> [(run.run_id, [step.tool for step in run.steps]) for run in timelines(steps)]
    [('a', ['ls', 'cat']), ('b', ['ls'])]
    """
    runs: dict[str, list[TimelineStep]] = {}
    for step in steps:
        runs.setdefault(step.run_id, []).append(step)
    for run_id, taken in runs.items():
        yield Timeline(run_id, tuple(taken))


class Turns:
    """Tells at which steps something begins: another status, verified progress, another thing that the guard would do.

    That the guard lets calls through again is nothing that begins.

    >>> played = {"tool": "ls", "args": {}, "result": "a.txt, and no more"}
    >>> steps = [Step("", number, "ls", played) for number in range(9)]
    >>> [step.number for step in filter(Turns().begins, watch(steps, Policy.load("balanced")))]
    [2, 4, 7]
    """

    def __init__(self) -> None:
        self._latest: dict[str, tuple[Status, tuple[Action, str]]] = {}

    def begins(self, step: TimelineStep) -> bool:
        """Whether something begins at the next step of a run."""
        status, held = self._latest.get(step.run_id, (Status.HEALTHY, (ALLOW, "")))
        holds = (step.would, "" if step.verdict is None else step.verdict.reason)
        self._latest[step.run_id] = (step.status, holds)
        return step.status is not status or step.verified_progress or (step.would is not ALLOW and holds != held)


def steps_of(lines: Iterable[Line], complain: Callable[[BrokenLine], object]) -> Iterator[Step]:
    """The steps among the lines of a recording; somebody is told of the broken ones.

    >>> from microloop.logs import read
    >>> [step.tool for step in steps_of(read([b'{"tool": "ls"}', b'{"tool": ']), lambda broken: print(broken.line))]
    2
    ['ls']
    """
    for line in lines:
        if isinstance(line, BrokenLine):
            complain(line)
        else:
            yield line


def observing(policy: Policy) -> Policy:
    """The same policy, except that it only watches.

    >>> observing(Policy.load("balanced")).mode
    'observe'
    """
    return policy if policy.mode == "observe" else Policy.load({**policy.document, "mode": "observe"})


def _timeline_step(judged: JudgedStep, decision: Decision) -> TimelineStep:
    step, played = judged.step, judged.step.played
    text, size, failed = _outcome(played)
    spend = played.get("spend", {})
    return TimelineStep(
        run_id=step.run_id,
        number=step.number,
        tool=shown.visible(step.tool, ARGUMENTS),
        arguments=shown.arguments(played.get("args", played.get(step.tool, "")), ARGUMENTS),
        call=_call(played),
        outcome=text,
        size=size,
        failed=failed,
        tokens=spend.get("tokens"),
        usd=spend.get("usd"),
        at=played.get("at"),
        verdict=_verdict(judged),
        decision=decision,
    )


def _call(played: Mapping[str, Any]) -> bytes:
    if "tool" not in played:
        return b""
    call = played["tool"].encode("utf-8", "replace") + b"\0" + as_json(played.get("args", {}))
    return hashlib.blake2b(call, digest_size=16).digest()


def _outcome(played: Mapping[str, Any]) -> tuple[str | None, int, bool]:
    if "error" in played:
        return *shown.outcome(played["error"], OUTCOME), True
    if played.get("result", UNKNOWN) is UNKNOWN:
        return None, 0, False
    return *shown.outcome(played["result"], OUTCOME), False


def _verdict(judged: JudgedStep) -> Verdict | None:
    """In the recording's numbers, and without its session: a timeline outlives the replay."""
    found = judged.verdict
    if found is None:
        return None
    return msgspec.structs.replace(
        found,
        tool=shown.visible(found.tool),
        step=judged.step.number,
        evidence=judged.evidence,
        feedback=shown.visible(found.feedback, FEEDBACK),
        session=None,
    )


def _decision(recheck: Recheck, run_id: str) -> Decision:
    """In the recording's numbers, and with its evidence: the native session forgets it after a while."""
    latest, numbers = recheck.standing(run_id).latest, recheck.runs[run_id].numbers
    number = numbers.get(latest.step, 0)
    report = Report(
        number,
        latest.status,
        latest.intervention,
        latest.verified_progress,
        tuple(_proof(proof, numbers) for proof in latest.evidence),
        shown.visible(latest.feedback, FEEDBACK),
    )
    return Decision(number, latest.status, latest.intervention, latest.verified_progress, (), None, report)


def _proof(proof: Proof, numbers: Mapping[int, int]) -> Proof:
    steps = tuple(numbers[step] for step in proof.steps if step in numbers)
    return Proof(proof.reason, steps, shown.visible(proof.why, FEEDBACK))

"""What a step means for its run, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from microloop.counting import as_many
from microloop.decision import Proof, Status
from microloop.verdict import ALLOW, ASK, BLOCK, HALT, WARN, Verdict

if TYPE_CHECKING:
    from microloop.timeline import TimelineStep

_HAPPENED = {
    "loop.cycle": "the same round of calls came again with the same results",
    "loop.error": "{tool} gave the same error again",
    "loop.near": "nearly the same call of {tool} gave the same answer",
    "loop.poll": "{tool} was polled too soon",
    "loop.refused": "one call after another was refused",
    "loop.repeat": "{tool} gave the same answer again",
    "loop.retry": "{tool} failed again",
    "loop.stall": "different calls of {tool} gave the same answer",
    "loop.text": "the assistant said nothing new",
}

_GUARD = {WARN: "warn", ASK: "ask", BLOCK: "block it", HALT: "halt the run"}


def story(step: TimelineStep) -> str:
    """One line about a step at which something begins.

    >>> from microloop.policy import Policy
    >>> from microloop.recorded import Step
    >>> from microloop.timeline import watch
    >>> steps = [Step("", number, "ls", {"tool": "ls", "args": {}, "result": "a.txt"}) for number in range(5)]
    >>> story(list(watch(steps, Policy.load("balanced")))[-1])
    'stalled: ls gave the same answer again, as in steps 0–3; the guard would block it'
    """
    headline = "progress" if step.verified_progress else str(step.status)
    told = [_happening(step, proof) for proof in _evidence(step)]
    return f"{headline}: {'; '.join([*told, *_guard(step)]) or 'the run gets on'}"


def _evidence(step: TimelineStep) -> Iterator[Proof]:
    """What the status rests on, and what the guard is concerned about besides."""
    yield from step.decision.evidence
    verdict = step.verdict
    if verdict is not None and step.would is not ALLOW and verdict.reason in _HAPPENED and not _is_told(verdict, step):
        yield Proof(verdict.reason, verdict.evidence)


def _is_told(verdict: Verdict, step: TimelineStep) -> bool:
    return verdict.reason in (proof.reason for proof in step.decision.evidence)


def _happening(step: TimelineStep, proof: Proof) -> str:
    if proof.reason not in _HAPPENED:
        return proof.why
    before = [number for number in proof.steps if number != step.number]
    # What still speaks for the status may be of an earlier step, with another tool.
    now = step.verdict is not None and step.verdict.reason == proof.reason
    told = _HAPPENED[proof.reason].format(tool=step.tool if now else "a tool")
    return f"{told}, as in {as_many(len(before), 'step')} {ranges(before)}" if before else told


def _guard(step: TimelineStep) -> list[str]:
    """That it would warn of what the status warns of goes without saying."""
    verdict = step.verdict
    if verdict is None or step.would is ALLOW:
        return []
    known = verdict.reason in _HAPPENED
    if known and step.would is WARN and step.status is not Status.HEALTHY:
        return []
    return [f"the guard would {_GUARD[step.would]}{'' if known else f' ({verdict.reason})'}"]


def ranges(numbers: Sequence[int]) -> str:
    """Numbers, those in a row put together.

    >>> ranges([0, 1, 2, 5, 7, 8])
    '0–2, 5, 7–8'
    """
    rows = groupby(enumerate(sorted(numbers)), key=lambda each: each[1] - each[0])
    runs = [[number for _, number in row] for _, row in rows]
    return ", ".join(f"{row[0]}–{row[-1]}" if len(row) > 1 else str(row[0]) for row in runs)

"""Traces (`tests/traces/README.md`): reading them, and what is wrong with the verdicts on one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

TRACES = Path(__file__).resolve().parent.parent / "traces"
STOPS = ("block", "halt")

Trace = dict[str, Any]


class Answer(Protocol):
    """What any implementation says about a step."""

    @property
    def action(self) -> str: ...

    @property
    def reason(self) -> str: ...


def read_all() -> list[tuple[str, Trace]]:
    """Every trace, with a name that says where it stands."""
    return [
        (f"{path.stem}: {trace['name']}", trace)
        for path in sorted(TRACES.glob("*.json"))
        for trace in json.loads(path.read_text(encoding="utf-8"))
    ]


def known_to_the_oracle(trace: Trace) -> bool:
    """The oracle judges calls; whether a run gets anywhere, on which rules with `when` depend, it does not know."""
    return '"when"' not in json.dumps(trace["policy"])


def problems(trace: Trace, answers: Sequence[Answer | None]) -> list[str]:
    """`answers` holds one for each step, None for a user turn."""
    told = [(step, answer) for step, answer in zip(trace["steps"], answers, strict=True) if answer is not None]
    calls = [answer.action for step, answer in told if "tool" in step]
    everything = [answer.action for _, answer in told]
    return [
        *(found for number, (step, answer) in enumerate(told, 1) for found in step_problems(number, step, answer)),
        *late("noticed", trace.get("noticed_by"), calls, ("warn", "ask", *STOPS)),
        *late("stopped", trace.get("stopped_by"), calls, STOPS),
        *forbidden(trace.get("never"), everything),
    ]


def step_problems(number: int, step: dict[str, Any], answer: Answer) -> Iterator[str]:
    expected = step.get("expect", answer.action)
    allowed = [expected] if isinstance(expected, str) else expected
    seen = f"{answer.action} ({answer.reason})"
    if answer.action not in allowed:
        yield f"step {number}: expected {' or '.join(allowed)}, seen {seen}"
    elif step.get("reason", answer.reason) != answer.reason:
        yield f"step {number}: expected the reason {step['reason']}, seen {seen}"


def late(word: str, by: int | None, calls: list[str], actions: tuple[str, ...]) -> Iterator[str]:
    first = next((number for number, action in enumerate(calls, 1) if action in actions), None)
    if by is not None and (first is None or first > by):
        yield f"expected to be {word} by call {by}, seen at call {first}"


def forbidden(never: str | None, actions: list[str]) -> Iterator[str]:
    harmless = {"stop": ("allow", "warn", "ask"), "notice": ("allow",), None: (*STOPS, "allow", "warn", "ask")}[never]
    for number, action in enumerate(actions, 1):
        if action not in harmless:
            yield f"expected never to {never}, seen {action} at {number}"

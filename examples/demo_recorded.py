"""A recorded real run, checked by the same guard: where would it have been stopped, and what would that have saved?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import demo_timeline as timeline
from microloop import Action

if TYPE_CHECKING:
    from microloop import Guardrail, Verdict

RECORDED = Path(__file__).parent / "data" / "recorded_run.jsonl"


def load(path: Path = RECORDED) -> list[dict[str, Any]]:
    """The steps of a run, one JSON object a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def replay(guard: Guardrail, steps: list[dict[str, Any]]) -> list[Verdict]:
    """Check each recorded call, and record what it gave back where it would have run."""
    verdicts = []
    with guard.session("recorded run") as session:
        for step in steps:
            verdict = session.check(step["tool"], step["arguments"])
            verdicts.append(verdict)
            if verdict.allowed:
                session.record(verdict, step["result"], error=step["error"] or None)
    return verdicts


def report(guard: Guardrail) -> int:
    """Print the run up to its first refusal, and what came after it. Returns the number of that step."""
    steps = load()
    verdicts = replay(guard, steps)
    stopped = next(place for place, verdict in enumerate(verdicts) if verdict.action in (Action.BLOCK, Action.HALT))
    timeline.header()
    for verdict in verdicts[: stopped + 1]:
        timeline.call(verdict)
    _say_what_it_cost(steps, stopped)
    return stopped + 1


def _say_what_it_cost(steps: list[dict[str, Any]], stopped: int) -> None:
    wasted, refused = steps[stopped:], steps[stopped]
    same = sum((step["tool"], step["arguments"]) == (refused["tool"], refused["arguments"]) for step in wasted)
    failing = sum(bool(step["error"]) for step in wasted)
    characters = sum(len(json.dumps(step["arguments"])) + len(step["result"] or "") for step in wasted)
    print(f"\nRefused at step {stopped + 1} of {len(steps)}. In reality it ran, and so did the rest:")
    print(f"{len(wasted)} calls, {same} of them this very call, {failing} of them failing;")
    print(f"{len(wasted)} requests to the model, and {characters:,} more characters in its context.")

"""Plays a trace through the oracle."""

from __future__ import annotations

import json
from typing import Any

from oracle.expectations import Trace
from oracle.session import Session
from oracle.verdict import Verdict


def text_of(result: Any) -> str:
    """A result that is not text goes as JSON."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, separators=(",", ":"))


def play(trace: Trace, policy: dict[str, Any]) -> list[Verdict | None]:
    """The verdict on each step; None for a user turn. `policy` is the resolved document."""
    session = Session(policy, trace.get("tools"), trace.get("role"))
    return [play_step(session, step, at) for at, step in clocked(trace)]


def clocked(trace: Trace) -> list[tuple[int, dict[str, Any]]]:
    """The session's clock stands still until a step says what time it is."""
    now, steps = 0, []
    for step in trace["steps"]:
        now = step.get("at", now)
        steps.append((now, step))
    return steps


def play_step(session: Session, step: dict[str, Any], now: int) -> Verdict | None:
    if "user" in step:
        session.user_turn()
        return None
    if "assistant" in step:
        return session.assistant_turn(step["assistant"])
    if "spend" in step:
        return session.spend(**step["spend"])
    before = session.steps
    verdict = session.check(step["tool"], step["args"], step.get("call_id"), step.get("batch"), now)
    if verdict.runs and verdict.step > before:
        failed = "error" in step
        session.record(verdict.step, step["error"] if failed else text_of(step.get("result")), failed=failed, now=now)
    return verdict

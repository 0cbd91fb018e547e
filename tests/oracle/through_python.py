"""Plays a trace through the Python package."""

from __future__ import annotations

from typing import Any

from microloop import Guardrail, Verdict
from oracle.expectations import Trace


def play(trace: Trace) -> list[Verdict | None]:
    """The verdict on each step; None for a user turn."""
    guard = Guardrail(policy=trace["policy"])
    for name, declared in trace.get("tools", {}).items():
        guard.tool(name, schema=declared.get("schema"))
    session = guard.session(role=trace.get("role"))
    session.set_time(0)
    try:
        return [play_step(session, step) for step in trace["steps"]]
    finally:
        session.close()


def play_step(session: Any, step: dict[str, Any]) -> Verdict | None:
    if "at" in step:
        session.set_time(step["at"])
    if "user" in step:
        session.user_turn()
        return None
    if "assistant" in step:
        said: Verdict = session.assistant_turn(step["assistant"])
        return said
    if "spend" in step:
        spent: Verdict = session.spend(**step["spend"])
        return spent
    before = session.state()["steps"]
    verdict: Verdict = session.check(step["tool"], step["args"], call_id=step.get("call_id"), batch=step.get("batch"))
    if verdict.action in ("allow", "warn", "ask") and verdict.step > before:
        record(session, verdict, step)
    return verdict


def record(session: Any, verdict: Verdict, step: dict[str, Any]) -> None:
    if "error" in step:
        session.record(verdict, error=step["error"])
    else:
        session.record(verdict, step.get("result"))

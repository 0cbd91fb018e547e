"""What a user's type checker sees of the guard, its sessions, verdicts and errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typing_extensions import assert_type

from microloop import Action, BlockedCall, Covered, Guardrail, Policy, PolicyError, Refused, Session, Verdict


def ask(verdict: Verdict) -> bool:
    """Decide at once."""
    return verdict.tool == "search"


async def ask_later(verdict: Verdict) -> bool:
    """Decide in time."""
    return ask(verdict)


Guardrail()
Guardrail("balanced", ask=ask, role="reader")
Guardrail(Path("mine.yaml"), ask=ask_later, on_block="return")
Guardrail({"version": 1, "budgets": {"calls": 5}})
Guardrail(Policy(cooldown_steps=5))
Guardrail(5)  # type: ignore[arg-type]

guard = Guardrail()
verdict = guard.check("search", {"q": "cats"}, call_id="1", batch="turn-1")
assert_type(verdict, Verdict)
assert_type(verdict.action, Action)
assert_type(verdict.reason, str)
assert_type(verdict.evidence, tuple[int, ...])
assert_type(verdict.feedback, str)
assert_type(verdict.allowed, bool)
assert_type(verdict.would, "Action | None")
verdict.action = Action.BLOCK  # type: ignore[misc]

guard.check("search", '{"q": "cats"}')
guard.check("search", ["cats"])  # type: ignore[arg-type]
guard.record(verdict, "three results")
guard.record(verdict, error=TimeoutError("no answer"))
guard.record(verdict, error="TimeoutError: no answer")
guard.record(verdict, error=5)  # type: ignore[arg-type]

with guard.session("run-7", role="reader") as session:
    assert_type(session, Session)
    assert_type(session.child("sub"), Session)
    assert_type(session.assistant_turn("hello"), Verdict)
    assert_type(session.state(), dict[str, Any])
    assert_type(session.last_verdict, "Verdict | None")


async def main() -> None:
    """Enter a session in async code."""
    async with guard.session() as entered:
        assert_type(entered, Session)
        assert_type(await guard.apermits(verdict), bool)


assert_type(guard.coverage(), list[Covered])
assert_type(guard.policy, Policy)

try:
    guard.check("search", {})
except BlockedCall as refused:
    assert_type(refused.verdict, Verdict)
except Refused as refused:
    assert_type(refused.verdict.evidence, tuple[int, ...])
except PolicyError as fault:
    assert_type(fault.line, "int | None")

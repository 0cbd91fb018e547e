"""How a call is answered in the hooks of Claude Code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from microloop.adapters._claude.responses import Failure
from microloop.adapters._gate.calls import Decision, Entry
from microloop.adapters._gate.distant import DistantGate
from microloop.verdict import Action, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from microloop.guardrail import Guardrail
    from microloop.session import Session


class ClaudeGate(DistantGate):
    """Answers with permission decisions. What is native to an entry is the hook's output for a call that may run."""

    def __init__(self, guard: Guardrail, hook: str, *, on_verdict: Callable[[Verdict], None] | None) -> None:
        super().__init__(guard, hook, on_verdict=on_verdict)
        self._seen: WeakKeyDictionary[Session, set[str]] = WeakKeyDictionary()

    def answer(self, entry: Entry, text: str) -> dict[str, Any]:
        """A denial. After a halt, Claude Code lets the other calls of the turn finish and asks the model no more."""
        denial = _permission("deny", text)
        if entry.verdict.action is Action.HALT:
            return {**denial, "continue_": False, "stopReason": text}
        return denial

    def schema_of(self, tool: Any) -> Mapping[str, Any] | None:
        """Hooks do not show schemas; Claude Code has checked the arguments before it calls them."""
        del tool
        return None

    def outcome_of(self, entry: Entry, result: Any) -> tuple[Any, BaseException | str | None]:
        """What a hook was told of the call."""
        del entry
        return (None, result.text) if isinstance(result, Failure) else (result, None)

    async def adecide(self, entry: Entry) -> Decision:
        """Lets Claude Code ask, by `can_use_tool` or its own prompt, unless the guard has somebody to ask."""
        if entry.verdict.action is not Action.ASK or self.guard.ask is not None:
            return await super().adecide(entry)
        entry.native.update(_permission("ask", entry.verdict.feedback))
        return Decision(approved=True)

    def seen(self, session: Session) -> set[str]:
        """The ids of this turn's calls that a hook was asked about."""
        with self._lock:
            return self._seen.setdefault(session, set())


def _permission(decision: str, reason: str) -> dict[str, Any]:
    output = {"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason}
    return {"hookSpecificOutput": output}

"""What the guard does in each hook of Claude Code.

A turn of the model begins with `PreToolUse` for each of its calls, perhaps side by side, goes on with `PostToolUse` or
`PostToolUseFailure` for those that ran, and ends with `PostToolBatch`, which shows every call with its answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from microloop.adapters._claude.gate import ClaudeGate
from microloop.adapters._claude.responses import Failure, outcome_of
from microloop.adapters._gate.calls import Call
from microloop.adapters._gate.halting import halt_of
from microloop.adapters._gate.notes import notes_of
from microloop.adapters._gate.sessions import child_of, session_of
from microloop.adapters._gate.unrun import judge_unrun

if TYPE_CHECKING:
    from collections.abc import Callable

    from microloop.guardrail import Guardrail
    from microloop.session import Session
    from microloop.verdict import Verdict

Input = dict[str, Any]
Output = dict[str, Any]


class Hooks:
    """The callbacks of one guard, each with the signature that the SDK calls hooks by."""

    def __init__(self, guard: Guardrail, on_verdict: Callable[[Verdict], None] | None) -> None:
        self._guard = guard
        self._gate = ClaudeGate(guard, "PreToolUse", on_verdict=on_verdict)

    async def user_prompt_submit(self, data: Input, _id: str | None, _context: Any) -> Output:
        """The person has spoken."""

        def hear() -> None:
            session = self._session(data)
            session.user_turn()
            notes_of(session).next_turn()

        self._gate.unless_faulty(hear)
        return {}

    async def pre_tool_use(self, data: Input, tool_use_id: str | None, _context: Any) -> Output:
        """Check."""
        name, output = data["tool_name"], Output()
        answer: Output | None = await self._gate.abefore(
            _key(data, tool_use_id),
            name,
            tool_use_id,
            lambda: self._call(data, name, tool_use_id, data["tool_input"]),
            output,
        )
        return output if answer is None else answer

    async def post_tool_use(self, data: Input, tool_use_id: str | None, _context: Any) -> Output:
        """Record a result."""
        return self._record(data, tool_use_id, outcome_of(data.get("tool_response")))

    async def post_tool_use_failure(self, data: Input, tool_use_id: str | None, _context: Any) -> Output:
        """Record an error. A person's interrupt says nothing about the call."""
        if data.get("is_interrupt"):
            self._gate.dropped(_key(data, tool_use_id))
            return {}
        return self._record(data, tool_use_id, Failure(str(data.get("error"))))

    async def post_tool_batch(self, data: Input, _id: str | None, _context: Any) -> Output:
        """All calls of the turn are answered. A halted run ends here, before the model is asked again."""
        return self._gate.unless_faulty(lambda: self._end_of_turn(data)) or {}

    async def stop(self, data: Input, _id: str | None, _context: Any) -> Output:
        """The model has spoken without calling a tool."""
        text = data.get("last_assistant_message")
        if text is not None:
            self._gate.unless_faulty(lambda: self._gate.tell(self._session(data).assistant_turn(text)))
        return {}

    def _record(self, data: Input, call_id: str | None, outcome: Any) -> Output:
        return _told(data, self._gate.advice_after(_key(data, call_id), outcome))

    def _end_of_turn(self, data: Input) -> Output:
        session = self._session(data)
        advice = [self._closed(session, data, each) for each in data["tool_calls"]]
        notes_of(session).next_turn()
        self._gate.seen(session).clear()
        halt = halt_of(session)
        if halt is not None:
            return {"continue_": False, "stopReason": halt.feedback}
        return _told(data, *advice)

    def _closed(self, session: Session, data: Input, each: Input) -> str | None:
        """Closes a call that is still open: denied by a person or a rule, or answered before any hook was asked."""
        call_id, answer = each["tool_use_id"], outcome_of(each.get("tool_response"))
        if call_id in self._gate.seen(session):
            return self._gate.advice_after(_key(data, call_id), answer)
        judge_unrun(self._gate, self._call(data, each["tool_name"], call_id, each["tool_input"]), str(answer))
        return None

    def _call(self, data: Input, name: str, call_id: str | None, arguments: Any) -> Call:
        session = self._session(data)
        notes = notes_of(session)
        if notes.batch is None:
            notes.next_turn()
        if call_id is not None:
            self._gate.seen(session).add(call_id)
        self._guard.covers(name, "PreToolUse")
        return Call(session, name, arguments, call_id, key=call_id, batch=notes.batch)

    def _session(self, data: Input) -> Session:
        session = session_of(self._guard, data["session_id"])
        agent = data.get("agent_id")
        return session if agent is None else child_of(session, f"{session.id}/{agent}")


def _key(data: Input, call_id: str | None) -> tuple[Any, ...]:
    return data["session_id"], data.get("agent_id"), call_id


def _told(data: Input, *advice: str | None) -> Output:
    text = "\n\n".join(filter(None, advice))
    output = {"hookEventName": data["hook_event_name"], "additionalContext": text}
    return {"hookSpecificOutput": output} if text else {}

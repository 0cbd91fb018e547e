"""Claude Code: https://code.claude.com/docs/en/hooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from microloop.hook.event import ERROR, Answer, Decision, Event, Kind, Outcome
from microloop.hook.payload import Payload, UnknownEvent, json_bytes, optional_text, result, text

_KINDS: Mapping[str, Kind] = {
    "PreToolUse": "before",
    "PostToolUse": "after",
    "PostToolUseFailure": "after",
    "UserPromptSubmit": "prompt",
    "Stop": "answer",
    "SessionStart": "begins",
    "SessionEnd": "ends",
}
_GOES_ON = ("resume", "compact")


def read(payload: Payload) -> Event | None:
    """The event of a payload; None for a session that goes on, of which there is nothing to note."""
    name = text(payload, "hook_event_name")
    kind = _KINDS.get(name)
    if kind is None:
        raise UnknownEvent(name)
    if kind == "begins" and payload.get("source") in _GOES_ON:
        return None
    event = Event(kind, name, text(payload, "session_id"), optional_text(payload, "agent_id"))
    if kind == "answer":
        return event._replace(text=optional_text(payload, "last_assistant_message"))
    return _with_call(event, payload) if kind in ("before", "after") else event


def _with_call(event: Event, payload: Payload) -> Event:
    return event._replace(
        tool=text(payload, "tool_name"),
        arguments=json_bytes(payload.get("tool_input") or {}),
        call_id=optional_text(payload, "tool_use_id") or None,
        outcome=_outcome(event.name, payload) if event.kind == "after" else None,
    )


def _outcome(name: str, payload: Payload) -> Outcome | None:
    if name != "PostToolUseFailure":
        return result(payload.get("tool_response"))
    if payload.get("is_interrupt") is True:
        return None  # the person stopped it: that says nothing about the call
    return Outcome(ERROR, str(payload.get("error") or "error").encode("utf-8", "replace"))


def answer(event: Event, decision: Decision) -> Answer:
    """What Claude Code is told; nothing for a plain yes, which leaves its own permissions as they are."""
    action, feedback = decision
    stop = {"continue": False, "stopReason": feedback}
    if event.kind == "answer":
        return stop if action in ("block", "halt") else None
    if action == "warn":
        return specific(event, additionalContext=feedback)
    if action == "ask":
        return specific(event, permissionDecision="ask", permissionDecisionReason=feedback)
    if action == "block":
        return denied(event, feedback)
    return {**stop, **denied(event, feedback)} if action == "halt" else None


def denied(event: Event, feedback: str) -> Mapping[str, Any]:
    """The call is refused, and the model is told why."""
    return specific(event, permissionDecision="deny", permissionDecisionReason=feedback)


def specific(event: Event, **fields: Any) -> Mapping[str, Any]:
    """An answer that belongs to this event."""
    return {"hookSpecificOutput": {"hookEventName": event.name, **fields}}

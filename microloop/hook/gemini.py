"""Gemini CLI: https://geminicli.com/docs/hooks/reference."""

from __future__ import annotations

from collections.abc import Mapping

from microloop.hook.event import ERROR, Answer, Decision, Event, Kind, Outcome
from microloop.hook.payload import Payload, UnknownEvent, json_bytes, optional_text, result, text

_KINDS: Mapping[str, Kind] = {
    "BeforeTool": "before",
    "AfterTool": "after",
    "BeforeAgent": "prompt",
    "AfterAgent": "answer",
    "SessionStart": "begins",
    "SessionEnd": "ends",
}


def read(payload: Payload) -> Event | None:
    """The event of a payload; None for a session that goes on, of which there is nothing to note."""
    name = text(payload, "hook_event_name")
    kind = _KINDS.get(name)
    if kind is None:
        raise UnknownEvent(name)
    if kind == "begins" and payload.get("source") == "resume":
        return None
    event = Event(kind, name, text(payload, "session_id"))
    if kind == "answer":
        return event._replace(text=optional_text(payload, "prompt_response"))
    return _with_call(event, payload) if kind in ("before", "after") else event


def _with_call(event: Event, payload: Payload) -> Event:
    return event._replace(
        tool=text(payload, "tool_name"),
        arguments=json_bytes(payload.get("tool_input") or {}),
        outcome=_outcome(payload.get("tool_response")) if event.kind == "after" else None,
    )


def _outcome(response: object) -> Outcome:
    if not isinstance(response, dict):
        return result(response)
    if response.get("error"):
        return Outcome(ERROR, json_bytes(response["error"]))
    # What is shown to the person beside it may differ each time.
    return result(response.get("llmContent", response))


def answer(event: Event, decision: Decision) -> Answer:
    """What Gemini CLI is told. Only after a call does advice reach the model."""
    action, feedback = decision
    stop = {"continue": False, "stopReason": feedback}
    if event.kind == "answer":
        return stop if action in ("block", "halt") else None
    if action == "warn":
        return {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": feedback}}
    if action == "ask":
        return {"decision": "ask", "systemMessage": feedback}
    denied = {"decision": "deny", "reason": feedback}
    if action == "block":
        return denied
    return {**stop, **denied} if action == "halt" else None

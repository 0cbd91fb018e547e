"""Which agent speaks, and how it is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import NamedTuple

from microloop.hook.event import Answer, Decision, Event
from microloop.hook.payload import Payload, PayloadError

_MODULES: Mapping[str, str] = {
    "claude-code": "microloop.hook.claude_code",
    "codex": "microloop.hook.codex",
    "gemini": "microloop.hook.gemini",
}
NAMES = tuple(_MODULES)
_GEMINI = ("BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent")
_OTHERS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop")


class Dialect(NamedTuple):
    """How one agent's payloads are read, and how it is answered."""

    read: Callable[[Payload], Event | None]
    answer: Callable[[Event, Decision], Answer]
    advises_late: bool
    """Whether advice reaches the model only after the call."""


def dialect_of(payload: Payload, given: str | None = None) -> Dialect:
    """The dialect of a payload, unless it is given.

    >>> dialect_of({"hook_event_name": "BeforeTool"}).advises_late
    True
    """
    name = given or _spoken(payload)
    event = payload.get("hook_event_name")
    if event in (_OTHERS if name == "gemini" else _GEMINI):
        raise PayloadError(f"the dialect is {name}, which has no event {event}")
    module = import_module(_MODULES[name])
    return Dialect(module.read, module.answer, advises_late=name == "gemini")


def _spoken(payload: Payload) -> str:
    # Where a session starts or ends, Gemini CLI has the same names as the others, but says at what time.
    if payload.get("hook_event_name") in _GEMINI or "timestamp" in payload:
        return "gemini"
    return "codex" if "turn_id" in payload or "model" in payload else "claude-code"

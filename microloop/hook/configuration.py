"""The settings that make an agent run the hook, to be pasted into its own file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

_EVENTS: Mapping[str, Sequence[str]] = {
    "claude-code": (
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "UserPromptSubmit",
        "Stop",
        "SessionStart",
        "SessionEnd",
    ),
    "codex": ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SessionStart"),
    "gemini": ("BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "SessionStart", "SessionEnd"),
}
# Longer than the hook ever waits. Gemini CLI counts in milliseconds.
_TIMEOUT = {"claude-code": 10, "codex": 10, "gemini": 10_000}


def configuration(agent: str, command: str) -> str:
    """The settings of an agent, as JSON.

    >>> '"BeforeTool"' in configuration("gemini", "microloop hook")
    True
    """
    hook: dict[str, Any] = {"type": "command", "command": command, "timeout": _TIMEOUT[agent]}
    return json.dumps({"hooks": {event: [{"hooks": [hook]}] for event in _EVENTS[agent]}}, indent=2)

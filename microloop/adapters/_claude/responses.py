"""What the hooks of Claude Code are told of a tool's response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# The built-in tools say how long they took, and the same search twice would look like two different results.
_TIMES = frozenset({"durationMs", "durationSeconds", "totalDurationMs"})


@dataclass(frozen=True, slots=True)
class Failure:
    """The tool failed."""

    text: str


def outcome_of(response: Any) -> Any:
    """A response without what differs each time; texts of MCP as text.

    >>> outcome_of({"filenames": [], "durationMs": 12})
    {'filenames': []}
    >>> outcome_of([{"type": "text", "text": "nothing found"}])
    'nothing found'
    """
    if isinstance(response, dict):
        return {key: value for key, value in response.items() if key not in _TIMES}
    if isinstance(response, list) and all(isinstance(each, dict) and each.get("type") == "text" for each in response):
        return "\n".join(str(each.get("text")) for each in response)
    return response

"""Rules whose pattern needs look-around or backreferences: checked here, under a time limit, after the core's own."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from microloop._policy.argument_path import ABSENT, parse_path, values_at
from microloop._policy.globs import matches_any

if TYPE_CHECKING:
    import regex

TIME_LIMIT = 0.1


@dataclass(frozen=True, slots=True)
class SlowRule:
    """One rule that the core's linear-time patterns cannot express.

    `tools` are the names it is about; `unless` those for which a later rule of the same id took its place.
    """

    tools: tuple[str, ...]
    id: str
    kind: Literal["deny", "require", "ask"]
    path: str
    pattern: str
    conditions: Mapping[str, Any]
    message: str | None = None
    unless: tuple[str, ...] = ()

    def applies_to(self, tool: str) -> bool:
        """Whether this rule is about a tool."""
        return matches_any(self.tools, tool) and not matches_any(self.unless, tool)

    def fires(self, arguments: object) -> bool:
        """Whether the arguments break the rule. TimeoutError if the pattern takes longer than `TIME_LIMIT` seconds."""
        deadline = time.monotonic() + TIME_LIMIT
        wanted = self.kind != "require"
        values = values_at(arguments, parse_path(self.path))
        return any(self._holds(value, deadline) is wanted for value in values)

    def _holds(self, value: object, deadline: float) -> bool:
        if value is ABSENT:
            return False
        plain = {name: wanted for name, wanted in self.conditions.items() if name != "regex"}
        return all(_CONDITIONS[name](value, wanted) for name, wanted in plain.items()) and self._found(value, deadline)

    def _found(self, value: object, deadline: float) -> bool:
        if not isinstance(value, str):
            return False
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"rule {self.id} took longer than {TIME_LIMIT} s")
        return compiled(self.pattern).search(value, timeout=left) is not None


@cache
def compiled(pattern: str) -> regex.Pattern[str]:
    """A pattern of the `regex` package."""
    import regex

    return regex.compile(pattern)


def same_json(left: object, right: object) -> bool:
    """Equality of JSON values: 1 is 1.0, but true is not 1.

    >>> same_json([1, {"a": True}], [1.0, {"a": True}]), same_json(True, 1)
    (True, False)
    """
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_json(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    return left == right


def _in_range(value: object, wanted: Mapping[str, float]) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return wanted.get("min", value) <= value <= wanted.get("max", value)


_CONDITIONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "equals": same_json,
    "one_of": lambda value, wanted: any(same_json(value, choice) for choice in wanted),
    "range": _in_range,
    "max_length": lambda value, wanted: isinstance(value, (str, list, dict)) and len(value) <= wanted,
}

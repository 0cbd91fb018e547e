"""The tools that a guard knows: their index in the native policy, and what Python itself looks after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from microloop import _native

if TYPE_CHECKING:
    from microloop._policy.slow_rule import SlowRule
    from microloop.policy import Policy


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it was declared."""

    name: str
    index: int
    on_error: str
    slow_rules: tuple[SlowRule, ...]


class Toolbox:
    """Declares tools in a native policy."""

    __slots__ = ("_by_name", "_handle", "_on_error", "_policy")

    def __init__(self, policy: Policy, handle: int) -> None:
        self._policy = policy
        self._handle = handle
        self._by_name: dict[str, Tool] = {}
        self._on_error = [entry for entry in policy.document.get("tools") or () if "on_error" in entry]

    def declare(self, name: str, schema: Mapping[str, Any] | None) -> Tool:
        """A tool with the JSON Schema of its arguments; later calls by that name are held to the latest schema."""
        declaration = {"name": name} if schema is None else {"name": name, "schema": schema}
        index = _native.declare_tool(self._handle, msgspec.json.encode(declaration))
        slow_rules = tuple(rule for rule in self._policy.slow_rules if rule.applies_to(name))
        tool = Tool(name, index, self._on_error_of(name), slow_rules)
        self._by_name[name] = tool
        return tool

    def find(self, name: str) -> Tool:
        """A tool by its name; one that nobody declared has no schema of its own."""
        return self._by_name.get(name) or self.declare(name, None)

    def _on_error_of(self, name: str) -> str:
        from microloop._policy.globs import matches_any, names_of_entry

        matching = [str(entry["on_error"]) for entry in self._on_error if matches_any(names_of_entry(entry), name)]
        return matching[-1] if matching else self._policy.on_error

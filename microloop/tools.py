"""The tools that a guard knows: their index in the native policy, and what Python itself looks after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from microloop import _native
from microloop.encoding import error_text
from microloop.given import check_text
from microloop.log import logger

if TYPE_CHECKING:
    from microloop._policy.slow_rule import SlowRule
    from microloop.policy import Policy

BY_NAME = -1
"""In place of an index: nobody declared the tool, and the core knows it by its name."""
# A model can make up names without end: no more of them are kept, and none that is longer.
_MOST_NAMED = 1024
_LONGEST_NAMED = 256
_MOST_UNUSABLE = 4096
# What is wrong with a schema goes to the model, and the schema came from somebody else.
_LONGEST_REASON = 300


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it was declared, or as it was called."""

    name: str
    index: int
    on_error: str
    slow_rules: tuple[SlowRule, ...] = ()
    unusable: str = ""
    """What is wrong with its schema, where that cannot be used: its calls follow `on_error`."""
    has_schema: bool = False


class Toolbox:
    """Declares tools in a native policy."""

    __slots__ = ("_by_name", "_handle", "_named", "_on_error", "_policy", "_told", "_unusable")

    def __init__(self, policy: Policy, handle: int) -> None:
        self._policy = policy
        self._handle = handle
        self._by_name: dict[str, Tool] = {}
        self._named: dict[str, Tool] = {}
        self._unusable: dict[str, Tool] = {}
        self._told: dict[tuple[str, str], None] = {}
        self._on_error = [entry for entry in policy.document.get("tools") or () if "on_error" in entry]

    def declare(self, name: str, schema: Mapping[str, Any] | None) -> Tool:
        """A tool with the JSON Schema of its arguments; later calls by that name are held to the latest schema."""
        index = _native.declare_tool(self._handle, _declaration(name, schema))
        tool = self._by_name[name] = replace(self._tool(name, index), has_schema=schema is not None)
        self._unusable.pop(name, None)
        return tool

    def undeclarable(self, name: str, error: Exception) -> None:
        """A tool that could not be declared. Said once, not each time that it is listed.

        Where another tool of that name has a schema that can be used, both are held to that one.
        """
        before = self._by_name.get(name)
        reason = " ".join(error_text(error).split())[:_LONGEST_REASON]
        if before is None or not before.has_schema:
            self._by_name.pop(name, None)
            _keep(self._unusable, name, self._tool(name, BY_NAME, reason))
        if (name, reason) not in self._told:
            _keep(self._told, (name, reason), None)
            on_error = self._on_error_of(name)
            logger().error("the schema of %s cannot be used (on_error: %s)", name, on_error, exc_info=error)

    def find(self, name: str) -> Tool:
        """A tool by its name; one that nobody declared has no schema of its own."""
        return self._by_name.get(name) or self._unusable.get(name) or self._named.get(name) or self._met(name)

    def _met(self, name: str) -> Tool:
        tool = self._tool(name, BY_NAME)
        if len(self._named) < _MOST_NAMED and len(name) <= _LONGEST_NAMED:
            self._named[name] = tool
        return tool

    def _tool(self, name: str, index: int, unusable: str = "") -> Tool:
        slow_rules = tuple(rule for rule in self._policy.slow_rules if rule.applies_to(name))
        return Tool(name, index, self._on_error_of(name), slow_rules, unusable)

    def _on_error_of(self, name: str) -> str:
        from microloop._policy.globs import matches_any, names_of_entry

        matching = [str(entry["on_error"]) for entry in self._on_error if matches_any(names_of_entry(entry), name)]
        return matching[-1] if matching else self._policy.on_error


def _keep(kept: dict[Any, Any], key: object, value: object) -> None:
    """Adds an entry, and lets go of the oldest of very many: whoever lists a tool again adds it again."""
    kept[key] = value
    if len(kept) > _MOST_UNUSABLE:
        del kept[next(iter(kept))]


def _declaration(name: str, schema: Mapping[str, Any] | None) -> bytes:
    check_text("name", name, "pass the name that the model calls the tool by")
    try:
        return msgspec.json.encode({"name": name} if schema is None else {"name": name, "schema": schema})
    except TypeError as error:
        raise TypeError(f"the schema of {name} must be JSON: {error}; pass plain mappings, lists and texts") from None

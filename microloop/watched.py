"""A policy as monitors watch by it, and the steps of a run in its terms."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from microloop import _native
from microloop._native import lib
from microloop.encoding import JSON, TEXT, encode, outcome_json, text_bytes
from microloop.policy import Policy

_TEXT = "action"
"""The tool that an action without a tool's name is."""
_MOST_TOOLS = 256
"""A model can make up names without end; the actions of more tools are told apart by their text alone."""

Step: TypeAlias = "tuple[int, bytes, int, bytes, tuple[str, ...]]"
"""The tool's index, the arguments, the kind and the bytes of the outcome, and what could not be read as it is."""


class Watched:
    """A native policy that only observes, and its tools."""

    __slots__ = ("__weakref__", "_tools", "handle", "text")

    def __init__(self, document: bytes) -> None:
        self.handle = _native.new_policy(document)
        weakref.finalize(self, lib.microloop_policy_free, self.handle)
        self._tools: dict[str, int] = {}
        self.text = self._declare(_TEXT)
        """The index of the tool that an action without a tool's name is."""

    def step(self, action: object, observation: object) -> Step:
        """A step in any form. What the core cannot read it compares as it stands."""
        if action.__class__ is observation.__class__ is str:
            try:
                return self.text, encode(action), TEXT, observation.encode(), ()
            except UnicodeEncodeError:
                pass  # below, each for itself
        index, arguments, readable = self._call(action)
        kind, outcome, whole = _observed(observation)
        unread = () if readable and whole else (("action",) * (not readable) + ("observation",) * (not whole))
        return index, arguments, kind, outcome, unread

    def _call(self, action: object) -> tuple[int, bytes, bool]:
        if isinstance(action, Mapping):
            name, arguments = _parts(action)
            if name and (name in self._tools or len(self._tools) < _MOST_TOOLS):
                return self._declare(name), *_argument(arguments)
        return self.text, *_argument(action)

    def _declare(self, name: str) -> int:
        index = self._tools.get(name)
        if index is None:
            declaration = encode({"name": text_bytes(name).decode()})
            index = self._tools[name] = _native.declare_tool(self.handle, declaration)
        return index


_known: weakref.WeakValueDictionary[bytes, Watched] = weakref.WeakValueDictionary()


def watched(policy: Policy) -> Watched:
    """The native policy of all monitors with this policy."""
    document = msgspec.json.encode(watching(policy))
    found = _known.get(document)
    if found is None:
        found = _known[document] = Watched(document)
    return found


def watching(policy: Policy) -> dict[str, Any]:
    """A policy as a monitor needs it: nothing can be refused any more.

    >>> watching(Policy(budgets={"calls": 3}))["mode"]
    'observe'
    """
    return {**msgspec.json.decode(policy.native_json), "mode": "observe"}


def _parts(action: Mapping[Any, Any]) -> tuple[str, object]:
    """The tool's name and the arguments; no name if this is no call of a tool."""
    try:
        name, arguments = action.get("tool", action.get("name")), action.get("arguments", action.get("args"))
    except Exception:  # noqa: BLE001 - a mapping of the host that cannot be asked is compared as it stands
        return "", None
    return (name, arguments) if isinstance(name, str) and arguments is not None else ("", None)


def _argument(value: object) -> tuple[bytes, bool]:
    """A value as JSON, and whether it could be read as it is."""
    try:
        return encode(value), True
    except UnicodeEncodeError:
        if isinstance(value, str):
            return encode(text_bytes(value).decode()), False
        return outcome_json(value)[1], False
    except Exception:  # noqa: BLE001 - whatever the host's object does while it is read must not reach the host
        return outcome_json(value)[1], False


def _observed(value: object) -> tuple[int, bytes, bool]:
    """What came back, as kind and bytes, and whether it could be read as it is."""
    if value.__class__ is str or value is None:
        return _text(value or "")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return TEXT, bytes(value), True
    data, readable = _argument(value)
    return (JSON if readable else TEXT), data, readable


def _text(value: Any) -> tuple[int, bytes, bool]:
    try:
        return TEXT, value.encode(), True
    except UnicodeEncodeError:
        return TEXT, text_bytes(value), False

"""A policy given as a Python mapping, to the same tree (without lines and columns)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum

from microloop._policy.fault import fault
from microloop._policy.nodes import Mark, Node, Path, Value, spell
from microloop._policy.yaml_reader import MAX_DEPTH

_NOWHERE = Mark()


def read_mapping(value: object, path: Path = ()) -> Node:
    """Copy a value into nodes; what JSON cannot say is refused with its path."""
    if len(path) > MAX_DEPTH:
        raise fault(f"{spell(path[:3])}…: nested deeper than {MAX_DEPTH} levels; flatten the document", _NOWHERE)
    if isinstance(value, Mapping):
        return _mapping(value, path)
    if isinstance(value, (list, tuple)):
        return Node([read_mapping(item, (*path, index)) for index, item in enumerate(value)], _NOWHERE)
    return Node(_scalar(value, path), _NOWHERE)


def _mapping(value: Mapping[object, object], path: Path) -> Node:
    children: dict[str, Node] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise fault(f"{spell(path)}: keys must be text; found {key!r}", _NOWHERE)
        children[key] = read_mapping(item, (*path, key))
    return Node(children, _NOWHERE, dict.fromkeys(children, _NOWHERE))


def _scalar(value: object, path: Path) -> Value:
    if isinstance(value, Enum):
        return _scalar(value.value, path)
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    kind = type(value).__name__
    message = f"{spell(path)}: a policy holds text, finite numbers, true, false, null, lists and mappings; found {kind}"
    raise fault(message, _NOWHERE)

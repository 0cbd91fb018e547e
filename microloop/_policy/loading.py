"""From a name, a path or a mapping to a document that guard and core can work with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from microloop._policy.extends import Origin, read_document, read_reference, resolve
from microloop._policy.mapping_reader import read_mapping
from microloop._policy.meaning import meaning_faults
from microloop._policy.merge import without_nulls
from microloop._policy.names import looks_like_path, policy_names
from microloop._policy.nodes import Mark, Node, plain
from microloop._policy.schema import validate
from microloop._policy.slow_rule import SlowRule
from microloop._policy.slow_split import split

_FIRST = ("version", "name", "description")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A resolved document, the part the core takes, and the rules that stay in Python."""

    document: dict[str, Any]
    native_json: bytes
    slow_rules: tuple[SlowRule, ...]


def load_named(reference: str) -> Loaded:
    """The policy that a text means: the path of a file, or a name."""
    if looks_like_path(reference):
        return load_path(Path(reference))
    return _load_shipped(reference)


@lru_cache(maxsize=16)
def _load_shipped(name: str) -> Loaded:
    """Policies that ship with the package do not change while the process runs."""
    return load_tree(finished(resolve(*read_reference(name, None, Mark()))), name)


def load_path(path: Path) -> Loaded:
    """The policy in a file."""
    return load_tree(finished(resolve(*read_document(path))), path.name.split(".")[0])


def load_mapping(source: Mapping[str, Any]) -> Loaded:
    """The policy in a Python mapping; a path in its `extends` is relative to the working directory."""
    node = read_mapping(source)
    return load_tree(finished(resolve(node, Origin("mapping", Path()))), "custom")


def finished(node: Node) -> Node:
    """A merged tree without what was switched off, checked as a whole."""
    whole = without_nulls(node)
    validate(whole)
    for fault in meaning_faults(whole):
        raise fault
    return whole


def load_tree(root: Node, name: str) -> Loaded:
    """The tree as documents for guard and core."""
    document = {"name": name, **plain(root)}
    ordered = {key: document[key] for key in _FIRST if key in document} | document
    native, slow_rules = split(ordered, root)
    return Loaded(ordered, json.dumps(native, ensure_ascii=False).encode(), slow_rules)


def is_name(reference: str) -> bool:
    """Whether a reference is one of the policies that ship with the package."""
    return reference in policy_names()

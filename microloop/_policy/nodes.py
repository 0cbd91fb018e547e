"""A policy document as a tree that remembers where each value was written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Value: TypeAlias = "dict[str, Node] | list[Node] | str | int | float | bool | None"
Path: TypeAlias = "tuple[str | int, ...]"


@dataclass(frozen=True, slots=True)
class Mark:
    """Where something stands: a file (or what to call it) and, for text, line and column from 1."""

    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        parts = [self.file or "policy", self.line, self.column]
        return ":".join(str(part) for part in parts if part is not None)


@dataclass(frozen=True, slots=True)
class Node:
    """One value of the document, where it stands, and (for a mapping) where each key stands."""

    value: Value
    mark: Mark
    keys: dict[str, Mark] = field(default_factory=dict)

    def child(self, step: str | int) -> Node | None:
        """The value below `step`, or None where there is none."""
        if isinstance(self.value, dict) and isinstance(step, str):
            return self.value.get(step)
        if isinstance(self.value, list) and isinstance(step, int) and step < len(self.value):
            return self.value[step]
        return None

    def items(self) -> Iterator[tuple[str, Node]]:
        """Key and value of a mapping; nothing for anything else."""
        if isinstance(self.value, dict):
            yield from self.value.items()

    def elements(self) -> Iterator[Node]:
        """The elements of a list; nothing for anything else."""
        if isinstance(self.value, list):
            yield from self.value


def plain(node: Node) -> Any:
    """The tree as plain Python values, as `json` would give them."""
    if isinstance(node.value, dict):
        return {key: plain(child) for key, child in node.value.items()}
    if isinstance(node.value, list):
        return [plain(child) for child in node.value]
    return node.value


def find(node: Node, path: Sequence[str | int]) -> Node:
    """The deepest node on `path`, so that an error about something absent points at its parent."""
    for step in path:
        child = node.child(step)
        if child is None:
            return node
        node = child
    return node


def spell(path: Sequence[str | int]) -> str:
    """A path as people write it.

    >>> spell(("tools", 0, "loops", "repeat"))
    'tools[0].loops.repeat'
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text or "the document"

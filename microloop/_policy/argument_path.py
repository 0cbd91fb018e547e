"""Paths into a call's arguments: `sql`, `files[0].name`, `files[*].path`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TypeAlias

Step: TypeAlias = "str | int | None"
ABSENT: object = object()
MAX_PARTS = 32
_STEP = re.compile(r"(?:^|(?<=.)\.)(?!\*(?:[.\[]|$))([^.\[\]]+)|\[(\d{1,9}|\*)\]", re.DOTALL)


@cache
def parse_path(path: str) -> tuple[Step, ...]:
    """Steps of a path: a key, an index, or None for `[*]`. ValueError where it is not a path.

    >>> parse_path("files[*].name")
    ('files', None, 'name')
    """
    steps: list[Step] = []
    end = 0
    while end < len(path):
        found = _STEP.match(path, end)
        if found is None:
            raise ValueError(f"cannot be read from character {end + 1} on")
        key, index = found.groups()
        steps.append(key if key is not None else None if index == "*" else int(index))
        end = found.end()
    if not steps:
        raise ValueError("is empty")
    if len(steps) > MAX_PARTS:
        raise ValueError(f"has {len(steps)} parts, more than {MAX_PARTS}")
    return tuple(steps)


def values_at(value: object, steps: tuple[Step, ...]) -> Iterator[object]:
    """What the path leads to: `ABSENT` where there is nothing, and no value at all for `[*]` of an empty list."""
    if not steps:
        yield value
        return
    step, rest = steps[0], steps[1:]
    if step is None and isinstance(value, list):
        for item in value:
            yield from values_at(item, rest)
        return
    child = _child(value, step)
    if child is ABSENT:
        yield ABSENT
    else:
        yield from values_at(child, rest)


def _child(value: object, step: Step) -> object:
    if isinstance(value, dict) and isinstance(step, str):
        return value.get(step, ABSENT)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return ABSENT

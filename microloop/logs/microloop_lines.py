"""microloop's own recordings: one step a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from microloop.logs.fields import mapping
from microloop.logs.values import Read
from microloop.recorded import BrokenLine, Line, step_of

_OTHERS_KEYS = ("type", "role", "kind")


def recognises(document: Any) -> bool:
    """A tool, or what was said, by name."""
    step = mapping(document)
    said = (step.get(key) for key in ("tool", "user", "assistant"))
    return any(isinstance(each, str) for each in said) and not any(key in step for key in _OTHERS_KEYS)


def steps(values: Iterable[Read]) -> Iterator[Line]:
    """One step of each value."""
    counts: dict[str, int] = {}
    for value in values:
        if isinstance(value, BrokenLine):
            yield value
            continue
        try:
            yield step_of(value.data, counts)
        except (ValueError, OverflowError) as error:
            yield BrokenLine(value.line, str(error))

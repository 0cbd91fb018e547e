"""Durations as policies write them."""

from __future__ import annotations

import re

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)")


def seconds(value: object) -> float:
    """A duration in seconds; 0 for null.

    >>> seconds("500ms"), seconds("2h"), seconds(3)
    (0.5, 7200.0, 3.0)
    """
    if isinstance(value, (int, float)):
        return float(value)
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    return float(found[1]) * _UNITS[found[2]] if found else 0.0

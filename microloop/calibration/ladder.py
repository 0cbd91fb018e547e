"""The family of policies that one is chosen from: the levels of a policy's loop detectors, multiplied."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

FACTORS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0)
"""Strictest first."""
_STOPPING = ("repeat", "write", "cycle", "error", "retry", "near", "text", "invalid", "refused")
_LEVELS = ("warn", "block", "halt")
_FEWEST = 2


def scaled(loops: Mapping[str, Any], factor: float) -> dict[str, dict[str, int]]:
    """The levels of the detectors that stop a run, multiplied and rounded up; what only advises stays as it is.

    >>> scaled({"repeat": {"warn": 3, "block": 5}, "stall": {"warn": 5}}, 1.5)
    {'repeat': {'warn': 5, 'block': 8}}
    """
    return {name: _times(loops[name], factor) for name in _STOPPING if loops.get(name)}


def _times(levels: Mapping[str, Any], factor: float) -> dict[str, int]:
    counts = {level: levels[level] for level in _LEVELS if levels.get(level) is not None}
    # Rounded first: 1.2 times 5 is 6, although the product of these floats is a little more.
    return {level: max(_FEWEST, math.ceil(round(factor * count, 6))) for level, count in counts.items()}

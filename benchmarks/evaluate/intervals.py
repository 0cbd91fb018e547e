"""How far a number can be trusted: exact for a share of runs, by resampling whole runs for a share of steps."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

Interval = tuple[float, float]
_RESAMPLES = 1000


def clopper_pearson(hits: int, runs: int, confidence: float = 0.95) -> Interval:
    """The shares under which what was seen, or more, or less, is at least so probable (Clopper and Pearson, 1934).

    >>> [round(bound, 4) for bound in clopper_pearson(0, 100)]
    [0.0, 0.0362]
    """
    if runs == 0:
        return 0.0, 1.0
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else _crossing(lambda share: 1 - _at_most(hits - 1, runs, share) - tail)
    high = 1.0 if hits == runs else _crossing(lambda share: tail - _at_most(hits, runs, share))
    return low, high


def _at_most(hits: int, runs: int, share: float) -> float:
    if share in (0.0, 1.0):
        return float(share == 0.0 or hits >= runs)
    return math.fsum(
        math.exp(
            math.lgamma(runs + 1)
            - math.lgamma(each + 1)
            - math.lgamma(runs - each + 1)
            + each * math.log(share)
            + (runs - each) * math.log1p(-share)
        )
        for each in range(hits + 1)
    )


def _crossing(rising: Callable[[float], float]) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return (low + high) / 2


def bootstrap(parts: Sequence[int], wholes: Sequence[int], confidence: float = 0.95) -> Interval:
    """The middle of the ratios of the sums over runs drawn with replacement; the same draws each time."""
    if not wholes:
        return 0.0, 0.0
    draw = random.Random(0).choices  # noqa: S311 - reproducible on purpose
    pairs = list(zip(parts, wholes, strict=True))
    ratios = sorted(_ratio(draw(pairs, k=len(pairs))) for _ in range(_RESAMPLES))
    cut = round(_RESAMPLES * (1 - confidence) / 2)
    return ratios[cut], ratios[-1 - cut]


def _ratio(pairs: Sequence[tuple[int, int]]) -> float:
    return sum(part for part, _ in pairs) / max(1, sum(whole for _, whole in pairs))

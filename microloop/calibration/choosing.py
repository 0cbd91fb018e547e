"""The choice of a factor from the scores of good runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from microloop.calibration.ladder import FACTORS
from microloop.counting import counted


class TooFewRunsError(ValueError):
    """There are not enough good runs for the rate that is asked for."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The factor that was chosen, and on what."""

    factor: float
    runs: int
    stopped: int
    """How many of these runs it stops."""
    alpha: float

    @property
    def guarantee(self) -> str:
        """What is guaranteed, in one sentence."""
        return (
            f"A good run that is exchangeable with the {self.runs} it was calibrated on, of which it stops "
            f"{self.stopped}, is stopped with a probability of at most {100 * self.alpha:g} %."
        )


def runs_needed(alpha: float) -> int:
    """How many good runs it takes before anything can be said about a rate.

    >>> runs_needed(0.01), runs_needed(0.05)
    (99, 19)
    """
    return math.ceil(round(1 / alpha, 6)) - 1


def choose(scores: Sequence[float], alpha: float) -> Choice:
    """The smallest factor above the conformal quantile of the scores: the strictest rule that keeps to alpha.

    A rule with a factor stops the runs whose scores are at least as large. Of `n` runs it may stop as many as lie
    beyond rank `ceil((n + 1) * (1 - alpha))`.

    >>> choose([0.0] * 98 + [1.4], alpha=0.01).factor
    1.6
    """
    runs = len(scores)
    if runs < runs_needed(alpha):
        raise TooFewRunsError(
            f"a rate of {alpha:g} needs at least {counted(runs_needed(alpha), 'good run')}, found {runs}; "
            + (f"with these, the lowest rate is {1 / (runs + 1):.2g}" if runs else "give a folder with recorded runs")
        )
    for factor in FACTORS:
        stopped = sum(score >= factor for score in scores)
        if (stopped + 1) <= round(alpha * (runs + 1), 6):
            return Choice(factor, runs, stopped, alpha)
    beyond = sum(score >= FACTORS[-1] for score in scores)
    raise ValueError(
        f"{beyond} of {counted(runs, 'good run')} would be stopped however high the loop levels are; "
        f"a rate of {alpha:g} allows "
        f"{math.floor(round(alpha * (runs + 1), 6)) - 1}. See `microloop backtest` for the reasons"
    )

"""A sequence of calls that comes round again."""

from __future__ import annotations

from oracle.outcomes import Outcome
from oracle.policy import Tool
from oracle.verdict import Finding, met

PERIODS = range(2, 17)
WINDOW = 64

Completed = tuple[str, Outcome]


def rounds_of_period(newest_first: list[Completed], call: str, period: int) -> int:
    """The round that this call opens, if the sequence has this period; else 0."""
    if len(newest_first) < period or newest_first[period - 1][0] != call:
        return 0
    if len({step[0] for step in newest_first[:period]}) < 2:
        return 0
    n = 2
    while newest_first[: (n - 1) * period] == newest_first[period : n * period] and len(newest_first) >= n * period:
        n += 1
    return n


def rounds(newest_first: list[Completed], call: str) -> int:
    """The largest round over all periods, if it is at least the third."""
    most = max(rounds_of_period(newest_first, call, period) for period in PERIODS)
    return most if most >= 3 else 0


def without_distractor(newest_first: list[Completed]) -> list[Completed]:
    """The newest step whose call occurs only once in the window is left out."""
    calls = [step[0] for step in newest_first]
    for at, call in enumerate(calls):
        if calls.count(call) == 1:
            return newest_first[:at] + newest_first[at + 1 :]
    return newest_first


def cycle(tool: Tool, window: list[Completed], call: str) -> list[Finding]:
    newest_first = list(reversed(window))
    n = rounds(newest_first, call) or rounds(without_distractor(newest_first), call)
    reached = met(tool.levels("cycle"), n) if n else None
    return [Finding(reached[0], "loop.cycle", reached[1], n)] if reached else []

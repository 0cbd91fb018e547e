"""OpenHands: the same call with the same outcome, the same failing call, or two calls that take turns.

Source: the page "Stuck Detector" of docs.openhands.dev, and OpenHands/software-agent-sdk,
openhands-sdk/openhands/sdk/conversation/stuck_detector.py at 1c2e6b5: 4 times the same action and observation, 3 times
the same action with errors, 6 actions and observations that alternate, over the last 20 events, which are 10 calls and
their outcomes. It looks before the next call and ends the run. Left out, because recorded runs have neither: three
messages in a row, and errors of the context window. It also compares the model's thoughts, which are not recorded, so
that it notices more here than it would.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluate.corpus import Step
from evaluate.rule import Rule
from evaluate.rules.streaks import after

_WINDOW = 10


def stop(steps: Sequence[Step], threshold: int) -> int | None:
    """The call after the one that completes a pattern."""
    for place in range(len(steps)):
        if _stuck(steps[max(0, place + 1 - _WINDOW) : place + 1], threshold):
            return after(place, steps)
    return None


def _stuck(window: Sequence[Step], threshold: int) -> bool:
    return (
        _same(window[-threshold:], threshold)
        or _failing(window[1 - threshold :], threshold - 1)
        or _alternating(window[-threshold - 2 :], threshold + 2)
    )


def _same(steps: Sequence[Step], length: int) -> bool:
    return len(steps) == length and all(_equal(steps[0], step) for step in steps)


def _failing(steps: Sequence[Step], length: int) -> bool:
    return len(steps) == length and all(step.error is not None and _call(step) == _call(steps[0]) for step in steps)


def _alternating(steps: Sequence[Step], length: int) -> bool:
    return len(steps) == length and all(_equal(*pair) for pair in zip(steps, steps[2:], strict=False))


def _equal(one: Step, other: Step) -> bool:
    return _call(one) == _call(other) and one.outcome is not None and one.outcome == other.outcome


def _call(step: Step) -> tuple[str, object]:
    return step.tool, step.arguments


# The errors' threshold is one below, the alternation's two above that of the plain repetition.
RULE = Rule("OpenHands", stop, threshold=4, does="ends the run", highest=_WINDOW - 2)

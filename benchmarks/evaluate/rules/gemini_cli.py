"""Gemini CLI: five identical calls in a row, or two that take turns.

Source: google-gemini/gemini-cli, packages/core/src/services/loopDetectionService.ts at 022f913, and pull request 28429
(merged in July 2026): the same name and arguments, as JSON text, 5 times in a row; two calls that alternate until 5
changes have been seen. The check is made when the call is asked for, and ends the turn. Left out, because recorded runs
have neither: repeated text while the model streams, and the question to a second model after 30 turns. Its limit on the
number of turns is a step limit, which has a row of its own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from evaluate.corpus import Step
from evaluate.rule import Rule
from evaluate.rules.streaks import first_streak


def stop(steps: Sequence[Step], threshold: int) -> int | None:
    """The call that completes a streak or an alternation."""
    calls = [(step.tool, json.dumps(step.arguments)) for step in steps]
    found = [
        place for place in (first_streak(calls, threshold), _first_alternation(calls, threshold)) if place is not None
    ]
    return min(found, default=None)


def _first_alternation(calls: Sequence[object], changes: int) -> int | None:
    seen = 0
    for place in range(1, len(calls)):
        if calls[place] == calls[place - 1]:
            seen = 0
        elif place > 1 and calls[place] == calls[place - 2]:
            seen += 1
        else:
            seen = 1
        if seen >= changes:
            return place
    return None


RULE = Rule("gemini-cli", stop, threshold=5, does="ends the turn")

"""browser-use: the same action five times among the last twenty.

Source: browser-use/browser-use, tests/ci/test_action_loop_detection.py at 3756033 and the settings `loop_detection_*`:
actions are compared after some normalising (the words of a search in any order, a click by its element, an input by
element and text), and the model is told at 5, 8 and 12 of the same kind among the last 20. Nothing is ever stopped: the
first advice is counted here as if the model had taken it. Left out, because only browsers have one: the page that does
not change.
"""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any

from evaluate.corpus import Step
from evaluate.rule import ADVISES, Rule
from evaluate.rules.streaks import after

_WINDOW = 20
_COMPARED: Mapping[str, tuple[str, ...]] = {
    "click": ("index",),
    "input": ("index", "text"),
    "navigate": ("url",),
    "scroll": ("down", "index"),
}


def stop(steps: Sequence[Step], threshold: int) -> int | None:
    """The call after the one at which the model is told."""
    window: deque[tuple[str, str]] = deque(maxlen=_WINDOW)
    for place, step in enumerate(steps):
        window.append((step.tool, _compared(step.tool, step.arguments)))
        if max(Counter(window).values()) >= threshold:
            return after(place, steps)
    return None


def _compared(tool: str, arguments: Mapping[str, Any] | str) -> str:
    if isinstance(arguments, str):
        return arguments
    if tool == "search":
        return " ".join(sorted(set(re.findall(r"\w+", str(arguments.get("query", "")).lower()))))
    keys = _COMPARED.get(tool, tuple(arguments))
    kept = {key: arguments[key] for key in keys if arguments.get(key) is not None}
    if tool == "input":
        kept["text"] = str(kept.get("text", "")).strip().lower()
    return json.dumps(kept, sort_keys=True)


RULE = Rule("browser-use, first advice", stop, threshold=5, does=ADVISES, highest=_WINDOW)

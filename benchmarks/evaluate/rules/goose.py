"""goose: more than so many identical calls in a row.

Source: block/goose (now aaif-goose/goose), crates/goose/src/tool_monitor.rs at 1837c48, and pull request 2527: the
same name and arguments; the call after the allowed number is denied. There is no limit unless `--max-tool-repetitions`
sets one; 5 is the number in the pull request's own example.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluate.corpus import Step
from evaluate.rule import Rule
from evaluate.rules.streaks import first_streak


def stop(steps: Sequence[Step], threshold: int) -> int | None:
    """The first call beyond the allowed number."""
    return first_streak(((step.tool, step.arguments) for step in steps), threshold + 1)


RULE = Rule("goose, limit set to 5", stop, threshold=5, does="refuses the call")

"""Cline: five identical calls in a row.

Source: cline/cline, pull request 9933 (3.76.0) and src/core/task/loop-detection.ts at 60c5f9f: the same tool and
parameters, with keys sorted and without `task_progress`, compared after each call. At 3 the model is told; at 5 the
person is asked, or the task fails where nobody can be.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from evaluate.corpus import Step
from evaluate.rule import Rule
from evaluate.rules.streaks import after, first_streak

_IGNORED = "task_progress"


def stop(steps: Sequence[Step], threshold: int) -> int | None:
    """The call after the one that completes the streak."""
    return after(first_streak(_signatures(steps), threshold), steps)


def _signatures(steps: Sequence[Step]) -> Iterator[tuple[str, str]]:
    for step in steps:
        given = step.arguments
        kept = {key: given[key] for key in given if key != _IGNORED} if isinstance(given, Mapping) else given
        yield step.tool, json.dumps(kept, sort_keys=True)


RULE = Rule("Cline", stop, threshold=5, does="asks a person, or fails the task")

"""The package that is called `microloop` on PyPI, 0.3.0: a monitor, asked in an environment of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from evaluate.corpus import Run, Step
from evaluate.rules.streaks import after

_WORKER = Path(__file__).with_name("published_worker.py")
# It raises on a longer one; a digest is as equal or different as the text itself.
_LONGEST_ACTION = 4096
_STUCK = ("stalled", "regressing")

Statuses = Mapping[str, Sequence[str]]


def statuses(python: Path, runs: Sequence[Run]) -> Statuses:
    """What it says after each step of each run."""
    asked = "\n".join(json.dumps([_told(step, place) for place, step in enumerate(run.steps)]) for run in runs)
    # Without PYTHONPATH, which may lead to the other package of this name.
    told = subprocess.run([python, "-E", _WORKER], input=asked, stdout=subprocess.PIPE, text=True, check=True).stdout
    return {run.run_id: json.loads(line) for run, line in zip(runs, told.splitlines(), strict=True)}


def _told(step: Step, place: int) -> tuple[str, str, dict[str, int]]:
    outcome = step.outcome
    # What the log does not say is equal to nothing, here as for the other rules.
    observation = f"unknown outcome {place}" if outcome is None else outcome[1]
    exit_code = {} if outcome is None else {"exit_code": int(step.error is not None)}
    # It ends its process where it cuts a text within a character of several bytes.
    observation = observation.encode("ascii", "backslashreplace").decode()
    action = f"{step.tool}({json.dumps(step.arguments, sort_keys=True)})"
    return (action if len(action) <= _LONGEST_ACTION else sha256(action.encode()).hexdigest()), observation, exit_code


def first_stop(run: Run, found: Statuses) -> int | None:
    """The call after the first step at which the run is called stalled or regressing, for that is when to stop it."""
    stuck = next((place for place, status in enumerate(found[run.run_id]) if status in _STUCK), None)
    return after(stuck, run.steps)


def marks(run: Run, found: Statuses) -> frozenset[int]:
    """The steps that it finds anything wrong with."""
    return frozenset(place for place, status in enumerate(found[run.run_id]) if status != "healthy")

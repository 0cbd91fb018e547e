"""The real runs, as every rule sees them: calls and outcomes in order, and how the run ended."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """One call and what came back; `result` is None where the log does not say."""

    tool: str
    arguments: Mapping[str, Any] | str
    result: str | None
    error: str | None

    @property
    def outcome(self) -> tuple[str, str] | None:
        """What came back, comparable; None if the log does not say, which is equal to nothing."""
        if self.error is not None:
            return "error", self.error
        return None if self.result is None else ("result", self.result)


@dataclass(frozen=True, slots=True)
class Run:
    """One run. `succeeded` is None where its source does not judge it."""

    run_id: str
    source: str
    succeeded: bool | None
    steps: tuple[Step, ...]
    labels: tuple[str, ...] = ()
    """What people called the step from each call to the next one."""

    @property
    def apart(self) -> bool:
        """InterCode: one tool, ten turns, and episodes that end at success, so that no loop can have succeeded yet."""
        return self.source.startswith("intercode")


def read(folder: Path) -> list[Run]:
    """All runs of the data set."""
    steps: dict[str, list[Step]] = {}
    for row in _rows(folder / "steps.jsonl.xz"):
        steps.setdefault(row["run_id"], []).append(_step(row))
    return [_run(row, steps.get(row["run_id"], [])) for row in _rows(folder / "runs.jsonl.xz")]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with lzma.open(path, "rb") as lines:
        yield from map(json.loads, lines)


def _step(row: Mapping[str, Any]) -> Step:
    error = row["error"]
    if error and not isinstance(error, str):
        error = row["result"] or "error"
    return Step(row["tool"], row["arguments"] or {}, row["result"], error or None)


def _run(row: Mapping[str, Any], steps: list[Step]) -> Run:
    labels = tuple(row.get("human_labels_action_action") or ())
    return Run(row["run_id"], row["source"], succeeded(row["outcome"]), tuple(steps), labels)


def succeeded(outcome: object) -> bool | None:
    """What each source calls success: true, a full reward, or (SWE-agent's demonstrations) a submission."""
    if outcome is None:
        return None
    return outcome is True or outcome == "submitted" or (isinstance(outcome, (int, float)) and outcome >= 1)

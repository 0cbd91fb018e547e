"""Recorded runs, whole, out of files of any format that `microloop.logs` reads, and of Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from microloop.backtest.outcomes import Outcomes
from microloop.recorded import BrokenLine, Line, Step

_SUFFIXES = (".jsonl", ".json", ".ndjson", ".traj", ".parquet")
_PACKED = (".gz", ".xz")


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One run: plain values that any process can be sent."""

    file: str
    run_id: str
    steps: tuple[Step, ...]
    succeeded: bool | None = None
    """None where nothing says how it ended."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A line or a file that could not be read, and why."""

    file: str
    reason: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.file}{'' if self.line is None else f', line {self.line}'}: {self.reason}"


Found: TypeAlias = "RecordedRun | Problem"


def files_in(paths: Iterable[str | Path]) -> list[Path]:
    """The files of these paths, in order: a folder stands for the recordings in it and below."""
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        inside = sorted(each for each in path.rglob("*") if _is_recording(each)) if path.is_dir() else [path]
        found.update(dict.fromkeys(inside))
    return list(found)


def _is_recording(path: Path) -> bool:
    name = path.name.lower()
    for packed in _PACKED:
        name = name.removesuffix(packed)
    return name.endswith(_SUFFIXES) and path.is_file()


def read_file(path: Path, outcomes: Outcomes, log_format: str | None = None) -> Iterator[Found]:
    """The runs of a file, in the order in which they begin, after what could not be read. Nothing in a file raises."""
    steps: dict[str, list[Step]] = {}
    noted: dict[str, object] = {}
    try:
        for line in _lines(path, noted, outcomes.field, log_format):
            if isinstance(line, BrokenLine):
                yield Problem(str(path), line.reason, line.line)
            else:
                steps.setdefault(line.run_id, []).append(line)
    except (OSError, EOFError, ValueError) as error:
        yield Problem(str(path), f"cannot be read: {error}")
    for run_id, taken in steps.items():
        yield RecordedRun(str(path), run_id, tuple(taken), outcomes.of(run_id, path, noted, only=len(steps) == 1))


def _lines(path: Path, noted: dict[str, object], field: str, log_format: str | None) -> Iterator[Line]:
    if path.suffix.lower() == ".parquet":
        from microloop.backtest.parquet import read_parquet

        return read_parquet(path, noted, field)
    from microloop.backtest.outcomes import noting
    from microloop.logs import read
    from microloop.logs.files import lines_of

    return read(noting(lines_of(path), noted, field), log_format)

"""How a run ended, as far as anything says: a field of its lines, or a table of runs beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

FIELD = "outcome"
_NOTHING = frozenset({"", "null", "none", "unknown"})
_WORDS = frozenset({"true", "success", "succeeded", "successful", "passed", "pass", "resolved", "solved", "submitted"})
_SAID = ("tool", "user", "assistant", "role", "type", "kind")


def has_succeeded(outcome: object) -> bool | None:
    """Whether an outcome is a success: true, a number of at least 1 (a full reward), or a word for it; None for null.

    >>> [has_succeeded(outcome) for outcome in (True, 1.0, "resolved", 0.67, "failed", None)]
    [True, True, True, False, False, None]
    """
    if isinstance(outcome, str):
        return _says_success(outcome.strip().lower())
    return None if outcome is None else isinstance(outcome, (bool, int, float)) and outcome >= 1


def _says_success(text: str) -> bool | None:
    """Tables with one type a column have numbers and truth values as text, too."""
    if text in _NOTHING:
        return None
    try:
        return text in _WORDS or float(text) >= 1
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What is known besides the runs' own lines: outcomes by run id, or by the name of a run's file."""

    table: Mapping[str, object] = field(default_factory=dict)
    field: str = FIELD

    def of(self, run_id: str, path: Path, noted: Mapping[str, object], *, only: bool) -> bool | None:
        """Whether a run succeeded. The table counts before its lines, its id before the name of a file of its own."""
        names = (run_id, path.name, path.stem, path.name.partition(".")[0]) if only else (run_id,)
        told = next((self.table[name] for name in names if name and name in self.table), noted.get(run_id))
        return has_succeeded(told)


def read_table(path: Path, name: str = FIELD) -> Outcomes:
    """The table of a file: JSON lines or Parquet, with `run_id` and the outcome. A ValueError says what is wrong."""
    table: dict[str, object] = {}
    for number, row in enumerate(_rows(path), 1):
        if not isinstance(row, Mapping) or "run_id" not in row or name not in row:
            raise ValueError(f'row {number} of the outcomes has no "run_id" and "{name}": {path}')
        table[str(row["run_id"])] = row[name]
    return Outcomes(table, name)


def _rows(path: Path) -> Iterator[object]:
    if path.suffix.lower() == ".parquet":
        from microloop.backtest.parquet import rows

        yield from rows(path)
        return
    from microloop.logs.files import lines_of
    from microloop.recorded import decode

    yield from (decode(line) for line in lines_of(path) if line.strip())


def noting(lines: Iterator[bytes], noted: dict[str, object], name: str) -> Iterator[bytes]:
    """The same lines; outcomes in them are noted, and a line that holds nothing else is taken out."""
    key = json.dumps(name).encode()
    for line in lines:
        row = _object(line) if key in line else {}
        if name in row:
            noted[str(row.get("run_id") or "")] = row[name]
            if not any(said in row for said in _SAID):
                continue
        yield line


def _object(line: bytes) -> Mapping[str, object]:
    """What is broken is reported by whoever reads the line as a step."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}

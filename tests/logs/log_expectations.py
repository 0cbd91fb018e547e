"""The steps that the fixtures hold: `expected/NAME.steps` has one a line, as run, number, tool, and what is played."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from microloop.replay import UNKNOWN

Row = tuple[str, int, str, dict[str, Any]]
_UNKNOWN = {"$unknown": True}


def _row(line: str) -> Row:
    run, number, tool, played = json.loads(line)
    return run, number, tool, {key: UNKNOWN if value == _UNKNOWN else value for key, value in played.items()}


def _rows(path: Path) -> list[Row]:
    # Not `splitlines`: a step may hold other line ends.
    return [_row(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


EXPECTED = {path.stem: _rows(path) for path in sorted((Path(__file__).parent / "expected").glob("*.steps"))}

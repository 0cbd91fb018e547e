"""The page of the documentation that has the scores."""

from __future__ import annotations

from pathlib import Path

import between

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "how-good-it-is.md"
_BEGIN = "<!-- written by `make evaluate`: begin -->"
_END = "<!-- written by `make evaluate`: end -->"


def write(tables: str, page: Path = PAGE) -> None:
    """Put the tables into the page."""
    between.write(tables, page, _BEGIN, _END)

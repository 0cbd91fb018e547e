"""The page of the documentation that has the numbers: what stands between its markers is written from a run."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "how-good-it-is.md"
_BEGIN = "<!-- written by `make evaluate`: begin -->"
_END = "<!-- written by `make evaluate`: end -->"


def write(tables: str, page: Path = PAGE) -> None:
    """Put the tables between the markers; the rest of the page is for people to write."""
    before, rest = _parted(page.read_text(encoding="utf-8"), _BEGIN)
    _, behind = _parted(rest, _END)
    page.write_text(f"{before}{_BEGIN}\n\n{tables}\n\n{_END}{behind}", encoding="utf-8")


def _parted(text: str, marker: str) -> tuple[str, str]:
    before, found, behind = text.partition(marker)
    if not found:
        raise SystemExit(f'{PAGE.name} has no line "{marker}"; put it where the tables belong')
    return before, behind

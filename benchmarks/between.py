"""Pages whose figures a run writes: what stands between two markers is the run's, the rest is for people to write."""

from pathlib import Path


def write(text: str, page: Path, begin: str, end: str) -> None:
    """Put a text between the markers of a page."""
    before, rest = _parted(page, page.read_text(encoding="utf-8"), begin)
    _, behind = _parted(page, rest, end)
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{behind}", encoding="utf-8")


def _parted(page: Path, text: str, marker: str) -> tuple[str, str]:
    before, found, behind = text.partition(marker)
    if not found:
        raise SystemExit(f'{page.name} has no line "{marker}"; put it where the figures belong')
    return before, behind

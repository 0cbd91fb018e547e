"""Reads the documentation as a reader would follow it: its blocks in order, each with what it is.

What a page may hold, and how it is tried out:

- `python`: runs, in one namespace for the whole page;
- `text`: what the `python` block before it has printed, to the letter;
- any block with `title="name"`: is written to that file;
- `console`: each line that begins with `$ microloop` is run, and what follows it is what it prints. Other commands are
  for people; `$ echo $?` tells the exit code of the command before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
_FENCE = re.compile(r'^```(?P<kind>\w+)(?: title="(?P<file>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| `([^`|]+)`(?:, `[^`|]+`)* \|", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block, and the line on which its text begins."""

    kind: str
    file: str | None
    text: str
    line: int


@dataclass(frozen=True)
class Command:
    """A line of a console, and what is shown below it."""

    line: str
    shown: str


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        yield Block(found["kind"], found["file"], found["text"], text.count("\n", 0, found.start()) + 2)


def commands(console: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        yield Command(line, shown)


def sections(page: Path) -> dict[str, str]:
    """The text below each heading, by the heading's own text, without the headings below it."""
    parts = re.split(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def first_column(text: str) -> list[str]:
    """What the rows of a table are about: the code in their first cells."""
    return _ROW.findall(text)

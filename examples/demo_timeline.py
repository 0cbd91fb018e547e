"""What happened, step by step, on a terminal: one line a call, in colour where there is a terminal to show it."""

from __future__ import annotations

import os
import sys
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from microloop import Verdict

COLOURS = {"allow": "32", "warn": "33", "ask": "36", "block": "31", "halt": "35"}
COLUMNS = "{step:>4}  {tool:<32} {action:<7} {reason:<14} {evidence}"


def paint(text: str, colour: str) -> str:
    """The text in a colour; as it is where nobody could see the colour (NO_COLOR is respected)."""
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return text
    return f"\033[{colour}m{text}\033[0m"


def title(text: str) -> None:
    """A heading."""
    print(f"\n{paint(text, '1')}\n")


def header() -> None:
    """The names of the columns."""
    print(paint(COLUMNS.format(step="step", tool="tool", action="verdict", reason="reason", evidence="evidence"), "2"))


def call(verdict: Verdict) -> None:
    """One call and what the guard said about it."""
    action = str(verdict.action)
    line = COLUMNS.format(
        step=verdict.step,
        tool=verdict.tool,
        action=action,
        reason="" if verdict.reason == "none" else verdict.reason,
        evidence=f"steps {', '.join(map(str, verdict.evidence))}" if verdict.evidence else "",
    )
    print(paint(line, COLOURS[action]))
    if verdict.feedback:
        remark(verdict.feedback, COLOURS[action])


def remark(text: str, colour: str = "2") -> None:
    """A text that belongs to the line above it, short."""
    print(
        paint(
            textwrap.fill(textwrap.shorten(text, 300), 110, initial_indent=" " * 6, subsequent_indent=" " * 6), colour
        )
    )

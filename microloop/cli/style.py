"""Colour: only on terminals, unless NO_COLOR or FORCE_COLOR says otherwise."""

from __future__ import annotations

import os
import sys
from typing import TextIO

import click

_COLOURS = {"allow": "green", "warn": "yellow", "ask": "magenta", "block": "red", "halt": "bright_red"}
_STATUSES = {"healthy": "green", "progress": "green", "warning": "yellow", "stalled": "red", "regressing": "bright_red"}


def coloured(stream: TextIO | None = None) -> bool:
    """Whether to colour what goes to a stream (standard output, if none is given)."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream or sys.stdout).isatty()


def paint(text: str, colour: str, *, bold: bool = False) -> str:
    """Text in a colour, or as it is."""
    return click.style(text, fg=colour, bold=bold) if coloured() else text


def paint_action(action: str, width: int = 0) -> str:
    """An action in its colour, padded to a width."""
    return paint(action.ljust(width), _COLOURS.get(action, "white"), bold=action in ("block", "halt"))


def paint_status(status: str, width: int = 0) -> str:
    """Where a run stands, in its colour, padded to a width."""
    return paint(status.ljust(width), _STATUSES[status])


def complain(message: str) -> None:
    """An error on standard error."""
    prefix = click.style("error:", fg="red", bold=True) if coloured(sys.stderr) else "error:"
    click.echo(f"{prefix} {message}", err=True)

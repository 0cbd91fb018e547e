"""What a command cannot read and skips: of the first few it says why, of the others how many they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from microloop.cli.style import complain
from microloop.counting import counted
from microloop.shown import visible

if TYPE_CHECKING:
    from microloop.recorded import BrokenLine

_TOLD = 10
"""More would push everything else off the screen: a file that is no log has as many as it has lines."""


class Skipped:
    """Complains, but not without end."""

    def __init__(self, noun: str = "broken line") -> None:
        self.count = 0
        self._noun = noun

    def tell(self, why: str) -> None:
        """One more, and why it is skipped."""
        self.count += 1
        if self.count <= _TOLD:
            complain(why)

    def end(self) -> None:
        """There are no more."""
        if self.count > _TOLD:
            complain(f"not shown: {counted(self.count - _TOLD, f'more {self._noun}')}")


def broken(line: BrokenLine) -> str:
    """Why a line is skipped."""
    return f"line {line.line} is skipped: {visible(line.reason)}"

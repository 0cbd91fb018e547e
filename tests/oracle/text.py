"""Assistant turns in a row that are empty or repeat the last one."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.verdict import Finding, met


@dataclass
class Text:
    """A turn that says something else begins a row of one; all empty turns are equal."""

    last: str | None = None
    count: int = 0

    def start_anew(self) -> None:
        self.last, self.count = None, 0

    def turn(self, text: str, levels: dict[str, int | None]) -> Finding | None:
        said = text.strip()
        self.count = self.count + 1 if said == self.last else 1
        self.last = said
        reached = met(levels, self.count)
        return Finding(reached[0], "loop.text", reached[1], self.count) if reached else None

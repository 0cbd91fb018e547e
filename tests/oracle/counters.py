"""Everything that a user turn starts anew."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from oracle.cycle import WINDOW, Completed, cycle
from oracle.rows import Errors, Invalid, Row
from oracle.text import Text

if TYPE_CHECKING:
    from oracle.memory import Memory
    from oracle.outcomes import Outcome
    from oracle.policy import Tool
    from oracle.session import Call
    from oracle.verdict import Finding


class Counters:
    """What is counted for each call, for each tool, and for the run."""

    def __init__(self) -> None:
        self.memories: dict[str, Memory] = {}
        self.window: list[Completed] = []
        self.errors: dict[str, Errors] = defaultdict(Errors)
        self.invalid: dict[str, Invalid] = defaultdict(Invalid)
        self.rows: dict[str, Row] = defaultdict(Row)
        self.text = Text()
        self.batches: set[tuple[str, str]] = set()
        self.refused = 0

    def cycle(self, tool: Tool, identity: str) -> list[Finding]:
        return cycle(tool, self.window, identity)

    def complete(self, call: Call, outcome: Outcome, epoch: int, shift: int) -> None:
        self.errors[call.tool.name].complete(outcome, epoch, shift)
        self.rows[call.tool.name].complete(call.tool, call.identity, call.words, outcome)
        self.window = [*self.window, (call.identity, outcome)][-WINDOW:]

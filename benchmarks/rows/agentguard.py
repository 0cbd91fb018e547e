"""agentguard47: its guard against repeated calls and its budget."""

import itertools

from agentguard import BudgetGuard, LoopDetected, LoopGuard

import workload
from row import Loop, Row, endless_calls


class LoopAndBudget(Row):
    """One call that is neither a repeat nor beyond the budget."""

    name = "agentguard47"
    work = "repeats in a row, call budget: no schema, no rules, no outcome"

    def __init__(self) -> None:
        """Build the two guards, with the same limit as ours."""
        self.calls = endless_calls()
        self.loop = LoopGuard(max_repeats=5, window=32)
        self.budget = BudgetGuard(max_calls=1_000_000_000)

    def run(self, operations: int) -> None:
        """Check the call and charge it."""
        check, consume = self.loop.check, self.budget.consume
        for arguments in itertools.islice(self.calls, operations):
            check(workload.TOOL, arguments)
            consume(calls=1)

    def verify(self, operations: int) -> None:
        """Fail unless all were charged, and unless the fifth repeat is refused."""
        assert self.budget.state.calls_used == operations
        self.loop.reset()
        allowed = 0
        try:
            for _ in range(10):
                self.loop.check(workload.TOOL, workload.arguments(1))
                allowed += 1
        except LoopDetected:
            pass
        assert allowed == 4, allowed  # noqa: PLR2004 - one below the limit given above


ROWS: list[type[Row]] = [Loop, LoopAndBudget]

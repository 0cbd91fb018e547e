"""The package that is called `microloop` on PyPI: a monitor of progress, in an environment of its own."""

import itertools
import json

import workload
from microloop import Monitor
from row import Loop, Row, endless_calls, endless_outcomes
from rows import observe


class Observe(Row):
    """One step that makes progress: the call as text, and its outcome."""

    name = "microloop 0.3.0 (PyPI)"
    work = "loops and stalls after the fact: no schema, no rules, nothing is stopped"

    def __init__(self) -> None:
        """Build the monitor with its defaults."""
        self.calls = endless_calls()
        self.outcomes = endless_outcomes()
        self.monitor = Monitor()
        self.last = None

    def run(self, operations: int) -> None:
        """Observe; its interface takes text, so the arguments are encoded as its documentation does."""
        observe, encode = self.monitor.observe, json.dumps
        for arguments, outcome in itertools.islice(zip(self.calls, self.outcomes, strict=False), operations):
            self.last = observe(workload.TOOL + encode(arguments), outcome)

    def verify(self, operations: int) -> None:
        """Fail unless every step was counted, and unless a repeat is noticed."""
        assert self.last.step == operations, self.last
        fresh = Monitor()
        statuses = {fresh.observe(workload.TOOL, "the same").status for _ in range(12)}
        assert statuses & {"warning", "stalled"}, statuses


ROWS: list[type[Row]] = [Loop, Observe, *observe.ROWS]

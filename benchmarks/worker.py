"""A process that does the rows of one group, one sample at a time, as its parent asks through pipes.

Groups live apart because two of them import a package of the same name, and none shall slow another.
"""

import importlib
import json
import os
import statistics
import sys
import time
from typing import Any, TextIO

from row import Row

SAMPLE_NS = 4_000_000
WARM_UP = 300
TRIES = 4
SINGLES = 20_000


class Group:
    """The rows of one module, made and warmed."""

    def __init__(self, module: str) -> None:
        """Import the module and make its rows."""
        self.rows: dict[str, Row] = {row.name: row() for row in importlib.import_module(f"rows.{module}").ROWS}
        self.done = dict.fromkeys(self.rows, 0)
        self.each = {name: self.calibrate(name) for name in self.rows}

    def timed(self, name: str, operations: int) -> int:
        """Run a row and return the nanoseconds that it took."""
        run = self.rows[name].run
        began = time.perf_counter_ns()
        run(operations)
        took = time.perf_counter_ns() - began
        self.done[name] += operations
        return took

    def calibrate(self, name: str) -> int:
        """Return how many operations make a sample."""
        # The first calls compile patterns and fill caches: they are slow, and would pass for a sample each.
        self.timed(name, WARM_UP)
        operations = 1
        # The fastest of a few: one that was interrupted would pass for a sample long before it is one.
        while min(self.timed(name, operations) for _ in range(TRIES)) < SAMPLE_NS:
            operations *= 2
        return operations

    def sample(self, name: str) -> float:
        """Return nanoseconds an operation, of one sample."""
        return self.timed(name, self.each[name]) / self.each[name]

    def tail(self, name: str) -> float | None:
        """Return what the slowest in a hundred single operations takes at least, if the row wants to know."""
        if not self.rows[name].tails:
            return None
        return statistics.quantiles((self.timed(name, 1) for _ in range(SINGLES)), n=100)[-1]

    def verify(self, name: str) -> int:
        """Let the row prove what it did; return how often that was."""
        self.rows[name].verify(self.done[name])
        return self.done[name]

    def describe(self) -> list[dict[str, Any]]:
        """Return what the parent needs to know about the rows."""
        return [{key: getattr(row, key) for key in ("name", "work", "minus", "target")} for row in self.rows.values()]


def serve(answers: TextIO) -> None:
    """Do what the parent asks, line by line, until it closes the pipe."""

    def answer(value: Any) -> None:
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    try:
        group = Group(sys.argv[1])
    except ImportError as missing:
        answer({"missing": str(missing)})
        return
    answer({"rows": group.describe()})
    for line in sys.stdin:
        command, name = json.loads(line)
        answer(getattr(group, command)(name))


if __name__ == "__main__":
    # What an imported package prints must not get between the answers.
    with os.fdopen(os.dup(sys.stdout.fileno()), "w") as pipe:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        serve(pipe)

"""The parent's side of the workers: starts one a group, samples all rows in turn, takes off what is not the work."""

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass
class Measured:
    """A row and its samples, in nanoseconds an operation, round by round."""

    group: str
    name: str
    work: str
    minus: str | None = None
    target: float | None = None
    samples: list[float] = field(default_factory=list)
    operations: int = 0
    p99: float | None = None
    missing: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """A row's name is unique in its group only: every group has its own empty loop."""
        return self.group, self.name


class Worker:
    """One group in a process of its own."""

    def __init__(self, group: str, python: Path) -> None:
        """Start it."""
        self.group = group
        self.process = subprocess.Popen(
            [python, HERE / "worker.py", group], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=HERE
        )

    def receive(self) -> Any:
        """Return the next answer."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the worker of the group {self.group!r} ended with {self.process.wait()}; see above")
        return json.loads(line)

    def ask(self, command: str, row: str) -> Any:
        """Let it do one thing, and return the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([command, row]) + "\n")
        self.process.stdin.flush()
        return self.receive()

    def rows(self) -> list[Measured]:
        """Return the rows that it has made, or one that says what is missing."""
        first = self.receive()
        if "missing" in first:
            return [Measured(self.group, self.group, "", missing=first["missing"])]
        return [Measured(self.group, **row) for row in first["rows"]]

    def close(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def measure(pythons: dict[str, Path], rounds: int) -> list[Measured]:
    """Sample all rows of all groups round robin, so that what the machine does besides hits all alike."""
    workers = {group: Worker(group, python) for group, python in pythons.items()}
    rows = [row for worker in workers.values() for row in worker.rows()]
    present = [row for row in rows if row.missing is None]
    for _ in range(rounds):
        for row in present:
            row.samples.append(workers[row.group].ask("sample", row.name))
    for row in present:
        row.p99 = workers[row.group].ask("tail", row.name)
        row.operations = workers[row.group].ask("verify", row.name)
    for worker in workers.values():
        worker.close()
    take_off(present)
    return rows


def take_off(rows: list[Measured]) -> None:
    """Subtract, round by round, the time of the row that stands for what is not the work."""
    raw = {row.key: list(row.samples) for row in rows}
    for row in rows:
        if row.minus is not None:
            other = raw[row.group, row.minus]
            row.samples = [mine - theirs for mine, theirs in zip(row.samples, other, strict=True)]

"""The table, as text and as JSON."""

import json
import os
import platform
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groups import Measured

# The rows that are taken off others; they stand in the JSON.
HIDDEN = ("loop", "tool")
# The package that the rows `observe` are held against, and what was promised.
PEER, SHARE = " (0.3.0)", 5


@dataclass(frozen=True)
class Spread:
    """The median of the samples, and where eight in ten of them lie."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, samples: list[float]) -> "Spread":
        """Return the spread of some samples."""
        tenths = statistics.quantiles(samples, n=10, method="inclusive")
        return cls(statistics.median(samples), tenths[0], tenths[-1])


def duration(nanoseconds: float) -> str:
    """Return a duration with its unit."""
    for limit, unit, digits in ((1e3, "ns", 0), (1e6, "µs", 2), (1e9, "ms", 2)):
        if abs(nanoseconds) < limit:
            return f"{nanoseconds / limit * 1e3:.{digits}f} {unit}"
    return f"{nanoseconds / 1e9:.2f} s"


def processor() -> str:
    """Return the processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def machine() -> dict[str, Any]:
    """Return what the numbers were measured on."""
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "rust": rustc.removeprefix("rustc "),
        "load": round(os.getloadavg()[0], 1),
    }


def line(row: Measured) -> str:
    """Return a row of the table."""
    if row.missing is not None:
        return f"{row.name:<30} could not be measured: {row.missing}"
    spread = Spread.of(row.samples)
    span = f"{duration(spread.low)} – {duration(spread.high)}"
    promise = "" if row.target is None else f"≤ {duration(row.target)}"
    if row.target is not None and spread.median > row.target:
        promise += " MISSED"
    tail = "" if row.p99 is None else f" (p99 {duration(row.p99)})"
    return f"{row.name:<30} {duration(spread.median):>10}  {span:<22}  {promise:<16} {row.work}{tail}"


def ratio(rows: list[Measured], floors: list[str], whole: str) -> dict[str, float] | None:
    """Return how many times the floor the whole way takes."""
    medians = {row.name: Spread.of(row.samples).median for row in rows if row.missing is None}
    if whole not in medians or not any(name in medians for name in floors):
        return None
    floor = min(medians[name] for name in floors if name in medians)
    return {"floor_ns": floor, "whole_ns": medians[whole], "times": medians[whole] / floor}


def shares(rows: list[Measured]) -> list[str]:
    """Return, for each kind of run that both monitors watch, what part of the other's time ours takes."""
    medians = {row.name: Spread.of(row.samples).median for row in rows if row.missing is None}
    both = [(name, medians[name], medians[name + PEER]) for name in medians if name + PEER in medians]
    return [
        f"{name}: 1/{theirs / ours:.2f} of the time of 0.3.0 (promised: 1/{SHARE})"
        for name, ours, theirs in both
        if not name.startswith(HIDDEN)
    ]


def text(rows: list[Measured], times: dict[str, float] | None, rounds: int) -> str:
    """Return the whole table."""
    about = machine()
    shown = [row for row in rows if not row.name.startswith(HIDDEN)]
    head = f"{'row':<30} {'median':>10}  {'p10 – p90':<22}  {'promised':<16} what one operation is"
    parts = [
        ", ".join(f"{what} {about[what]}" for what in ("processor", "cores", "system", "python", "rust", "load")),
        f"{rounds} rounds, every row in every round; each row proved its work",
        "",
        head,
        "-" * len(head),
        *map(line, shown),
    ]
    if times is not None:
        parts += ["", f"@guard.verify takes {times['times']:.2f} times its floor (promised: ≤ 2)"]
    return "\n".join([*parts, *shares(rows)])


def as_json(rows: list[Measured], times: dict[str, float] | None, wheel: dict[str, Any]) -> str:
    """Return the same for programs."""
    table = [
        {
            "group": row.group,
            "name": row.name,
            "work": row.work,
            "missing": row.missing,
            "target_ns": row.target,
            "samples": len(row.samples),
            "operations": row.operations,
            "p99": row.p99,
            **({} if row.missing else vars(Spread.of(row.samples))),
        }
        for row in rows
    ]
    whole = {"machine": machine(), "rows": table, "floor": times, "wheel": wheel}
    return json.dumps(whole, indent=2, ensure_ascii=False)

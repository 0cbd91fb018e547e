"""How many real runs that succeeded would a policy have stopped? One table, by source, with the reasons.

    python benchmarks/stops.py [--policy balanced] [--data ../shared/data] [--json]

A run succeeded if its own source says so (reward or exact match of 1, resolved, judged true). A stop is a block or a
halt. InterCode stands apart: one tool, ten turns at most, and its episodes end at success, so a run that still goes
round has by construction not succeeded yet.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from microloop import Policy
from microloop.recheck import JudgedStep, Recheck, RunSummary

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
TARGET = 0.01


@dataclass
class Row:
    """The runs of one source."""

    source: str
    runs: int = 0
    stopped: int = 0
    succeeded: int = 0
    succeeded_stopped: int = 0
    succeeded_warned: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    reasons_in_succeeded: Counter[str] = field(default_factory=Counter)
    stopped_ids: list[str] = field(default_factory=list)

    @property
    def share(self) -> float | None:
        """Share of the successful runs that would have been stopped; None where the source judges none."""
        return self.succeeded_stopped / self.succeeded if self.succeeded else None


def main() -> None:
    """Replay every run and print the table."""
    options = read_options()
    rows = measured(options.policy, options.data)
    print(
        json.dumps([{**vars(row), "share": row.share} for row in rows]) if options.json else table(rows, options.policy)
    )


def measured(policy: str, data: Path) -> list[Row]:
    """A row for each source, InterCode last."""
    runs = {run["run_id"]: run for run in read_json(data / "runs.jsonl.xz")}
    recheck = Recheck(Policy.load(policy))
    stops: dict[str, str] = {}
    for judged in recheck.judge(watched(data / "steps.jsonl.xz", sum(run["steps"] for run in runs.values()))):
        if isinstance(judged, JudgedStep) and judged.verdict is not None and judged.verdict.action in ("block", "halt"):
            stops.setdefault(judged.step.run_id, judged.verdict.reason)
    rows: dict[str, Row] = {}
    for run_id, summary in recheck.runs.items():
        source = runs[run_id]["source"]
        add(rows.setdefault(source, Row(source)), runs[run_id], summary, stops.get(run_id))
    return sorted(rows.values(), key=lambda row: (row.source.startswith("intercode"), row.source))


def read_options() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--policy", default="balanced", help="name or path of a policy")
    parser.add_argument("--data", default=DATA, type=Path, help="folder of runs.jsonl.xz and steps.jsonl.xz")
    parser.add_argument(
        "--json", action="store_true", help="the rows as JSON, with the ids of the runs that were stopped"
    )
    return parser.parse_args()


def read_json(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a packed file of JSON lines."""
    with lzma.open(path, "rb") as lines:
        yield from map(json.loads, lines)


def watched(path: Path, expected: int) -> Iterator[bytes]:
    """The lines of a file, with a bar on a terminal."""
    width, shown = 40, sys.stderr.isatty()
    with lzma.open(path, "rb") as lines:
        for number, line in enumerate(lines, 1):
            yield line
            if shown and (number % 200 == 0 or number == expected):
                filled = min(width, width * number // max(expected, 1))
                end = "\n" if number == expected else ""
                print(f"\r[{'#' * filled:<{width}}] {number} of {expected} steps", end=end, file=sys.stderr, flush=True)


def add(row: Row, run: dict[str, Any], summary: RunSummary, reason: str | None) -> None:
    """Count one run; `reason` is that of its first stop."""
    row.runs += 1
    succeeded = has_succeeded(run["outcome"])
    row.succeeded += succeeded
    row.succeeded_warned += succeeded and summary.actions["warn"] > 0
    if reason is None:
        return
    row.stopped += 1
    row.reasons[reason] += 1
    if succeeded:
        row.succeeded_stopped += 1
        row.reasons_in_succeeded[reason] += 1
        row.stopped_ids.append(run["run_id"])


def has_succeeded(outcome: object) -> bool:
    """What each source calls success: true, a full reward, or (SWE-agent's demonstrations) a submission."""
    return outcome is True or outcome == "submitted" or (isinstance(outcome, (int, float)) and outcome >= 1)


def table(rows: Iterable[Row], policy: str) -> str:
    """All rows, with a last one over everything but InterCode."""
    columns = f"{'runs':>6}{'stopped':>9}{'succeeded':>11}{'of these stopped':>18}{'warned':>8}  first reasons of stops"
    head = f"{'source':<24}{columns}"
    lines = [
        f"successful runs that `{policy}` would have stopped (target: at most {TARGET:.0%} of each source)",
        "",
        head,
    ]
    lines += [line(row) for row in rows]
    apart = [row for row in rows if not row.source.startswith("intercode")]
    lines += ["", line(total("all but InterCode", apart))]
    return "\n".join(lines)


def line(row: Row) -> str:
    """One row."""
    share = "–" if row.share is None else f"{row.succeeded_stopped} = {row.share:.1%}"
    flag = " !" if (row.share or 0) > TARGET else "  "
    told = ", ".join(f"{reason} {count}" for reason, count in row.reasons.most_common())
    succeeded = row.succeeded or "unknown"
    return (
        f"{row.source:<24}{row.runs:>6}{row.stopped:>9}{succeeded:>11}{share:>18}{row.succeeded_warned:>8}{flag}{told}"
    )


def total(name: str, rows: Iterable[Row]) -> Row:
    """The sum of rows."""
    whole = Row(name)
    for row in rows:
        for key in ("runs", "stopped", "succeeded", "succeeded_stopped", "succeeded_warned"):
            setattr(whole, key, getattr(whole, key) + getattr(row, key))
        whole.reasons += row.reasons
    return whole


if __name__ == "__main__":
    main()

"""The figures in the README and in the documentation, as `make bench BENCH_ARGS=--write` writes them there."""

from pathlib import Path

import between
import report
from groups import Measured

_ROOT = Path(__file__).resolve().parents[1]
PAGES = (_ROOT / "README.md", _ROOT / "docs" / "explanation" / "how-it-is-fast.md")
BEGIN, END = "<!-- written by `make bench`: begin -->", "<!-- written by `make bench`: end -->"
SHOWN = {
    "@guard.verify": "`@guard.verify`, an allowed call",
    "refusal with its verdict": "a refusal with its verdict",
    "floor (msgspec)": "the floor: no guard of this shape is faster",
    "Rust: check": "native check",
    "Rust: reject a repeat": "native refusal",
    "observe, healthy": "`Monitor.observe`, healthy",
    "observe, repeating": "`Monitor.observe`, repeating",
    "observe, improving": "`Monitor.observe`, improving",
    "observe, 16 KiB": "`Monitor.observe`, 16 KiB",
    "microloop hook, before a call": "`microloop hook`, before a call",
    "from microloop import Guardrail": "`from microloop import Guardrail`",
    "jsonschema-rs": "`jsonschema-rs`",
    "fastjsonschema": "`fastjsonschema`",
    "jsonschema": "`jsonschema`",
    "agentguard47": "`agentguard47`",
    "agent-os-kernel": "`agent-os-kernel`",
    "microloop 0.3.0 (PyPI)": "`microloop` 0.3.0 from PyPI",
}


def write(rows: list[Measured], times: dict[str, float] | None) -> None:
    """Write the figures of a run into the pages."""
    for page in PAGES:
        between.write(text(rows, times), page, BEGIN, END)


def text(rows: list[Measured], times: dict[str, float] | None) -> str:
    """Return the table of the pages, and what it was measured on."""
    found = {row.name: row for row in rows if row.missing is None}
    head = "| | median | promised | what one operation is |\n|---|---|---|---|"
    table = [_line(label, found[name], found) for name, label in SHOWN.items() if name in found]
    return "\n".join([head, *table, "", _engine(found), _machine(times)])


def _line(label: str, row: Measured, found: dict[str, Measured]) -> str:
    return f"| {label} | {report.duration(_median(row))} | {_promise(row, found)} | {row.work} |"


def _promise(row: Measured, found: dict[str, Measured]) -> str:
    peer = found.get(row.name + report.PEER)
    if peer is not None:
        times = _median(peer) / _median(row)
        return f"1/{report.SHARE} of 0.3.0: 1/{times:.1f}" + _missed(times < report.SHARE)
    if row.target is None:
        return ""
    return f"≤ {report.duration(row.target)}" + _missed(_median(row) > row.target)


def _missed(missed: bool) -> str:  # noqa: FBT001 - it is called nowhere but above
    return ", **missed**" if missed else ""


def _engine(found: dict[str, Measured]) -> str:
    check, record, whole = (
        report.duration(_median(found[name]))
        for name in ("C ABI: check, rules, schema", "C ABI: record", "@guard.verify")
    )
    return (
        f"In the same run the engine took {check} for a check with rules and schema and {record} for a record; "
        f"encoding, crossing and the wrapper are the rest of the {whole}."
    )


def _machine(times: dict[str, float] | None) -> str:
    about = report.machine()
    floor = "" if times is None else f" The whole way takes {times['times']:.1f} times its floor; the aim is 2."
    return (
        f"{about['processor']}, {about['cores']} cores, {about['system'].partition('-')[0]}, Python {about['python']}, "
        f"Rust {about['rust'].partition(' ')[0]}, load {about['load']}.{floor}"
    )


def _median(row: Measured) -> float:
    return report.Spread.of(row.samples).median

"""The findings as tables in Markdown, which a terminal shows as well."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluate.findings import TARGET, Findings, Half, Row
from evaluate.intervals import Interval
from evaluate.labels import LABELS
from evaluate.score import Score


def text(found: Findings) -> str:
    """All tables, each with a line about what it says."""
    parts = [
        f"{found.runs:,} recorded runs with {found.steps:,} steps. In brackets: 95 % confidence.",
        _heading("Each rule as it is published"),
        _rules(found),
        _heading("Targets"),
        _targets(found),
        _heading("Each source, under `balanced`"),
        _sources(found.ours),
        _heading("Thresholds chosen on one half of the runs, reported on the other"),
        _halves(found),
        _heading("Advice beside human labels"),
        _labels(found),
    ]
    return "\n\n".join(parts)


def _heading(title: str) -> str:
    return f"### {title}"


def _rules(found: Findings) -> str:
    head = ("rule", "at a stop", "good runs stopped", "sources above 1 %", "steps saved in failed runs",
            "cut in runs of unknown outcome", "InterCode: good stopped", "InterCode: saved")  # fmt: skip
    return table(head, (_rule(row) for row in found.rows))


def _rule(row: Row) -> Sequence[str]:
    return (
        row.name,
        row.does,
        _stopped(row.pooled),
        str(len(row.above_target)) if row.above_target else "none",
        _saved(row.pooled),
        f"{row.pooled.unjudged_cut:,} of {row.pooled.unjudged:,}",
        f"{row.apart.good_stopped} of {row.apart.good}",
        f"{row.apart.steps_saved:,} of {sum(row.apart.failed):,}",
    )


def _targets(found: Findings) -> str:
    ours = found.ours
    above = ours.above_target
    first = "met in every source" if not above else f"missed in {', '.join(above)}"
    rivals = sorted(found.rivals(), key=lambda row: -row.pooled.steps_saved)
    second = [_rival(ours, row) for row in rivals]
    ahead = "met" if all(row.pooled.steps_saved < ours.pooled.steps_saved for row in rivals) else "missed"
    return "\n".join(
        (
            f"- At most {TARGET:.0%} of the successful runs of each source are stopped: {first}.",
            f"- More steps are saved in failed runs than by any other rule that stops no more good runs: {ahead}.",
            *second,
            *(_limit(found.halved[0], half) for half in found.halved if half.name.startswith("limit on steps")),
        )
    )


def _rival(ours: Row, other: Row) -> str:
    low, high = ours.pooled.ahead_of(other.pooled)
    ahead = ours.pooled.steps_saved - other.pooled.steps_saved
    verdict = "ahead" if ahead > 0 else "level" if ahead == 0 else "BEHIND"
    return (
        f"    - {other.name}: {ours.pooled.steps_saved} to {other.pooled.steps_saved}, {verdict} "
        f"({_percent(ahead / sum(ours.pooled.failed), signed=True)} of the steps, "
        f"{_percent(low, signed=True)} to {_percent(high, signed=True)})"
    )


def _limit(ours: Half, other: Half) -> str:
    mine, theirs = ours.pooled, other.pooled
    return (
        f"    - {other.name}, on the half it was not chosen on: {mine.steps_saved} to {theirs.steps_saved}, "
        f"and good runs stopped {mine.good_stopped} to {theirs.good_stopped}"
    )


def _sources(row: Row) -> str:
    head = (
        "source",
        "good runs",
        "stopped",
        "failed runs",
        "steps in these",
        "saved",
        "steps of unknown outcome",
        "cut",
    )
    return table(head, (_source(name, each) for name, each in row.sources.items()))


def _source(name: str, each: Score) -> Sequence[str]:
    return (
        name,
        str(each.good),
        _stopped(each),
        str(len(each.failed)),
        f"{sum(each.failed):,}",
        _saved(each) if each.failed else "–",
        f"{each.unjudged:,}",
        f"{each.unjudged_cut:,}" if each.unjudged else "–",
    )


def _halves(found: Findings) -> str:
    head = ("rule and its threshold", "at a stop", "good runs stopped", "steps saved in failed runs",
            "cut in runs of unknown outcome")  # fmt: skip
    rows = (
        (half.name, half.does, _stopped(half.pooled), _saved(half.pooled), f"{half.pooled.unjudged_cut:,}")
        for half in found.halved
    )
    return table(head, rows)


def _labels(found: Findings) -> str:
    head = (
        "detector",
        *(f"{label} ({found.labels[0].labelled[label]})" for label in LABELS),
        "of its marks, Repetition",
    )
    rows = (
        (each.name, *(_percent(each.share(label)) for label in LABELS), _percent(each.precision))
        for each in found.labels
    )
    return table(head, rows)


def _stopped(each: Score) -> str:
    if each.rate is None:
        return "–"
    return f"{each.good_stopped} of {each.good} = {_percent(each.rate)} {_brackets(each.rate_interval)}"


def _saved(each: Score) -> str:
    return f"{each.steps_saved:,} = {_percent(each.saving)} {_brackets(each.saving_interval)}"


def _brackets(interval: Interval) -> str:
    return f"({_percent(interval[0])}–{_percent(interval[1])})"


def _percent(share: float, *, signed: bool = False) -> str:
    return f"{100 * share:{'+' if signed else ''}.1f} %"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, its columns as wide as they must be.

    >>> print(table(("a", "b"), [("1", "long")]))
    | a | b    |
    |---|------|
    | 1 | long |
    """
    cells = [head, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = [f"| {' | '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} |" for row in cells]
    rule = f"|{'|'.join('-' * (width + 2) for width in widths)}|"
    return "\n".join((lines[0], rule, *lines[1:]))

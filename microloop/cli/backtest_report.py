"""What `microloop backtest` prints: a column for each policy, then the reasons with an example each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from microloop.backtest.summary import Example, Group, Summary
from microloop.counting import counted
from microloop.shown import visible

_ACTIONS = ("allow", "warn", "ask", "block", "halt")
_REASONS = 8


def as_json_text(summaries: Sequence[Summary], problems: int) -> str:
    """For programs."""
    document = {"policies": [summary.as_dict() for summary in summaries], "problems": problems}
    return json.dumps(document, indent=2, ensure_ascii=False)


def as_text(summaries: Sequence[Summary], problems: int) -> str:
    """For people."""
    lines = [
        _head(summaries[0], problems),
        "",
        *_aligned([("", *(each.policy for each in summaries)), *_rows(summaries)]),
    ]
    for summary in summaries:
        if summary.stops:
            lines += ["", f"first stops under {summary.policy}, with a run to look at:", *_aligned(_reasons(summary))]
    return "\n".join(line.rstrip() for line in lines)


def _head(summary: Summary, problems: int) -> str:
    groups = summary.groups()
    steps = sum(group.steps for group in groups.values())
    known = ", ".join(f"{groups[name].runs:,} {name}" for name in ("succeeded", "failed", "unknown"))
    broken = f"; {counted(problems, 'problem')}" if problems else ""
    return f"{counted(summary.runs, 'run')} with {counted(steps, 'step')}: {known}{broken}"


def _rows(summaries: Sequence[Summary]) -> Iterator[tuple[str, ...]]:
    for name in summaries[0].groups():
        groups = [summary.groups()[name] for summary in summaries]
        if groups[0].runs:
            yield from _group(name, groups)
    for action in _ACTIONS:
        yield (f"verdicts: {action}", *(f"{summary.actions[action]:,}" for summary in summaries))


def _group(name: str, groups: Sequence[Group]) -> Iterator[tuple[str, ...]]:
    yield (f"{name}: runs stopped", *(_of(group.stopped, group.runs) for group in groups))
    yield ("  steps from the first stop on", *(_of(group.steps_saved, group.steps) for group in groups))
    yield ("  steps refused or after a halt", *(_of(group.not_run, group.steps) for group in groups))
    if groups[0].tokens:
        yield ("  tokens from the first stop on", *(_of(group.tokens_saved, group.tokens) for group in groups))


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({100 * part / max(1, whole):.1f} %)"


def _reasons(summary: Summary) -> Iterator[tuple[str, ...]]:
    for reason, runs in summary.stops.most_common(_REASONS):
        good = summary.stops_in_succeeded[reason]
        told = counted(runs, "run") + (f", {good:,} of them good" if good else "")
        yield (f"  {reason}", told, _where(summary.examples[reason]))


def _where(example: Example) -> str:
    run = f" run {visible(example.run_id)}" if example.run_id else ""
    return f"{example.file}{run}, step {example.stop.step}, {visible(example.stop.tool)}"


def _aligned(rows: Iterable[tuple[str, ...]]) -> list[str]:
    cells = list(rows)
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]

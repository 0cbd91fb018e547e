"""One run on the page: how it went in a sentence, its figures, its picture, its timeline, and where things went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from microloop.counting import counted
from microloop.decision import Status
from microloop.report import units
from microloop.report.bars import bars
from microloop.report.figures import Sums, after_stop, measures, sums, verdicts, worst
from microloop.report.html import Html, joined, tag
from microloop.report.marks import mark
from microloop.report.rows import Stretch, stretches
from microloop.report.steps import Style, row
from microloop.report.strip import strip
from microloop.timeline import Timeline, TimelineStep
from microloop.verdict import ALLOW

_OPEN_ROWS = 40
_QUIET_ROWS = 6


@dataclass(frozen=True, slots=True)
class NamedRun:
    """A run as it is called on the page."""

    name: str
    timeline: Timeline


def section(run: NamedRun, place: int, *, alone: bool, terse: bool) -> Html:
    """The whole of a run. One among others shows less until it is asked."""
    timeline = run.timeline
    anchor = f"r{place}"
    heading = tag("h2", tag("bdi", run.name), id=f"{anchor}-name")
    return tag(
        "article",
        tag("header", heading, fate(timeline)),
        _figures(timeline),
        strip(timeline),
        tag(
            "p",
            "From the first step to the last. Height: status. Mark on top: what the guard would do.",
            class_="caption dim",
        ),
        tag("h3", "Timeline"),
        *_timeline(timeline, anchor, terse=terse),
        tag(
            "details",
            tag("summary", tag("h3", "Where it went")),
            bars(measures(timeline.steps)),
            class_="went",
            open=alone,
        ),
        id=anchor,
        class_="run passed" if timeline.first_stop is None else "run",
        aria_labelledby=f"{anchor}-name",
    )


def fate(timeline: Timeline) -> Html:
    """What would have become of the run, in a sentence or two."""
    stop, after = timeline.first_stop, after_stop(timeline)
    if stop is None or stop.verdict is None or after is None:
        return tag("p", "The guard would not have stopped this run.", class_="fate")
    first = f"The guard would have stopped this run at step {stop.number}, for "
    saved = joined(" Stopping there would have saved, at most, ", tag("b", _told(after)), ".")
    return tag("p", first, tag("code", stop.verdict.reason), ".", saved, class_="fate")


def _told(after: Sums) -> str:
    parts = [
        counted(after.steps, "step"),
        counted(after.tokens, "token") if after.tokens else "",
        units.dollars(after.usd) if after.usd else "",
        units.duration(after.took) if after.took else "",
    ]
    return ", ".join(filter(None, parts))


def _figures(timeline: Timeline) -> Html:
    steps = timeline.steps
    total = sums(steps)
    after = after_stop(timeline)
    said = joined(*(mark(action, more=f" {units.count(times)}") for action, times in _notable(verdicts(steps)).items()))
    ended, lowest = steps[-1].status, worst(steps)
    shown = [
        ("Ended", mark(str(ended))),
        ("At worst", mark(str(lowest)) if lowest is not ended else None),
        ("Steps", units.count(total.steps)),
        ("Errors", f"{units.count(total.errors)} of {counted(total.calls, 'call')}"),
        ("Tokens", units.count(total.tokens) if total.tokens is not None else None),
        ("Cost", units.dollars(total.usd) if total.usd is not None else None),
        ("Duration", units.duration(total.took) if total.took is not None else None),
        ("Could be saved", f"{units.share(after.steps, total.steps)} of steps" if after else None),
    ]
    figures = [tag("div", tag("dt", name), tag("dd", told)) for name, told in shown if told]
    verdict = tag("div", tag("dt", "Verdicts"), tag("dd", said or mark("allow", more=" throughout")), class_="wide")
    return tag("dl", *figures, verdict, class_="figures")


def _notable(counts: Counter[str]) -> dict[str, int]:
    return {action: times for action, times in counts.most_common() if action != str(ALLOW)}


def _timeline(timeline: Timeline, prefix: str, *, terse: bool) -> Iterator[Html]:
    pieces = list(stretches(timeline))
    rows = {
        timeline.steps[place].number: shown.place
        for piece in pieces
        for shown in piece.rows
        for place in range(shown.place, shown.place + shown.length)
    }
    style = Style(prefix, rows, terse)
    for piece in pieces:
        if piece.first_stop:
            yield _stop_line(piece.rows[0].first)
        yield _stretch(piece, style)


def _stop_line(stop: TimelineStep) -> Html:
    return tag(
        "p", mark(str(stop.would)), " Here the guard would have stopped the run for the first time.", class_="stop"
    )


def _stretch(piece: Stretch, style: Style) -> Html:
    rows = tag("ol", *(row(shown, style) for shown in piece.rows))
    first, last = piece.rows[0].first.number, piece.rows[-1].last.number
    numbers = f"Step {first}" if piece.length == 1 else f"Steps {first}–{last}"
    told = tag("span", _tools(piece), class_="what")
    summary = tag("summary", mark(str(piece.status)), tag("b", f" {numbers} "), told)
    return tag("details", summary, rows, class_=f"stretch {piece.status}", open=_is_open(piece))


def _is_open(piece: Stretch) -> bool:
    quiet = piece.status is Status.HEALTHY and all(shown.judged is None for shown in piece.rows)
    return len(piece.rows) <= (_QUIET_ROWS if quiet else _OPEN_ROWS)


def _tools(piece: Stretch) -> str:
    tools: Counter[str] = Counter()
    for shown in piece.rows:
        for step in shown.round:
            tools[step.tool] += shown.times
    most = [f"{tool} ×{units.count(times)}" if times > 1 else tool for tool, times in tools.most_common(4)]
    return ", ".join(most) + (", …" if len(tools) > len(most) else "")

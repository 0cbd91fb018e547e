"""A whole run at a glance: a bar for each step, or for several, as high as things are bad."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from microloop.counting import counted
from microloop.decision import Status
from microloop.report.html import Html, joined, tag
from microloop.timeline import Timeline, TimelineStep
from microloop.verdict import Action

_MOST_BARS = 160
_HEIGHT = 40
_BADNESS = {status: place for place, status in enumerate(Status)}
_SEVERITY = {action: place for place, action in enumerate(Action)}
_HEIGHTS = {Status.HEALTHY: 10, Status.WARNING: 20, Status.STALLED: 32, Status.REGRESSING: 32}


def strip(timeline: Timeline) -> Html:
    """The picture of a run, with its text for those who do not see it."""
    bars = list(_bars(timeline.steps))
    shapes = joined(*(_shape(place, bar) for place, bar in enumerate(bars)))
    picture = tag(
        "svg",
        shapes,
        class_="strip",
        viewBox=f"0 0 {len(bars)} {_HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=_told(timeline),
    )
    return tag("div", picture, class_="few" if len(bars) < _MOST_BARS // 4 else None)


def _bars(steps: Sequence[TimelineStep]) -> Iterator[tuple[Status, Action]]:
    """The worst of each of the equal parts of the run."""
    count = min(len(steps), _MOST_BARS)
    for place in range(count):
        part = steps[place * len(steps) // count : (place + 1) * len(steps) // count]
        yield (
            max((step.status for step in part), key=_BADNESS.__getitem__),
            max((step.would for step in part), key=_SEVERITY.__getitem__),
        )


def _shape(place: int, bar: tuple[Status, Action]) -> Html:
    status, would = bar
    height = _HEIGHTS[status]
    status_bar = tag("rect", x=place, y=_HEIGHT - height, width="0.86", height=height, class_=str(status))
    if would is Action.ALLOW:
        return status_bar
    return joined(status_bar, tag("rect", x=place, y=0, width="0.86", height=6, class_=str(would)))


def _told(timeline: Timeline) -> str:
    stop = timeline.first_stop
    stopped = f"; first stop at step {stop.number}" if stop else ""
    return f"{counted(len(timeline.steps), 'step')}, ended {timeline.steps[-1].status}{stopped}"

"""Where calls, tokens and time went: a bar for each tool."""

from __future__ import annotations

from microloop.report import units
from microloop.report.figures import Measure
from microloop.report.html import Html, joined, tag

_MOST_PARTS = 8


def bars(measures: list[Measure]) -> Html:
    """All measures, side by side where there is room."""
    return tag("div", *(_measure(measure) for measure in measures), class_="measures")


def _measure(measure: Measure) -> Html:
    shown = measure.parts[:_MOST_PARTS]
    rest = measure.parts[_MOST_PARTS:]
    if rest:
        shown = (*shown, (f"{len(rest)} more", sum(amount for _, amount in rest)))
    most = max(amount for _, amount in shown)
    total = tag("span", measure.shown(measure.total), class_="total")
    rows = (_row(measure, name, amount, most) for name, amount in shown)
    return tag("section", tag("h4", f"{measure.title} ", total), tag("ul", *rows))


def _row(measure: Measure, name: str, amount: int, most: int) -> Html:
    told = f"{measure.shown(amount)} · {units.share(amount, measure.total)}"
    # Sizes as attributes of a picture: style attributes would need a laxer content policy.
    bar = tag("svg", tag("rect", width=f"{100 * amount / most:.1f}%", height="100%"), class_="bar", aria_hidden="true")
    label = joined(tag("code", name), tag("span", told, class_="amount"))
    return tag("li", tag("div", label, class_="label"), bar)

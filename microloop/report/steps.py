"""The rows of a timeline. What stands behind a step opens under it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from microloop.counting import as_many, counted
from microloop.decision import Status
from microloop.report import units
from microloop.report.figures import Sums
from microloop.report.html import Html, joined, tag
from microloop.report.marks import mark
from microloop.report.rows import Row
from microloop.timeline import TimelineStep
from microloop.verdict import Verdict

_TERSE = 60


@dataclass(frozen=True, slots=True)
class Style:
    """How the rows of one run are shown."""

    prefix: str
    """What the ids of the run's rows begin with."""
    rows: Mapping[int, int]
    """The place of the row in which each of the recording's steps is."""
    terse: bool
    """Whether the page is so long that only what was judged opens."""


def row(shown: Row, style: Style) -> Html:
    """One row."""
    anchor = f"{style.prefix}-{shown.place}"
    if style.terse and shown.judged is None:
        return tag("li", tag("div", _headline(shown, terse=True), class_="line"), id=anchor)
    opened = tag("div", *_details(shown, style), class_="opened")
    return tag("li", tag("details", tag("summary", _headline(shown), class_="line"), opened), id=anchor)


def _headline(shown: Row, *, terse: bool = False) -> Html:
    first = shown.first
    told = first.arguments if len(shown.round) == 1 else ""
    return joined(
        tag("span", _numbers(shown), class_="no"),
        tag("span", _names(shown), class_="who"),
        tag("span", _shortened(told) if terse else told, class_="what") if told else None,
        _marks(shown),
    )


def _numbers(shown: Row) -> str:
    first, last = shown.first.number, shown.last.number
    return f"{first}" if shown.length == 1 else f"{first}–{last}"


def _names(shown: Row) -> Html:
    names = " → ".join(step.tool for step in shown.round)
    name = tag("b", names) if shown.first.is_call else tag("i", names)
    return joined(name, tag("span", f" ×{units.count(shown.times)}", class_="times") if shown.times > 1 else None)


def _marks(shown: Row) -> Html | None:
    judged = shown.judged
    failed = any(step.failed for step in shown.round)
    error = tag("span", "error", class_="mark error") if failed else None
    would = mark(str(judged.would)) if judged is not None else None
    better = any(step.verified_progress for step in (*shown.round, shown.last))
    progress = tag("span", "verified progress", class_="mark healthy") if better and would is None else None
    if error is None and would is None and progress is None:
        return None
    return tag("span", error, progress, would, class_="marks")


def _details(shown: Row, style: Style) -> list[Html | None]:
    facts: list[Html | None] = [fact for step in shown.round for fact in _facts(step, named=len(shown.round) > 1)]
    if shown.times > 1 and shown.last.outcome != shown.round[-1].outcome:
        facts.append(_fact("Last result", _result(shown.last)))
    facts.append(_spent(shown.sums))
    judged = shown.judged
    return [
        _verdict(judged.verdict, style) if judged is not None and judged.verdict is not None else None,
        _standing(shown.first, judged, style),
        tag("dl", *facts, class_="facts"),
    ]


def _facts(step: TimelineStep, *, named: bool) -> list[Html]:
    name = f"{step.tool}: " if named else ""
    facts = [_fact(f"{name}Arguments" if step.is_call else "Said", tag("code", step.arguments or "none"))]
    if step.is_call:
        facts.append(_fact(f"{name}{'Error' if step.failed else 'Result'}", _result(step)))
    return facts


def _spent(total: Sums) -> Html | None:
    told = [
        counted(total.tokens, "token") if total.tokens else "",
        units.dollars(total.usd) if total.usd else "",
        units.duration(total.took) if total.took else "",
    ]
    return _fact("Spent", " · ".join(filter(None, told))) if any(told) else None


def _fact(name: str, *told: str | Html) -> Html:
    return tag("div", tag("dt", name), tag("dd", *told))


def _result(step: TimelineStep) -> Html:
    if step.outcome is None:
        return tag("em", "not in the log")
    if not step.outcome:
        return tag("em", "empty")
    return joined(tag("code", step.outcome), tag("span", f" {units.size(step.size)}", class_="dim"))


def _verdict(verdict: Verdict, style: Style) -> Html:
    counted = f", {verdict.seen} of {verdict.limit}" if verdict.limit is not None else ""
    why = joined(mark(str(verdict.would or verdict.action)), " ", tag("code", verdict.reason), counted)
    feedback = tag("blockquote", verdict.feedback) if verdict.feedback else None
    return tag("div", tag("p", why, _because(verdict.evidence, style)), feedback, class_="why")


def _standing(step: TimelineStep, judged: TimelineStep | None, style: Style) -> Html | None:
    """What the monitor rests on, as far as the guard has not said it already."""
    if step.status is Status.HEALTHY and not step.verified_progress:
        return None
    said = judged.verdict.reason if judged is not None and judged.verdict is not None else ""
    proofs = [proof for proof in step.decision.evidence if proof.reason != said]
    if not proofs:
        return None
    lines = (
        tag("p", mark(str(step.status)), " ", tag("code", proof.reason), f": {proof.why}", _because(proof.steps, style))
        for proof in proofs
    )
    return tag("div", *lines, class_="why")


def _because(numbers: tuple[int, ...], style: Style) -> Html | None:
    if not numbers:
        return None
    links = [
        tag("a", str(number), href=f"#{style.prefix}-{style.rows[number]}") if number in style.rows else str(number)
        for number in numbers
    ]
    between = [child for link in links for child in (link, " ")]
    return tag("span", f"Because of {as_many(len(numbers), 'step')} ", *between, class_="because")


def _shortened(told: str) -> str:
    return told if len(told) <= _TERSE else told[: _TERSE - 1] + "…"

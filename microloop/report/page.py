"""The page: one file that needs nothing else, and may run nothing."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.resources import files

from microloop import __version__
from microloop.counting import counted
from microloop.report import units
from microloop.report.figures import after_stop
from microloop.report.html import Html, joined, style, tag
from microloop.report.marks import mark
from microloop.report.run import NamedRun, section
from microloop.report.strip import strip

_LONG_PAGE = 2500
"""From so many steps on, a page shows less of each."""
_LISTED = 24


def page(runs: Sequence[NamedRun], policy: str, broken_lines: int = 0) -> Iterator[str]:
    """The page in pieces, to be written one after the other.

    >>> "".join(page([], "balanced")).startswith("<!DOCTYPE html>")
    True
    """
    terse = sum(len(run.timeline.steps) for run in runs) > _LONG_PAGE
    yield f'<!DOCTYPE html>\n<html lang="en">\n{_head(runs)}\n<body>\n'
    yield tag("a", "Skip to the runs", href="#runs", class_="skip")
    yield _header(runs, policy, broken_lines)
    many = ' class="many"' if len(runs) > 1 else ""
    yield f'<main id="runs" tabindex="-1"{many}>\n'
    for place, run in enumerate(runs):
        yield section(run, place, alone=len(runs) == 1, terse=terse) + "\n"
    yield f"</main>\n{_footer(policy)}\n</body>\n</html>\n"


def _head(runs: Sequence[NamedRun]) -> Html:
    sheet = files("microloop.report").joinpath("page.css").read_text(encoding="utf-8")
    digest = b64encode(sha256(sheet.encode()).digest()).decode()
    allowed = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        # Nothing is loaded and no script runs, whatever has found its way into the page.
        tag("meta", http_equiv="Content-Security-Policy", content=allowed),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{runs[0].name if len(runs) == 1 else counted(len(runs), 'run')} – microloop report"),
        style(sheet),
    )


def _header(runs: Sequence[NamedRun], policy: str, broken_lines: int) -> Html:
    broken = f" {counted(broken_lines, 'broken line')} of the log could not be read." if broken_lines else ""
    told = joined("Replayed under the policy ", tag("code", policy), f", which only watched.{broken}")
    if len(runs) == 1:
        return tag("header", tag("h1", "microloop report", class_="brand"), tag("p", told, class_="dim"), class_="top")
    brand = tag("p", "microloop report", class_="brand")
    return tag("header", brand, _overview(runs), tag("p", told, class_="dim"), class_="top")


def _overview(runs: Sequence[NamedRun]) -> Html:
    stopped = [after for run in runs if (after := after_stop(run.timeline))]
    steps = sum(len(run.timeline.steps) for run in runs)
    later = sum(after.steps for after in stopped)
    title = f"{len(stopped):,} of {counted(len(runs), 'run')} would have been stopped"
    told = f"{counted(steps, 'step')} in all; {units.count(later)} came after a run's first stop."
    box = tag("label", tag("input", type="checkbox", id="only"), " Only runs that would have been stopped")
    links = tag("ul", *(_link(run, place) for place, run in enumerate(runs)), class_="runs")
    listed = tag("details", tag("summary", "All runs"), links, open=len(runs) <= _LISTED)
    return joined(tag("h1", title), tag("p", told), box, tag("nav", listed, aria_label="Runs"))


def _link(run: NamedRun, place: int) -> Html:
    stop = run.timeline.first_stop
    steps = counted(len(run.timeline.steps), "step")
    told = f"{steps}, first stop at {stop.number}" if stop else steps
    name = tag("span", tag("bdi", run.name), class_="name")
    shown = joined(name, mark(str(run.timeline.steps[-1].status)), tag("span", told, class_="dim"))
    link = tag("a", shown, strip(run.timeline), href=f"#r{place}")
    return tag("li", link, class_=None if stop else "passed")


def _footer(policy: str) -> Html:
    return tag(
        "footer",
        tag(
            "p",
            "What came after the first stop is the most that stopping there would have saved: a refusal may also "
            "set the run right, and then it goes on. Texts are shortened, and what looks like a secret is left out.",
        ),
        tag("p", f"Made by microloop {__version__} with the policy {policy}."),
    )

"""`microloop report`: recorded runs as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from microloop.cli.recording import Asked, Recording
from microloop.cli.references import LogFormat, PolicyReference, load_policy, role_option
from microloop.cli.skipped import Skipped, broken
from microloop.cli.source import open_lines
from microloop.cli.style import complain
from microloop.counting import counted
from microloop.shown import visible

if TYPE_CHECKING:
    from microloop.report import NamedRun
    from microloop.timeline import Timeline


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--output",
    "-o",
    default="report.html",
    show_default=True,
    type=click.Path(dir_okay=False, writable=True, allow_dash=True),
    help="The page to write; - for standard output.",
)
@click.option(
    "--policy", default="balanced", show_default=True, type=PolicyReference(), help="Name or path of a policy."
)
@click.option("--format", "log_format", type=LogFormat(), help="How the files are written, if it is not found.")
@click.option("--run-id", "run_ids", multiple=True, help="Only the run of this id; may be given again.")
@role_option
def command(
    runs: tuple[str, ...],
    *,
    output: str,
    policy: str,
    log_format: str | None,
    run_ids: tuple[str, ...],
    role: str | None,
) -> None:
    """Write recorded RUNS (also .gz and .xz; - for standard input) as one HTML page.

    The page needs no network and runs no script. It has what the policy would have done at each step, whether the run
    was still getting anywhere, where calls, tokens and time went, and what came after the first stop.

    Exit code: 0 if the page is written, 2 if the input cannot be used or the page cannot be written.
    """
    if _is_one_of(output, runs):
        raise click.UsageError(
            f"{output} is a recorded run, and would be overwritten; choose another file with --output"
        )
    title = load_policy(policy).name
    asked = [Asked(run, policy, log_format, run_ids, role) for run in runs]
    named: list[NamedRun] = []
    broken_lines = 0
    for each in asked:
        found, unread = _runs_of(each, alone=len(asked) == 1)
        named += found
        broken_lines += unread
    if not named:
        raise asked[0].without_steps("report", broken_lines)
    _write(output, named, title, broken_lines)


def _is_one_of(output: str, runs: tuple[str, ...]) -> bool:
    return Path(output).exists() and any(run != "-" and Path(output).samefile(run) for run in runs)


def _runs_of(asked: Asked, *, alone: bool) -> tuple[list[NamedRun], int]:
    """The runs of a file, and how many lines of it are broken."""
    from microloop.report import NamedRun
    from microloop.timeline import timelines

    skipped = Skipped()
    recording = Recording(asked, lambda line: skipped.tell(f"{asked.run}: {broken(line)}"))
    with open_lines(asked.run) as lines:
        found = [NamedRun(_name(run, asked.run, alone=alone), run) for run in timelines(recording.steps(lines))]
    skipped.end()
    return found, recording.broken_lines


def _name(timeline: Timeline, file: str, *, alone: bool) -> str:
    """The run's id; with the name of its file where there are several, or where it has no id."""
    stem = "standard input" if file == "-" else Path(file).name
    parts = [timeline.run_id] if alone else [stem, timeline.run_id]
    return visible(" · ".join(filter(None, parts)) or stem)


def _write(output: str, runs: list[NamedRun], policy: str, broken_lines: int) -> None:
    from microloop.report import page

    try:
        with click.open_file(output, "w", encoding="utf-8") as file:
            for piece in page(runs, policy, broken_lines):
                file.write(piece)
    except BrokenPipeError:
        raise  # whoever reads the page has read enough: click ends the command without a word
    except OSError as error:
        complain(f"{output}: cannot be written: {error.strerror}; choose another place with --output")
        raise SystemExit(2) from None
    if output != "-":
        click.echo(f"{output}: {counted(len(runs), 'run')} under {policy}", err=True)

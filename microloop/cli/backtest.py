"""`microloop backtest`: what a policy would have done to many recorded runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from microloop.cli.references import LogFormat, NumberRange, PolicyReference, formats_to_try, load_policy, role_option
from microloop.cli.skipped import Skipped
from microloop.cli.style import complain

if TYPE_CHECKING:
    from microloop.backtest.outcomes import Outcomes
    from microloop.backtest.summary import Summary
    from microloop.backtest.work import Judged, Work


@click.command("backtest")
@click.argument("policy", type=PolicyReference())
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--against", type=PolicyReference(), help="A second policy, to compare with.")
@click.option("--outcomes", type=click.Path(exists=True, dir_okay=False), help="Table of run_id and outcome.")
@click.option(
    "--outcome-field", default="outcome", show_default=True, help="Where lines and table say how a run ended."
)
@click.option(
    "--format", "log_format", type=LogFormat(), help="How the files are written, if it is not found by itself."
)
@role_option
@click.option("--engine", type=click.Choice(["local", "ray"]), default="local", show_default=True, help="What runs it.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes; default: one for each core.")
@click.option("--fail-above", type=NumberRange(0, 1), help="Fail if a larger share of good runs is stopped.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(  # noqa: PLR0913 - one for each option
    policy: str,
    paths: tuple[str, ...],
    *,
    against: str | None,
    outcomes: str | None,
    outcome_field: str,
    log_format: str | None,
    role: str | None,
    engine: str,
    jobs: int | None,
    fail_above: float | None,
    as_json: bool,
) -> None:
    """Replay all recorded runs of PATHS (files and folders) under a POLICY, and count what would have happened.

    Formats are those of `microloop check`, and Parquet with a row a step. Whether a run succeeded is told by an
    `outcome` in one of its lines, or by a table.

    Exit code: 0; 1 if more good runs are stopped than --fail-above allows; 2 if the input cannot be used.
    """
    from microloop.backtest.work import Work
    from microloop.cli.backtest_report import as_json_text, as_text

    loaded = [load_policy(each) for each in (policy, against) if each is not None]
    work = Work(
        policies=tuple(each.document for each in loaded),
        outcomes=read_outcomes(outcomes, outcome_field),
        log_format=log_format,
        role=role,
    )
    names = [each.name for each in loaded]
    summaries, problems = summed_up(names, results(work, files_to_read(paths, outcomes), engine, jobs))
    if not summaries[0].runs:
        raise without_runs("backtest", paths, log_format, problems)
    click.echo(as_json_text(summaries, problems) if as_json else as_text(summaries, problems))
    raise SystemExit(_code(summaries[0], fail_above))


def read_outcomes(table: str | None, field: str) -> Outcomes:
    """What a table says, or nothing; one that cannot be read ends the command with code 2."""
    from microloop.backtest.outcomes import Outcomes, read_table

    if table is None:
        return Outcomes(field=field)
    try:
        return read_table(Path(table), field)
    except (OSError, EOFError, ValueError) as error:
        complain(f"{table}: {error}")
        raise SystemExit(2) from None


def files_to_read(paths: Sequence[str], table: str | None) -> list[str]:
    """The recordings of these paths; a table of outcomes among them is none."""
    from microloop.backtest import files_in

    given = None if table is None else Path(table).resolve()
    return [str(path) for path in files_in(paths) if path.resolve() != given]


def without_runs(command: str, paths: Sequence[str], log_format: str | None, problems: int) -> SystemExit:
    """The end of a command that found no run."""
    hint = f"{formats_to_try(log_format)}; " if problems or log_format else ""
    complain(f"no run was found in {', '.join(paths)}; {hint}see `microloop {command} --help`")
    return SystemExit(2)


def results(work: Work, files: Sequence[str], engine: str, jobs: int | None) -> Iterator[Judged]:
    """What the engine finds out; with a bar on a terminal. An engine that is not installed ends the command."""
    from microloop.backtest import local, on_ray

    judged = (on_ray if engine == "ray" else local).judged(work, files, jobs)
    try:
        for batch in _watched(judged, len(files)) if engine == "local" else judged:
            yield from batch
    except ImportError as error:
        complain(str(error))
        raise SystemExit(2) from None


def _watched(batches: Iterator[list[Judged]], files: int) -> Iterator[list[Judged]]:
    if not sys.stderr.isatty():
        yield from batches
        return
    with click.progressbar(batches, length=files, label="replaying", file=sys.stderr) as bar:
        yield from bar


def summed_up(names: Sequence[str], judged: Iterator[Judged]) -> tuple[list[Summary], int]:
    """A summary for each policy, and how much could not be read, which is reported at once."""
    from microloop.backtest import Problem
    from microloop.backtest.summary import Summary

    summaries = [Summary(name) for name in names]
    skipped = Skipped("problem")
    for each in judged:
        if isinstance(each, Problem):
            skipped.tell(f"{each}{'' if each.line is None else '; skipped'}")
            continue
        for summary, result in zip(summaries, each, strict=True):
            summary.add(result)
    skipped.end()
    return summaries, skipped.count


def _code(summary: Summary, fail_above: float | None) -> int:
    if fail_above is None:
        return 0
    if not summary.succeeded.runs:
        complain("of no run it is known that it succeeded: --fail-above needs an outcome in the lines, or --outcomes")
        return 2
    return int(summary.succeeded.rate > fail_above)

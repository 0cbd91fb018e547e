"""`microloop calibrate`: levels for a policy's loop detectors, from good runs, with a bound on false stops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from microloop.cli.references import LogFormat, NumberRange, PolicyReference, load_policy, role_option
from microloop.cli.skipped import Skipped
from microloop.cli.style import complain
from microloop.counting import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from microloop.backtest import RecordedRun
    from microloop.backtest.outcomes import Outcomes
    from microloop.calibration import Choice

_LINE = 100


@click.command("calibrate")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True))
@click.option(
    "--alpha",
    type=NumberRange(0, 1, min_open=True, max_open=True),
    default=0.01,
    show_default=True,
    help="The rate at which good runs may be stopped.",
)
@click.option("--policy", default="balanced", show_default=True, type=PolicyReference(), help="Whose levels to scale.")
@click.option("--outcomes", type=click.Path(exists=True, dir_okay=False), help="Table of run_id and outcome.")
@click.option(
    "--outcome-field", default="outcome", show_default=True, help="Where lines and table say how a run ended."
)
@click.option(
    "--format", "log_format", type=LogFormat(), help="How the files are written, if it is not found by itself."
)
@role_option
def command(
    paths: tuple[str, ...],
    *,
    alpha: float,
    policy: str,
    outcomes: str | None,
    outcome_field: str,
    log_format: str | None,
    role: str | None,
) -> None:
    """Choose loop levels from the good runs of PATHS (files and folders), and print the policy.

    Good runs are those that succeeded; where nothing says how any run ended, all are taken to be good. The policy is
    the strictest of a family, the levels of --policy multiplied by a factor, that stops the next good run with a
    probability of at most --alpha.

    Exit code: 0; 1 if there is no such policy, as with too few runs; 2 if the input cannot be used.
    """
    from microloop.calibration import choose, family, score_run
    from microloop.cli.backtest import files_to_read, read_outcomes, without_runs

    document = load_policy(policy).document
    skipped = Skipped("problem")
    found = list(_runs(files_to_read(paths, outcomes), read_outcomes(outcomes, outcome_field), log_format, skipped))
    if not found:
        raise without_runs("calibrate", paths, log_format, skipped.count)
    runs = _good(found)
    members = family(document)
    scores = [score_run(members, run, role) for run in _watched(runs)]
    try:
        choice = choose(scores, alpha)
    except ValueError as error:
        complain(str(error))
        raise SystemExit(1) from None
    click.echo(_policy(policy, document, choice), nl=False)
    click.echo(choice.guarantee, err=True)


def _runs(files: Sequence[str], outcomes: Outcomes, log_format: str | None, skipped: Skipped) -> Iterator[RecordedRun]:
    from pathlib import Path

    from microloop.backtest import Problem, read_file

    for file in files:
        for found in read_file(Path(file), outcomes, log_format):
            if isinstance(found, Problem):
                skipped.tell(str(found))
            else:
                yield found
    skipped.end()


def _good(runs: list[RecordedRun]) -> list[RecordedRun]:
    if all(run.succeeded is None for run in runs):
        click.echo(f"nothing says how the runs ended: all are taken to be good ({counted(len(runs), 'run')})", err=True)
        return runs
    return [run for run in runs if run.succeeded]


def _watched(runs: list[RecordedRun]) -> Iterator[RecordedRun]:
    """With a bar on a terminal: each run is replayed once for each factor."""
    import sys

    if not sys.stderr.isatty():
        yield from runs
        return
    with click.progressbar(runs, label="replaying", file=sys.stderr) as bar:
        yield from bar


def _policy(reference: str, document: dict[str, Any], choice: Choice) -> str:
    import textwrap

    import yaml

    from microloop.calibration import scaled

    levels = scaled(document.get("loops", {}), choice.factor)
    told = f"The levels of {reference}, {choice.factor:g} times as high. {choice.guarantee}"
    lines = [
        "version: 1",
        "name: calibrated",
        "description: >-",
        *textwrap.wrap(told, _LINE, initial_indent="  ", subsequent_indent="  "),
        yaml.safe_dump({"extends": reference}).strip(),
        "loops:",
        *(
            f"  {name}: {{{', '.join(f'{level}: {count}' for level, count in each.items())}}}"
            for name, each in levels.items()
        ),
    ]
    return "\n".join(lines) + "\n"

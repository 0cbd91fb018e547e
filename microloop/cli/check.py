"""`microloop check`: what a policy would have said about a recorded run."""

from __future__ import annotations

import click

from microloop.cli.references import LogFormat, PolicyReference, load_policy
from microloop.cli.source import open_lines
from microloop.cli.style import complain


@click.command("check")
@click.argument("run", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--policy", default="balanced", show_default=True, type=PolicyReference(), help="Name or path of a policy."
)
@click.option("--format", "log_format", type=LogFormat(), help="How the file is written, if it is not found by itself.")
@click.option("--run-id", "run_ids", multiple=True, help="Only the run of this id; may be given again.")
@click.option("--role", help="Role of the sessions.")
@click.option("--quiet", "-q", is_flag=True, help="Only steps that are not simply allowed.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines: one a step, then one summary.")
def command(
    run: str,
    *,
    policy: str,
    log_format: str | None,
    run_ids: tuple[str, ...],
    role: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Replay a recorded RUN (also .gz and .xz; - for standard input) and say what would have happened.

    It reads microloop's own JSON lines, messages of OpenAI, Anthropic and LangChain, LangSmith and OpenTelemetry
    exports, and the logs of coding agents. Each run in the file has a session of its own. A line that is no step is
    reported with its number and skipped.

    Exit code: 0 if nothing would have been stopped, 1 if something would, 2 if the input cannot be used.
    """
    from microloop.cli.check_report import JsonReport, TextReport
    from microloop.recheck import Recheck

    report = JsonReport(quiet=quiet) if as_json else TextReport(quiet=quiet)
    recheck = Recheck(load_policy(policy), role=role, only=frozenset(run_ids))
    with open_lines(run) as lines:
        for judged in recheck.judge(lines, log_format):
            report.show(judged)
    if not recheck.runs:
        complain(f"{run}: no step was found{' for this run id' if run_ids else ''}; see `microloop check --help`")
        raise SystemExit(2)
    report.finish(recheck)
    raise SystemExit(recheck.stopped)

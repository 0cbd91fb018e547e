"""`microloop check`: what a policy would have said about a recorded run."""

from __future__ import annotations

import click

from microloop.cli.recording import Asked, recording_options
from microloop.cli.references import load_policy
from microloop.cli.source import open_lines


@click.command("check")
@recording_options
@click.option("--quiet", "-q", is_flag=True, help="Only steps that are not simply allowed.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines: one a step, then one summary.")
def command(asked: Asked, *, quiet: bool, as_json: bool) -> None:
    """Replay a recorded RUN (also .gz and .xz; - for standard input) and say what would have happened.

    It reads microloop's own JSON lines, messages of OpenAI, Anthropic and LangChain, LangSmith and OpenTelemetry
    exports, and the logs of coding agents. Each run in the file has a session of its own. A line that is no step is
    reported with its number and skipped.

    Exit code: 0 if nothing would have been stopped, 1 if something would, 2 if the input cannot be used.
    """
    from microloop.cli.check_report import JsonReport, TextReport
    from microloop.recheck import Recheck

    report = JsonReport(quiet=quiet) if as_json else TextReport(quiet=quiet)
    recheck = Recheck(load_policy(asked.policy), role=asked.role, only=frozenset(asked.run_ids))
    with open_lines(asked.run) as lines:
        for judged in recheck.judge(lines, asked.log_format):
            report.show(judged)
    if not recheck.runs:
        raise asked.without_steps("check", recheck.broken_lines)
    report.finish(recheck)
    raise SystemExit(recheck.stopped)

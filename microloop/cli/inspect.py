"""`microloop inspect`: where recorded runs turned, told as a story."""

from __future__ import annotations

import click

from microloop.cli.recording import Asked, Recording, recording_options
from microloop.cli.source import open_lines
from microloop.cli.summary import LEVELS, Ends
from microloop.cli.teller import teller


@click.command("inspect")
@recording_options
@click.option("--verbose", "-v", is_flag=True, help="Every step, not only those at which something begins.")
@click.option(
    "--fail-on", default=LEVELS[0], show_default=True, type=click.Choice(LEVELS), help="The end that counts as failure."
)
@click.option("--json", "as_json", is_flag=True, help="JSON lines: one a step that is told, then one summary.")
def command(asked: Asked, *, verbose: bool, fail_on: str, as_json: bool) -> None:
    """Tell where a recorded RUN turned: where it began to stall, what its checks gained, what the guard would stop.

    RUN is a file (also .gz and .xz), or - for standard input. A line that is no step is reported with its number and
    skipped.

    Exit code: 0 if every run ended healthy, 1 if one ended with a warning or worse (see --fail-on), 2 if the input
    cannot be used.
    """
    from microloop.timeline import Turns

    told, turns, ends = teller(as_json=as_json), Turns(), Ends()
    recording = Recording(asked, told.broken)
    with open_lines(asked.run) as lines:
        for step in recording.steps(lines):
            ends.count(step)
            if turns.begins(step):
                told.turn(step)
            elif verbose:
                told.step(step)
    if not ends.runs:
        raise asked.without_steps("inspect", recording.broken_lines)
    told.end(recording, ends)
    raise SystemExit(ends.reach(fail_on))

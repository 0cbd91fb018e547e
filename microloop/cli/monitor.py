"""`microloop monitor`: a run, while an agent writes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from microloop.cli.following import Follower, until_interrupted
from microloop.cli.recording import Asked, Recording, recording_options
from microloop.cli.references import NumberRange
from microloop.cli.source import open_lines, readable
from microloop.cli.style import complain
from microloop.cli.summary import LEVELS, Ends
from microloop.cli.teller import Teller, teller

if TYPE_CHECKING:
    from microloop.timeline import TimelineStep


@click.command("monitor")
@recording_options
@click.option("--follow", "-f", is_flag=True, help="Go on at the end of the file, until you interrupt it.")
@click.option(
    "--until-idle", type=NumberRange(0), metavar="SECONDS", help="Follow, and end when nothing came for so long."
)
@click.option(
    "--fail-on", default=LEVELS[0], show_default=True, type=click.Choice(LEVELS), help="The end that counts as failure."
)
@click.option("--json", "as_json", is_flag=True, help="JSON lines: one a change, then one summary.")
def command(asked: Asked, *, follow: bool, until_idle: float | None, fail_on: str, as_json: bool) -> None:
    """Watch a RUN while an agent writes it, and tell each change of its status as it happens.

    RUN is a file, a pipe, or - for standard input. A line is read when it is whole; a call is judged when its result is
    there. A file that is replaced or rewritten is read from its start.

    Exit code, also after Ctrl-C: 0 if every run is healthy at the end, 1 if one has a warning or worse (see --fail-on),
    2 if the input cannot be used.
    """
    following = follow or until_idle is not None
    if following and asked.run.endswith((".gz", ".xz")):
        raise click.UsageError(f"{asked.run} is packed, and cannot be followed")
    told = teller(as_json=as_json)
    watch = _Watch(Recording(asked, told.broken), told)
    if following or asked.run == "-":
        with until_interrupted() as over:
            files = Follower(asked.run, over, complain, until_idle).files()
            watch.files(readable(asked.run, lines) for lines in readable(asked.run, files))
    else:
        with open_lines(asked.run) as lines:
            watch.files([lines])
    if not watch.ends.runs:
        raise asked.without_steps("monitor", watch.recording.broken_lines)
    told.end(watch.recording, watch.ends)
    raise SystemExit(watch.ends.reach(fail_on))


class _Watch:
    """What is told of the runs, in one file after the other."""

    def __init__(self, recording: Recording, told: Teller) -> None:
        self.recording = recording
        self.ends = Ends()
        self._told = told
        self._known: set[tuple[object, ...]] = set()

    def files(self, files: Iterable[Iterable[bytes]]) -> None:
        for lines in files:
            self.ends.begin_anew()
            self._told.file()
            self._steps(self.recording.steps(lines))

    def _steps(self, steps: Iterable[TimelineStep]) -> None:
        from microloop.timeline import Turns

        turns = Turns()
        for step in steps:
            self.ends.count(step)
            if turns.begins(step) and not self._is_known(step):
                self._told.turn(step)

    def _is_known(self, step: TimelineStep) -> bool:
        """Agents that write their log anew with each message tell of the same run again, by its name."""
        turn = (step.run_id, step.number, step.call, step.status, step.would)
        known = step.run_id != "" and turn in self._known
        self._known.add(turn)
        return known

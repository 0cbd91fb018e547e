"""`microloop replay`: a recorded run, a line a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from microloop.cli.recording import Asked, Recording, heading, recording_options
from microloop.cli.skipped import Skipped, broken
from microloop.cli.source import open_lines
from microloop.cli.style import paint, paint_action, paint_status
from microloop.counting import counted
from microloop.shown import visible

if TYPE_CHECKING:
    from microloop.timeline import TimelineStep

_TEXT = 60
"""Characters of what was called, and as many of what came back."""


@click.command("replay")
@recording_options
@click.option("--from", "first", type=int, help="The number of the first step to show.")
@click.option("--to", "last", type=int, help="The number of the last step to show.")
def command(asked: Asked, *, first: int | None, last: int | None) -> None:
    """Show a recorded RUN step by step: what was called, what came back, what the guard would do, where the run stands.

    RUN is a file (also .gz and .xz), or - for standard input. The guard does not act: steps after the first one that it
    would stop are judged as they happened. All steps count, also those that are not shown.

    Exit code: 0, or 2 if the input cannot be used or has no such step.
    """
    skipped = Skipped()
    recording = Recording(asked, lambda line: skipped.tell(broken(line)))
    shown: str | None = None
    highest: int | None = None
    with open_lines(asked.run) as lines:
        for step in recording.steps(lines):
            highest = step.number if highest is None else max(highest, step.number)
            if (first is None or first <= step.number) and (last is None or step.number <= last):
                _print(step, head=step.run_id != shown)
                shown = step.run_id
    if highest is None:
        raise asked.without_steps("replay", recording.broken_lines)
    skipped.end()
    if skipped.count:
        click.echo(f"{counted(skipped.count, 'broken line')} skipped", err=True)
    if shown is None:
        raise asked.unusable(f"no such step was found: the last one is {highest}; see --from and --to")


def _print(step: TimelineStep, *, head: bool) -> None:
    if head:
        click.echo(heading(step.run_id))
    click.echo(f"{step.number:>5}  {paint_action(step.would, 5)}  {paint_status(step.status, 10)}  {_happened(step)}")


def _happened(step: TimelineStep) -> str:
    called = f"{step.tool} {visible(step.arguments, _TEXT)}".rstrip()
    if not step.is_call:
        return called
    came = "not in the log" if step.outcome is None else visible(step.outcome, _TEXT) or "nothing"
    return f"{called} {paint('→', 'red' if step.failed else 'bright_black')} {'error: ' if step.failed else ''}{came}"

"""What `microloop inspect` and `microloop monitor` print: a line for each thing that begins, then how runs ended."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

import click

from microloop.cli.recording import heading
from microloop.cli.skipped import Skipped, broken
from microloop.cli.story import story
from microloop.cli.style import paint, paint_status
from microloop.counting import counted
from microloop.shown import visible

if TYPE_CHECKING:
    from microloop.cli.recording import Recording
    from microloop.cli.summary import Ends
    from microloop.recorded import BrokenLine
    from microloop.timeline import TimelineStep


class Teller(Protocol):
    """Who tells of a recording."""

    def file(self) -> None:
        """Another file begins."""

    def broken(self, line: BrokenLine) -> None:
        """A line that is skipped."""

    def step(self, step: TimelineStep) -> None:
        """A step at which nothing begins."""

    def turn(self, step: TimelineStep) -> None:
        """A step at which something begins."""

    def end(self, recording: Recording, ends: Ends) -> None:
        """The summary."""


class TextTeller:
    """For people."""

    def __init__(self) -> None:
        self._run_id: str | None = None
        self._skipped = Skipped()

    def file(self) -> None:
        """Its runs have headings of their own."""
        self._run_id = None

    def broken(self, line: BrokenLine) -> None:
        """On standard error."""
        self._skipped.tell(broken(line))

    def step(self, step: TimelineStep) -> None:
        """Only what was done."""
        self._line(step, paint(f"{step.tool} {step.arguments}".rstrip(), "bright_black"))

    def turn(self, step: TimelineStep) -> None:
        """In words."""
        headline, colon, rest = story(step).partition(":")
        self._line(step, f"{paint_status(headline)}{colon}{rest}")

    def _line(self, step: TimelineStep, text: str) -> None:
        if step.run_id != self._run_id:
            click.echo(heading(step.run_id))
            self._run_id = step.run_id
        click.echo(f"  step {step.number}: {text}")

    def end(self, recording: Recording, ends: Ends) -> None:
        """A line for each run, and one for all."""
        self._skipped.end()
        for run in ends.runs:
            click.echo(f"{visible(run.run_id) or 'this run'}: {run}")
        skipped = f"; {counted(recording.broken_lines, 'broken line')} skipped" if recording.broken_lines else ""
        click.echo(f"{counted(len(ends.runs), 'run')} under {recording.policy.name}: {ends}{skipped}")


class JsonTeller:
    """For programs: one JSON object a line."""

    def file(self) -> None:
        """Each line says whose it is."""

    def broken(self, line: BrokenLine) -> None:
        """Its number and why."""
        _print({"broken_line": line.line, "reason": line.reason})

    def step(self, step: TimelineStep) -> None:
        """With all that is known."""
        _print(_fields(step))

    def turn(self, step: TimelineStep) -> None:
        """The same, in words too."""
        _print({**_fields(step), "story": story(step)})

    def end(self, recording: Recording, ends: Ends) -> None:
        """One object."""
        summary = {"policy": recording.policy.name, "broken_lines": recording.broken_lines}
        _print({"summary": {**summary, "runs": [run.as_dict() for run in ends.runs]}})


def teller(*, as_json: bool) -> Teller:
    """Who tells it, by the option `--json`."""
    return JsonTeller() if as_json else TextTeller()


def _fields(step: TimelineStep) -> dict[str, Any]:
    decision = step.decision.as_dict()
    return {
        "run_id": step.run_id,
        "step": step.number,
        "tool": step.tool,
        "arguments": step.arguments,
        "status": decision["status"],
        "verified_progress": step.verified_progress,
        "evidence": decision["evidence"],
        "would": str(step.would),
        "reason": "none" if step.verdict is None else step.verdict.reason,
    }


def _print(document: dict[str, Any]) -> None:
    click.echo(json.dumps(document, ensure_ascii=False, separators=(",", ":")))

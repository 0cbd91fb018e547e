"""What `microloop check` prints: a line a step, then what would have become of each run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from microloop.cli.recording import heading
from microloop.cli.skipped import Skipped, broken
from microloop.cli.style import paint_action
from microloop.counting import as_many, counted
from microloop.recorded import BrokenLine
from microloop.shown import visible
from microloop.verdict import Action

if TYPE_CHECKING:
    from microloop.recheck import Judged, JudgedStep, Recheck, RunSummary
    from microloop.verdict import Verdict


class TextReport:
    """For people."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._run_id: str | None = None
        self._skipped = Skipped()

    def show(self, judged: Judged) -> None:
        """One line of the recording."""
        if isinstance(judged, BrokenLine):
            self._skipped.tell(broken(judged))
        elif not self._quiet or is_notable(judged.verdict):
            self._head(judged.step.run_id)
            click.echo(_line(judged))

    def _head(self, run_id: str) -> None:
        if run_id != self._run_id:
            click.echo(heading(run_id))
            self._run_id = run_id

    def finish(self, recheck: Recheck) -> None:
        """The summaries."""
        self._skipped.end()
        runs = [run for run in recheck.runs.values() if not self._quiet or run.reasons]
        for run in runs:
            click.echo(f"{visible(run.run_id) or 'this run'}: {_fate(run)}")
        stopped = sum(run.stopped for run in recheck.runs.values())
        skipped = f", {counted(recheck.broken_lines, 'broken line')} skipped" if recheck.broken_lines else ""
        runs_under = f"{counted(len(recheck.runs), 'run')} under {recheck.policy.name}"
        click.echo(f"{runs_under}: {stopped} would have been stopped{skipped}")


class JsonReport:
    """For programs."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet

    def show(self, judged: Judged) -> None:
        """One line of the recording."""
        if isinstance(judged, BrokenLine):
            _print({"broken_line": judged.line, "reason": judged.reason})
        elif not self._quiet or is_notable(judged.verdict):
            step = {"run_id": judged.step.run_id, "step": judged.step.number, "tool": judged.step.tool}
            _print({**step, "after_halt": judged.after_halt, "verdict": _verdict(judged)})

    def finish(self, recheck: Recheck) -> None:
        """The summaries."""
        runs = [_summary(run) for run in recheck.runs.values()]
        summary = {"policy": recheck.policy.name, "stopped": recheck.stopped, "broken_lines": recheck.broken_lines}
        _print({"summary": {**summary, "runs": runs}})


def is_notable(verdict: Verdict | None) -> bool:
    """Whether a verdict is more than a plain allow."""
    return verdict is not None and (verdict.action is not Action.ALLOW or verdict.would is not None)


def _verdict(judged: JudgedStep) -> dict[str, Any] | None:
    """With the numbers of the recording instead of the guard's."""
    if judged.verdict is None:
        return None
    fields = {key: value for key, value in judged.verdict.as_dict().items() if key not in ("step", "tool")}
    return {**fields, "evidence": judged.evidence}


def _line(judged: JudgedStep) -> str:
    number, tool = f"{judged.step.number:>5}", visible(judged.step.tool)
    if judged.verdict is None:
        return f"{number}  {'ended' if judged.after_halt else 'user':<6} {tool}"
    return f"{number}  {paint_action(judged.verdict.action, 6)} {tool}{_why(judged, judged.verdict)}"


def _why(judged: JudgedStep, verdict: Verdict) -> str:
    if not is_notable(verdict):
        return ""
    would = f" (would {verdict.would})" if verdict.would is not None else ""
    reached = f", {verdict.seen} of {verdict.limit}" if verdict.limit is not None else ""
    return f"{would}  {verdict.reason}{reached}{_because(judged.evidence)}"


def _because(steps: tuple[int, ...]) -> str:
    return f", because of {as_many(len(steps), 'step')} {', '.join(map(str, steps))}" if steps else ""


def _fate(run: RunSummary) -> str:
    actions = ", ".join(f"{count} {action}" for action, count in run.actions.most_common())
    if run.halted_at is not None:
        end = f"halted at step {run.halted_at}"
    else:
        end = f"first stopped at step {run.first_stop}" if run.stopped else "not stopped"
    reasons = (
        f" ({', '.join(f'{reason} {count}' for reason, count in run.reasons.most_common())})" if run.reasons else ""
    )
    return f"{counted(run.steps, 'step')}, {end}; {actions}{reasons}"


def _summary(run: RunSummary) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "steps": run.steps,
        "actions": dict(run.actions),
        "reasons": dict(run.reasons),
        "first_stop": run.first_stop,
        "halted_at": run.halted_at,
    }


def _print(document: dict[str, Any]) -> None:
    click.echo(json.dumps(document, ensure_ascii=False, separators=(",", ":")))

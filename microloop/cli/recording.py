"""What the commands that look at recorded runs have in common: their options, and how they read."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from microloop.cli.references import LogFormat, PolicyReference, formats_to_try, load_policy, role_option
from microloop.cli.style import complain, paint
from microloop.counting import counted
from microloop.shown import visible

if TYPE_CHECKING:
    from microloop.recorded import BrokenLine, Step
    from microloop.timeline import TimelineStep

_OPTIONS = (
    click.argument("run", type=click.Path(exists=True, dir_okay=False, allow_dash=True)),
    click.option(
        "--policy", default="balanced", show_default=True, type=PolicyReference(), help="Name or path of a policy."
    ),
    click.option(
        "--format", "log_format", type=LogFormat(), help="How the file is written, if it is not found by itself."
    ),
    click.option("--run-id", "run_ids", multiple=True, help="Only the run of this id; may be given again."),
    role_option,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be read, as the options say."""

    run: str
    policy: str
    log_format: str | None
    run_ids: tuple[str, ...]
    role: str | None

    def unusable(self, why: str) -> SystemExit:
        """The end of a command that cannot use its input."""
        complain(f"{self.run}: {why}")
        return SystemExit(2)

    def without_steps(self, command: str, broken_lines: int) -> SystemExit:
        """The end of a command that found no step."""
        unread = f"; {counted(broken_lines, 'line')} could not be read" if broken_lines else ""
        if self.run_ids:
            return self.unusable(f"no step was found for this run id{unread}; see `microloop {command} --help`")
        hint = f"{formats_to_try(self.log_format)}; " if broken_lines or self.log_format else ""
        return self.unusable(f"no step was found{unread}; {hint}see `microloop {command} --help`")


def recording_options(command: Callable[..., None]) -> Callable[..., None]:
    """The argument RUN, `--policy`, `--format`, `--run-id` and `--role`, which the command gets as one `Asked`."""

    @functools.wraps(command)
    def with_asked(
        *,
        run: str,
        policy: str,
        log_format: str | None,
        run_ids: tuple[str, ...],
        role: str | None,
        **others: object,
    ) -> None:
        command(Asked(run, policy, log_format, run_ids, role), **others)

    with_options: Callable[..., None] = with_asked
    for option in reversed(_OPTIONS):
        with_options = option(with_options)
    return with_options


class Recording:
    """A recording under a policy; broken lines are told and counted as they come."""

    def __init__(self, asked: Asked, tell: Callable[[BrokenLine], None]) -> None:
        self.policy = load_policy(asked.policy)
        self.broken_lines = 0
        self._asked = asked
        self._tell = tell

    def steps(self, lines: Iterable[bytes]) -> Iterator[TimelineStep]:
        """The steps of a file's lines, each as it comes."""
        from microloop.logs import read
        from microloop.timeline import steps_of, watch

        steps = steps_of(read(lines, self._asked.log_format), self._broken)
        return watch(filter(self._wanted, steps), self.policy, role=self._asked.role)

    def _broken(self, line: BrokenLine) -> None:
        self.broken_lines += 1
        self._tell(line)

    def _wanted(self, step: Step) -> bool:
        return not self._asked.run_ids or step.run_id in self._asked.run_ids


def heading(run_id: str) -> str:
    """What stands above the steps of a run."""
    return paint(f"run {visible(run_id) or '(without an id)'}", "cyan", bold=True)

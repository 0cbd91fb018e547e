"""`microloop hook`: what a coding agent runs before and after each tool call."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from microloop.cli.references import PolicyReference, load_policy
from microloop.hook.dialects import NAMES
from microloop.hook.options import DEFAULT_POLICY, Options


@click.command("hook")
@click.option(
    "--policy", default=DEFAULT_POLICY, show_default=True, type=PolicyReference(), help="Name or path of a policy."
)
@click.option("--store", type=click.Path(dir_okay=False), help="File of the sessions, instead of the user's own.")
@click.option("--dialect", type=click.Choice(NAMES), help="Whose hook it is, if the event does not show it.")
@click.option("--print-config", type=click.Choice(NAMES), help="Print the settings for an agent, and do nothing else.")
def command(*, policy: str, store: str | None, dialect: str | None, print_config: str | None) -> None:
    """Answer one hook event of a coding agent: JSON on standard input, the decision on standard output.

    The agent runs it before and after each tool call; the session lives in a file in between.

    Exit code: 0 with an answer; 2 if the hook failed or was interrupted and the call is refused; if nothing is refused,
    1 after a failure and 130 after an interrupt.
    """
    if print_config is None:
        from microloop.hook.run import run

        raise SystemExit(run(Options(policy, store, dialect)))
    from microloop.hook.configuration import configuration

    load_policy(policy)  # with settings that name no policy, each call would be refused
    click.echo(configuration(print_config, _command(policy, store)))


def _command(policy: str, store: str | None) -> str:
    """By its full path: an agent may have another PATH, and a version manager's shim costs more than the hook."""
    from microloop.hook.policies import named

    options = ["--policy", named(policy), *(["--store", str(Path(store).absolute())] if store else [])]
    script = Path(sys.argv[0]).absolute()
    program = [sys.executable, "-m", "microloop"] if script.name == "__main__.py" else [str(script)]
    return shlex.join([*program, "hook", *options])

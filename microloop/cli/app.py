"""The `microloop` command. Each subcommand is imported when it is called for, so that none slows the others down."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from microloop.cli.interrupt import interrupted
from microloop.cli.style import coloured

_HOMES = {
    "backtest": "microloop.cli.backtest",
    "calibrate": "microloop.cli.calibrate",
    "check": "microloop.cli.check",
    "completion": "microloop.cli.completion",
    "doctor": "microloop.cli.doctor",
    "hook": "microloop.cli.hook",
    "inspect": "microloop.cli.inspect",
    "monitor": "microloop.cli.monitor",
    "policy": "microloop.cli.policy",
    "replay": "microloop.cli.replay",
    "report": "microloop.cli.report",
}


class LazyGroup(click.Group):
    """A group whose commands are named `command` in modules of their own."""

    def __init__(self, *args: Any, homes: Mapping[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        self._homes = homes

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in alphabetical order."""
        return sorted({*super().list_commands(ctx), *self._homes})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported now."""
        home = self._homes.get(cmd_name)
        if home is None:
            return super().get_command(ctx, cmd_name)
        command: click.Command = importlib.import_module(home).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Ctrl-C is ours to answer: `click` would call it a failure, with code 1."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise SystemExit(interrupted()) from None


def _show_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:  # noqa: FBT001  # click's signature
    if wanted and not ctx.resilient_parsing:
        from microloop import __version__

        click.echo(f"microloop {__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, homes=_HOMES, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
@click.pass_context
def app(ctx: click.Context) -> None:
    """Guards the tool calls of AI agents: write and test policies, look into recorded runs, watch one as it goes."""
    # Otherwise `click` takes out again what was coloured for a pipe.
    ctx.color = coloured() or None

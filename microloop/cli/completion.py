"""`microloop completion`: the script that makes a shell complete commands, options and policy names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a SHELL.

    bash: eval "$(microloop completion bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc; fish: microloop
    completion fish > ~/.config/fish/completions/microloop.fish
    """
    root = ctx.find_root()
    completer = get_completion_class(shell)
    if completer is None:
        raise click.UsageError(f"this version of click has no completion for {shell}")
    click.echo(completer(root.command, {}, "microloop", "_MICROLOOP_COMPLETE").source())

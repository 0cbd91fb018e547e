"""`microloop policy list`."""

from __future__ import annotations

import json

import click


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object: name and description.")
def command(*, as_json: bool) -> None:
    """List the policies that ship with microloop."""
    from microloop._policy.names import policy_names

    described = {name: _description(name) for name in policy_names()}
    if as_json:
        click.echo(json.dumps(described, indent=2))
        return
    width = max(map(len, described))
    for name, description in described.items():
        click.echo(f"{name.ljust(width)}  {description.partition('. ')[0].rstrip('.')}")


def _description(name: str) -> str:
    from microloop._policy.names import read_named
    from microloop._policy.nodes import find
    from microloop._policy.yaml_reader import read_yaml

    return str(find(read_yaml(*read_named(name)), ("description",)).value)

"""`microloop policy show`."""

from __future__ import annotations

import json

import click

from microloop.cli.references import PolicyReference, load_policy


@click.command("show")
@click.argument("policy", type=PolicyReference())
@click.option("--json", "as_json", is_flag=True, help="As the JSON document that the C ABI takes, if no rule is slow.")
def command(policy: str, *, as_json: bool) -> None:
    """Print a POLICY with everything that it extends resolved."""
    document = load_policy(policy).document
    if as_json:
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    import yaml

    click.echo(
        yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None), nl=False
    )

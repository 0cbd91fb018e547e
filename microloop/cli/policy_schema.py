"""`microloop policy schema`."""

from __future__ import annotations

import json

import click


@click.command("schema")
@click.option("--traces", is_flag=True, help="The schema of trace files instead.")
def command(*, traces: bool) -> None:
    """Print the JSON Schema of policy files, for editors.

    A comment at the top of a policy file tells most editors where it is: # yaml-language-server: $schema=FILE
    """
    from microloop._policy.schema import POLICY, TRACES, published_schema

    click.echo(json.dumps(published_schema(TRACES if traces else POLICY), indent=2))

"""`microloop policy`: look at policies, check them, and play their traces."""

from __future__ import annotations

import click

from microloop.cli.app import LazyGroup

_HOMES = {
    "lint": "microloop.cli.policy_lint",
    "list": "microloop.cli.policy_list",
    "schema": "microloop.cli.policy_schema",
    "show": "microloop.cli.policy_show",
    "test": "microloop.cli.policy_test",
}


@click.group("policy", cls=LazyGroup, homes=_HOMES)
def command() -> None:
    """Look at policies, check them, and play their traces."""

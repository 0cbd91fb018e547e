"""`microloop policy lint`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from microloop.cli.references import PolicyReference
from microloop.cli.style import paint

if TYPE_CHECKING:
    from microloop._policy.lint import Finding

_COLOURS = {"error": "red", "warning": "yellow", "hint": "cyan"}


@click.command("lint")
@click.argument("files", nargs=-1, required=True, type=PolicyReference())
@click.option("--strict", is_flag=True, help="Warnings count as errors.")
@click.option("--json", "as_json", is_flag=True, help="One JSON list of findings.")
def command(files: tuple[str, ...], *, strict: bool, as_json: bool) -> None:
    """Check policy FILES: errors with line and column, then what is allowed but hardly meant.

    Exit code: 0 if there is no error, 1 if there is.
    """
    from microloop._policy.lint import lint

    found = {name: lint(name) for name in files}
    if as_json:
        listed = [{"policy": name, **asdict(finding)} for name, findings in found.items() for finding in findings]
        click.echo(json.dumps(listed, indent=2, ensure_ascii=False))
    else:
        for name, findings in found.items():
            _print(name, findings)
    fatal = {"error", "warning"} if strict else {"error"}
    raise SystemExit(any(finding.severity in fatal for findings in found.values() for finding in findings))


def _print(name: str, findings: list[Finding]) -> None:
    for finding in findings:
        click.echo(f"{paint(finding.severity, _COLOURS[finding.severity])}: {finding.message}")
    if not findings:
        click.echo(f"{name}: {paint('ok', 'green')}")

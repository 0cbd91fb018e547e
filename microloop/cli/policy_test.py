"""`microloop policy test`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from microloop.cli.references import PolicyReference, load_policy
from microloop.cli.style import complain, paint
from microloop.counting import counted

if TYPE_CHECKING:
    from microloop.traces import Played, Trace


@click.command("test")
@click.argument("policy", type=PolicyReference())
@click.option(
    "--traces", "traces_file", type=click.Path(exists=True, dir_okay=False), help="Play these traces instead."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON list of traces and what differs.")
def command(policy: str, *, traces_file: str | None, as_json: bool) -> None:
    """Play the traces of a POLICY: those in FILE.traces.yaml beside FILE.yaml.

    Exit code: 0 if all are as expected, 1 if one is not, 2 if the policy or the traces cannot be read.
    """
    from microloop.traces import play

    loaded = load_policy(policy)
    played = [play(trace, loaded) for trace in _read(policy, traces_file)]
    if as_json:
        listed = [{"name": each.trace.name, "passed": each.passed, "problems": each.problems} for each in played]
        click.echo(json.dumps(listed, indent=2, ensure_ascii=False))
    else:
        _print(played)
    raise SystemExit(not all(each.passed for each in played))


def _read(policy: str, traces_file: str | None) -> list[Trace]:
    from microloop._policy.names import looks_like_path
    from microloop.errors import PolicyError
    from microloop.traces import read_traces, traces_path

    beside = traces_path(Path(policy)) if looks_like_path(policy) else policy
    try:
        return read_traces(Path(traces_file) if traces_file else beside)
    except PolicyError as error:
        complain(str(error))
        raise SystemExit(2) from None


def _print(played: list[Played]) -> None:
    for each in played:
        mark = paint("ok  ", "green") if each.passed else paint("FAIL", "red", bold=True)
        click.echo(f"{mark} {each.trace.name}")
        for problem in each.problems:
            click.echo(f"     {problem}")
    failed = sum(not each.passed for each in played)
    click.echo(f"{counted(len(played), 'trace')}, {failed} failed")

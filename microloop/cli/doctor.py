"""`microloop doctor`: whether everything that microloop needs is here and works."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from microloop.cli.style import paint
from microloop.counting import counted

if TYPE_CHECKING:
    from microloop.doctor.finding import Finding

_COLOURS = {"ok": "green", "absent": "bright_black", "wrong": "red"}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON object: healthy, and all findings.")
def command(*, as_json: bool) -> None:
    """Look whether the installation works: library, self-test, policies, adapters, the store of the hook.

    Each adapter whose framework is installed is imported, in a process of its own; that takes seconds.

    Exit code: 0 if all is well, 1 if something is wrong. A framework that is not installed is nothing wrong.
    """
    findings: list[Finding] = []
    for finding in _examined():
        if not as_json:
            _print(finding, head=not findings or findings[-1].area != finding.area)
        findings.append(finding)
    problems = sum(finding.state == "wrong" for finding in findings)
    if as_json:
        listed = [asdict(finding) for finding in findings]
        click.echo(json.dumps({"healthy": not problems, "findings": listed}, indent=2, ensure_ascii=False))
    else:
        click.echo(counted(problems, "problem") if problems else paint("all is well", "green"))
    raise SystemExit(bool(problems))


def _examined() -> Iterator[Finding]:
    """Without the native library, most of the package cannot even be imported."""
    from microloop.doctor import library, machine
    from microloop.doctor.finding import guarded

    yield from machine.examine()
    native = list(guarded("library", library.examine, library.REINSTALL))
    yield from native
    if all(finding.state != "wrong" for finding in native):
        from microloop.doctor import policies, self_test

        yield from guarded("self-test", self_test.examine, library.REINSTALL)
        yield from guarded("policies", policies.examine, library.REINSTALL)
        yield from guarded("adapters", _adapters, library.REINSTALL)
    from microloop.doctor import store

    yield from guarded("hook store", store.examine, "see that the user's state directory can be read")


def _adapters() -> Iterator[Finding]:
    from microloop.doctor.adapters import adapters, examine

    found = adapters()
    if not sys.stderr.isatty():
        yield from sorted(examine(found), key=lambda finding: finding.name)
        return
    with click.progressbar(length=len(found), label="importing adapters", file=sys.stderr) as bar:
        done = []
        for finding in examine(found):
            bar.update(1)
            done.append(finding)
    yield from sorted(done, key=lambda finding: finding.name)


def _print(finding: Finding, *, head: bool) -> None:
    if head:
        click.echo(paint(finding.area, "cyan", bold=True))
    state = paint(finding.state.ljust(6), _COLOURS[finding.state], bold=finding.state == "wrong")
    click.echo(f"  {state}  {finding.name}: {finding.detail}")
    if finding.state == "wrong":
        click.echo(f"          {finding.remedy}")

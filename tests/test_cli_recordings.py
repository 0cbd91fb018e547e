"""What all commands that judge recorded runs have in common."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from microloop.cli.app import app

JUDGING = ["check", "inspect", "replay", "monitor", "report -o -", "backtest least_privilege"]


@pytest.fixture
def judged(tmp_path):
    def invoke(command, written, *options):
        path = tmp_path / "run.jsonl"
        path.write_bytes(written)
        policy = [] if command.startswith("backtest") else ["--policy", "least_privilege"]
        return CliRunner().invoke(app, [*command.split(), str(path), *policy, *options])

    return invoke


@pytest.mark.parametrize("command", JUDGING)
def test_a_policy_with_roles_judges_the_role_that_is_named(judged, command):
    written = json.dumps({"tool": "write_file", "arguments": {"path": "a.txt"}, "result": "done"}).encode()
    refused = "block" if command == "replay" else "role.denied"
    assert refused in judged(command, written).output
    as_editor = judged(command, written, "--role", "editor")
    assert as_editor.exit_code == 0
    assert refused not in as_editor.output

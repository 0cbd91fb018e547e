"""What all commands that judge recorded runs have in common."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from microloop.cli.app import app

READING = ["check", "inspect", "replay", "monitor", "report -o -", "backtest balanced", "calibrate"]
JUDGING = ["check", "inspect", "replay", "monitor", "report -o -", "backtest least_privilege"]

STEP = b'{"tool": "search", "arguments": {"q": "x"}, "result": "no"}\n'


@pytest.fixture
def read(tmp_path):
    def invoke(command, written, *options):
        path = tmp_path / "run.jsonl"
        path.write_bytes(written)
        return CliRunner().invoke(app, [*command.split(), str(path), *options])

    return invoke


@pytest.mark.parametrize("command", JUDGING)
def test_a_policy_with_roles_judges_the_role_that_is_named(read, command):
    policy = [] if command.startswith("backtest") else ["--policy", "least_privilege"]
    written = json.dumps({"tool": "write_file", "arguments": {"path": "a.txt"}, "result": "done"}).encode()
    refused = "block" if command == "replay" else "role.denied"
    assert refused in read(command, written, *policy).output
    as_editor = read(command, written, *policy, "--role", "editor")
    assert as_editor.exit_code == 0
    assert refused not in as_editor.output


@pytest.mark.parametrize("command", READING)
def test_of_many_lines_that_cannot_be_read_a_few_are_told_and_the_others_counted(read, command):
    told = read(command, STEP + b"no step\n" * 1000).stderr.splitlines()
    assert len([line for line in told if "not JSON" in line]) == 10
    assert any("not shown: 990 more " in line for line in told)


@pytest.mark.parametrize("command", READING)
def test_a_file_that_is_no_log_is_said_to_be_none_and_the_formats_are_named(read, command):
    result = read(command, b"a;b;c\n" * 1000)
    told = result.stderr.splitlines()
    assert (result.exit_code, len(told) <= 12) == (2, True)
    assert "if it is a log, name its --format: microloop, claude-code, " in told[-1]


@pytest.mark.parametrize("command", READING)
def test_a_log_of_another_format_than_was_named_is_offered_the_others(read, command):
    result = read(command, STEP, "--format", "codex")
    assert result.exit_code == 2
    assert "of another format, name its --format: microloop, claude-code, gemini-cli, " in result.stderr


@pytest.mark.parametrize("command", ["check", "inspect", "replay", "report -o -"])
def test_standard_input_may_be_in_utf_16(command):
    written = (STEP * 5).decode().encode("utf-16")
    done = CliRunner().invoke(app, [*command.split(), "-"], input=written)
    assert ("loop.repeat" in done.output or "stalled" in done.output, done.stderr) == (True, "")


@pytest.mark.parametrize("command", ["inspect", "check", "monitor"])
def test_programs_are_told_of_each_line_that_cannot_be_read(read, command):
    told = read(command, STEP + b"no step\n" * 1000, "--json").stdout.splitlines()
    assert len([line for line in told if "broken_line" in json.loads(line)]) == 1000

"""Standard streams that are closed, or full: what the command says, and how it ends."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

import pytest

MICROLOOP = shlex.join([sys.executable, "-m", "microloop"])
PRINTING = ["check", "replay", "inspect -v", "inspect --json -v", "report -o -"]


@pytest.fixture
def shell(tmp_path):
    step = {"tool": "search", "arguments": {"q": "x"}, "result": "a page" * 10}
    lines = (json.dumps({**step, "run_id": str(number)}) for number in range(2000))
    (tmp_path / "run.jsonl").write_text("\n".join(lines))

    def run(command, redirected):
        line = f"{MICROLOOP} {command} {redirected}"
        return subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize("command", PRINTING)
def test_who_has_read_enough_is_told_nothing(shell, command):
    done = shell(command, "run.jsonl | head -n 1")
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


@pytest.mark.parametrize("command", [*PRINTING, "monitor", "backtest balanced"])
def test_a_disk_that_is_full_is_not_taken_for_a_log_that_cannot_be_read(shell, command):
    done = shell(command, "run.jsonl > /dev/full")
    assert done.returncode == 2
    assert "cannot be written: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["check -", "inspect -", "monitor -", "monitor -f -"])
def test_a_standard_input_that_is_closed_has_no_step(shell, command):
    done = shell(command, "<&-")
    assert (done.returncode, "no step was found" in done.stderr) == (2, True)


def test_a_hook_whose_standard_input_is_closed_refuses_the_call(shell):
    done = shell("hook --store hook.sqlite3", "<&-")
    assert (done.returncode, "the call is refused" in done.stderr) == (2, True)


def test_a_standard_output_that_is_closed_changes_no_exit_code(shell):
    assert shell("inspect --fail-on stalled", "run.jsonl >&-").returncode == 0


def test_letters_that_a_locale_does_not_have_are_escapes(shell, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    done = shell("replay --run-id 0", "run.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u2192 a page" in done.stdout


@pytest.mark.parametrize(
    "option", ["backtest balanced --fail-above nan", "calibrate --alpha nan", "monitor --until-idle nan"]
)
def test_what_is_no_number_is_in_no_range(shell, option):
    done = shell(option, "run.jsonl")
    assert (done.returncode, "nan is not in the range" in done.stderr) == (2, True)

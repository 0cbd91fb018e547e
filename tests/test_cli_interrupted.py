"""Ctrl-C: every command ends at once, without a traceback, and a hook lets no call through that nobody has judged."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import microloop
from microloop.hook.event import Event
from microloop.hook.faults import interrupted

PATIENCE = 60
STEP = b'{"tool": "search", "arguments": {"q": "x"}, "result": "no"}\n'
READING = [
    "check LOG",
    "inspect LOG",
    "replay LOG",
    "monitor LOG",
    "report LOG",
    "backtest balanced LOG",
    "calibrate LOG",
    "policy lint LOG.yaml",
    "policy show LOG.yaml",
    "policy test LOG.yaml",
]
REFUSED, INTERRUPTED = 2, 130


class Command:
    """A command in a process group of its own, as a terminal has it."""

    def __init__(self, *arguments, cwd):
        program = [sys.executable, "-m", "microloop", *map(str, arguments)]
        env = {**os.environ, "PYTHONPATH": str(Path(microloop.__file__).parents[1]), "PYTHONUNBUFFERED": "1"}
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        # What runs in the background of a shell does not hear of Ctrl-C, and neither would what it starts.
        heard = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            self.process = subprocess.Popen(program, cwd=cwd, env=env, start_new_session=True, **pipes)
        finally:
            signal.signal(signal.SIGINT, heard)

    def interrupt(self):
        os.killpg(self.process.pid, signal.SIGINT)
        _, stderr = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, stderr.decode()


@pytest.fixture
def begin(tmp_path):
    begun = []

    def run(*arguments):
        begun.append(Command(*arguments, cwd=tmp_path))
        return begun[-1]

    yield run
    for each in begun:
        each.process.kill()
        each.process.communicate()


@pytest.mark.parametrize("command", READING)
def test_a_command_that_is_interrupted_as_it_reads_ends_with_130_and_without_a_word(begin, tmp_path, command):
    name = "LOG.yaml" if "yaml" in command else "LOG"
    os.mkfifo(tmp_path / name)
    command = begin(*command.split())
    # Opening it waits for the other side: now the command reads.
    with (tmp_path / name).open("wb"):
        assert command.interrupt() == (INTERRUPTED, "")


def test_a_command_that_is_interrupted_as_it_writes_ends_in_the_same_way(begin):
    command = begin("inspect", "-v", "-")
    command.process.stdin.write(STEP)
    command.process.stdin.flush()
    assert command.process.stdout.readline() == b"run (without an id)\n"
    assert command.interrupt() == (INTERRUPTED, "")


def test_the_processes_of_a_backtest_are_as_silent(begin, tmp_path):
    logs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for log in logs:
        os.mkfifo(log)
    command = begin("backtest", "balanced", *logs, "--jobs", "2")
    with logs[0].open("wb"), logs[1].open("wb"):
        assert command.interrupt() == (INTERRUPTED, "")


def test_an_examination_that_is_interrupted_begins_no_further_import(begin):
    command = begin("doctor")
    assert command.process.stdout.readline() == b"machine\n"
    assert command.interrupt() == (INTERRUPTED, "")


@pytest.mark.parametrize(
    ("on_error", "code", "says"), [("block", REFUSED, "the call is refused"), ("allow", INTERRUPTED, "runs unchecked")]
)
def test_a_hook_that_is_interrupted_lets_a_call_through_only_by_on_error(begin, tmp_path, on_error, code, says):
    (tmp_path / "policy.yaml").write_text(f"version: 1\non_error: {on_error}\n", encoding="utf-8")
    command = begin("hook", "--policy", "policy.yaml", "--store", "store.sqlite3")
    # More than a pipe holds: when it is written, the hook reads.
    command.process.stdin.write(json.dumps({"padding": "x" * 1_000_000}).encode())
    done = command.interrupt()
    assert (done[0], done[1].count("\n")) == (code, 1)
    assert says in done[1]


def test_a_hook_that_is_interrupted_before_it_has_read_its_options_refuses(begin, tmp_path):
    os.mkfifo(tmp_path / "LOG.yaml")
    command = begin("hook", "--policy", "LOG.yaml", "--print-config", "codex")
    with (tmp_path / "LOG.yaml").open("wb"):
        assert command.interrupt() == (REFUSED, "microloop hook was interrupted; the call is refused\n")


@pytest.mark.parametrize(("kind", "code"), [("before", REFUSED), ("after", INTERRUPTED), ("answer", INTERRUPTED)])
def test_only_a_call_is_refused_for_an_interrupt(kind, code):
    reply = interrupted(Event(kind, "Its name", "a session", tool="Bash"), "coding_agent")
    assert (reply.code, reply.stdout, reply.stderr.count("\n")) == (code, "", 1)


def test_a_hook_that_is_interrupted_when_it_has_answered_loses_nothing(begin, tmp_path):
    rule = "{id: none, path: command, deny: {regex: .}}"
    policy = f"version: 1\ntools: [{{match: Bash, rules: [{rule}]}}]\n"
    (tmp_path / "policy.yaml").write_text(policy, encoding="utf-8")
    command = begin("hook", "--policy", "policy.yaml", "--store", "store.sqlite3")
    event = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    command.process.stdin.write(json.dumps({**event, "tool_use_id": "t", "cwd": "/"}).encode())
    command.process.stdin.close()
    command.process.stdin = None
    answer = command.process.stdout.read(1)
    os.killpg(command.process.pid, signal.SIGINT)
    answer += command.process.stdout.read()
    assert json.loads(answer)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert command.process.wait(PATIENCE) == 0

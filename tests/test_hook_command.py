"""`microloop hook` as a command: its options, its settings for each agent, and what it leaves unloaded."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from hook_host import DIALECTS, Host
from microloop.cli.app import app
from microloop.hook.dialects import NAMES
from microloop.hook.options import Options, quick

HEAVY = {"click", "yaml", "jsonschema", "msgspec", "pathlib", "logging", "regex", "dataclasses", "inspect", "hashlib"}
every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def imported(command, payload):
    done = subprocess.run(command, input=payload, capture_output=True, check=True)
    return {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}


@pytest.mark.parametrize("name", ["before", "after", "prompt"])
def test_it_loads_nothing_heavy_once_the_policy_is_known(tmp_path, name):
    agent = Host("claude-code", tmp_path / "store.sqlite3")
    agent.tell("before")
    python, *rest = agent.command()
    modules = imported([python, "-X", "importtime", *rest], agent.payload(name))
    assert "microloop.hook.respond" in modules
    assert modules & HEAVY == set()


def test_the_help_lists_it():
    assert "hook" in CliRunner().invoke(app, ["--help"]).output
    shown = subprocess.run([sys.executable, "-m", "microloop", "hook", "--help"], capture_output=True, check=True)
    assert b"--print-config" in shown.stdout


def test_a_wrong_option_is_explained_and_blocks(tmp_path):
    agent = Host("claude-code", tmp_path / "store.sqlite3")
    reply = agent.send(agent.payload("before"), "--polcy", "balanced")
    assert reply.code == 2
    assert "No such option" in reply.stderr


def test_options_that_click_has_to_read_mean_the_same(tmp_path):
    agent = Host("claude-code", tmp_path / "store.sqlite3")
    slow = agent.send(agent.payload("before"), "--dialect=codex")
    assert (slow.code, slow.stdout) == (0, "")
    assert agent.store.exists()


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ([], Options()),
        (["--policy", "p", "--store", "s", "--dialect", "codex"], Options("p", "s", "codex")),
        (["--policy", "p", "--policy", "q"], None),
        (["--policy"], None),
        (["policy", "p"], None),
        (["--policy=p"], None),
        (["--dialect", "unknown"], None),
        (["--print-config", "codex"], None),
        (["--help"], None),
    ],
)
def test_only_plain_options_go_past_click(arguments, options):
    assert quick(arguments) == options


def settings(*options):
    command = [sys.executable, "-m", "microloop", "hook", *options]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["hooks"]


@every_dialect
def test_the_settings_name_the_events_that_the_hook_knows(tmp_path, dialect):
    hooks = settings("--print-config", dialect, "--store", str(tmp_path / "store.sqlite3"))
    agent = Host(dialect, tmp_path / "store.sqlite3")
    told = {json.loads(agent.payload(path.stem))["hook_event_name"] for path in agent.payloads()}
    assert set(hooks) == told - {"Notification"}


@every_dialect
def test_the_command_in_the_settings_runs_in_a_shell(tmp_path, dialect):
    store = tmp_path / "a store.sqlite3"
    hooks = settings("--print-config", dialect, "--policy", "balanced", "--store", str(store))
    [[hook]] = [matcher["hooks"] for matcher in hooks["BeforeTool" if dialect == "gemini" else "PreToolUse"]]
    payload = Host(dialect, store).payload("before")
    done = subprocess.run(hook["command"], shell=True, input=payload, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
    assert store.exists()


def test_a_policy_file_is_named_by_its_full_path_in_the_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "team.yaml").write_text("version: 1\n")
    done = CliRunner().invoke(app, ["hook", "--print-config", "codex", "--policy", "team.yaml"])
    assert f"--policy {tmp_path / 'team.yaml'}" in done.output


def test_there_are_no_settings_with_a_policy_that_cannot_be_used():
    done = CliRunner().invoke(app, ["hook", "--print-config", "codex", "--policy", "balancd"])
    assert (done.exit_code, done.stdout, "balancd" in done.stderr) == (2, "", True)


def test_each_agent_that_is_offered_has_payloads():
    assert NAMES == DIALECTS

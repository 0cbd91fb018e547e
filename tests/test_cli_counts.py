"""What the commands count: of one thing they speak as of one."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from microloop.cli.app import app

STEP = json.dumps({"tool": "search", "arguments": {"q": "x"}, "result": "no", "tokens": 1})
POLICY = "version: 1\nname: twice\nloops: {repeat: {warn: 2, block: 2}}\n"
TRACE = "- {name: One call., steps: [{tool: search, expect: allow}]}\n"
COMMANDS = [
    "check run.jsonl",
    "inspect run.jsonl -v",
    "replay run.jsonl",
    "monitor run.jsonl",
    "report run.jsonl -o -",
    "report run.jsonl -o page.html",
    "backtest balanced run.jsonl",
    "calibrate run.jsonl --alpha 0.5",
    "calibrate run.jsonl --alpha 0.4",
    "policy test twice.yaml",
]
FALSE_PLURAL = re.compile(r"\b1 (?:\w+ )?(?:run|step|line|problem|trace|time|call|token|session)s\b")


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.jsonl").write_text(f"{STEP}\nbroken\n", encoding="utf-8")
    (tmp_path / "twice.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "twice.traces.yaml").write_text(TRACE, encoding="utf-8")
    return lambda command: CliRunner().invoke(app, command.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_makes_many_of_one(invoke, command):
    result = invoke(command)
    assert re.search(r"\b1 (?:\w+ )?(?:run|step|line|trace)\b", result.output)
    assert not FALSE_PLURAL.findall(result.output)


def test_a_verdict_that_rests_on_one_step_names_it_as_one(invoke, tmp_path):
    (tmp_path / "run.jsonl").write_text(f"{STEP}\n{STEP}\n", encoding="utf-8")
    assert "loop.repeat, 2 of 2, because of step 0\n" in invoke("check run.jsonl --policy twice.yaml").output

"""`microloop replay`: a recorded run, a line a step."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from microloop.cli.app import app


def step(tool="search", **more):
    return json.dumps({"tool": tool, "arguments": {"q": "x"}, "result": "no hit", **more})


LINES = [
    json.dumps({"user": "Find it."}),
    *[step() for _ in range(5)],
    step("fetch", result=None, error="404 not found"),
    step("wait", arguments={}, result=None),
]


@pytest.fixture
def replay(tmp_path):
    def invoke(lines, *options):
        path = tmp_path / "run.jsonl"
        path.write_text("\n".join(lines), encoding="utf-8")
        return CliRunner().invoke(app, ["replay", str(path), *options])

    return invoke


def test_each_step_has_a_line(replay):
    result = replay(LINES)
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "run (without an id)",
        "    0  allow  healthy     user Find it.",
        '    1  allow  healthy     search q="x" → no hit',
        '    2  allow  healthy     search q="x" → no hit',
        '    3  warn   warning     search q="x" → no hit',
        '    4  warn   warning     search q="x" → no hit',
        '    5  block  stalled     search q="x" → no hit',
        '    6  allow  stalled     fetch q="x" → error: 404 not found',
        "    7  allow  stalled     wait → not in the log",
    ]


def test_long_texts_are_cut_and_stay_on_their_line(replay):
    lines = replay([step(arguments={"q": "x" * 500}, result="one\ntwo\n" * 100)]).output.splitlines()
    assert len(lines) == 2
    assert "…" in lines[1]
    assert len(lines[1]) < 170


def test_a_range_of_steps_can_be_picked_and_the_others_still_count(replay):
    result = replay(LINES, "--from", "5", "--to", "6")
    assert [line.split()[:3] for line in result.output.splitlines()[1:]] == [
        ["5", "block", "stalled"],
        ["6", "allow", "stalled"],
    ]


def test_one_run_can_be_picked(replay):
    lines = [step(run_id="a"), step("other", run_id="b")]
    result = replay(lines, "--run-id", "b")
    assert result.output.splitlines() == ["run b", '    0  allow  healthy     other q="x" → no hit']


def test_what_is_not_there_ends_with_2(replay):
    assert replay(LINES, "--run-id", "z").exit_code == 2
    late = replay(LINES, "--from", "99")
    assert (late.exit_code, f"the last one is {len(LINES) - 1}" in late.stderr) == (2, True)
    empty = replay(["nothing"])
    assert (empty.exit_code, "no step was found;" in empty.stderr) == (2, True)
    assert CliRunner().invoke(app, ["replay", "none.jsonl"]).exit_code == 2


def test_standard_input_is_read_and_broken_lines_are_counted():
    result = CliRunner().invoke(app, ["replay", "-"], input="\n".join([*LINES, "{"]))
    assert result.exit_code == 0
    assert "is skipped" in result.stderr
    assert "1 broken line skipped" in result.stderr
    assert result.stdout.count("\n") == len(LINES) + 1

"""`microloop backtest`: many recorded runs under a policy, each judged by one pure function."""

from __future__ import annotations

import json
import pickle
from importlib.util import find_spec

import pytest
from click.testing import CliRunner

from microloop import Policy
from microloop.backtest import Problem, RecordedRun, files_in, judge_run, read_file
from microloop.backtest.outcomes import Outcomes, has_succeeded
from microloop.cli.app import app
from microloop.recorded import step_of
from microloop.replay import UNKNOWN

STRICT = Policy.load("strict_loop_detection").document


def line(run_id, query="x", **more):
    return {"run_id": run_id, "tool": "search", "arguments": {"q": query}, "result": "no", **more}


def loop(run_id, length=4, **more):
    return [line(run_id, **more) for _ in range(length)]


def fine(run_id, length=4, **more):
    return [line(run_id, str(number), result=f"page {number}", **more) for number in range(length)]


def write(path, lines):
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return path


def backtest(*arguments):
    return CliRunner().invoke(app, ["backtest", *map(str, arguments)])


def recorded(lines):
    counts = {}
    return RecordedRun("a.jsonl", "a", tuple(step_of(each, counts) for each in lines))


@pytest.fixture
def folder(tmp_path):
    """Three runs that succeeded, one of them in a loop; two that failed, both in a loop."""
    runs = tmp_path / "runs"
    (runs / "more").mkdir(parents=True)
    write(runs / "a.jsonl", [*fine("a1", outcome=True), *loop("a2", outcome=1.0), *loop("a3", outcome=False)])
    write(runs / "more" / "b.jsonl", [*fine("b1", outcome="resolved"), *loop("b2", 8, outcome=0.2, tokens=10)])
    return runs


def test_a_run_is_judged_by_a_pure_function_that_can_be_sent_to_another_process():
    judge, document, run = pickle.loads(pickle.dumps((judge_run, STRICT, recorded(loop("a", 3)))))
    result = pickle.loads(pickle.dumps(judge(document, run)))
    assert result == judge_run(STRICT, recorded(loop("a", 3)))
    assert (result.stop.place, result.stop.reason, result.stop.tool) == (2, "loop.repeat", "search")


def test_a_result_that_the_log_does_not_have_is_still_unknown_in_another_process():
    assert pickle.loads(pickle.dumps(UNKNOWN)) is UNKNOWN
    run = pickle.loads(pickle.dumps(recorded(loop("a", 9, result=None))))
    assert judge_run(STRICT, run).stop is None


def test_what_comes_after_a_halt_is_not_run_and_not_judged():
    result = judge_run(STRICT, recorded(loop("a", 9)))
    assert result.actions == {"allow": 2, "block": 2, "halt": 1}
    assert (result.steps, result.steps_saved, result.not_run) == (9, 7, 7)


def test_a_person_who_speaks_ends_a_halt():
    result = judge_run(STRICT, recorded([*loop("a", 6), {"run_id": "a", "user": "Go on"}, *fine("a")]))
    assert result.actions["halt"] == 1
    assert result.actions["allow"] == 6


def test_tokens_are_saved_with_the_steps_they_were_spent_on():
    result = judge_run(STRICT, recorded(loop("a", 5, tokens=100)))
    assert (result.tokens, result.tokens_saved) == (500, 300)


@pytest.mark.parametrize(
    ("outcome", "succeeded"),
    [
        *[(True, True), (1, True), (1.0, True), ("Resolved", True), ("true", True), ("1.0", True)],
        *[(0.99, False), ("gave up", False), ("0.5", False), ({}, False)],
        *[(None, None), ("", None), ("null", None)],
    ],
)
def test_what_counts_as_a_success(outcome, succeeded):
    assert has_succeeded(outcome) is succeeded


def test_runs_are_gathered_from_interleaved_lines_and_their_outcomes_are_noted(tmp_path):
    path = write(tmp_path / "a.jsonl", [line("a"), line("b"), line("a"), {"run_id": "b", "outcome": True}])
    runs = list(read_file(path, Outcomes()))
    assert [(run.run_id, len(run.steps), run.succeeded) for run in runs] == [("a", 2, None), ("b", 1, True)]


def test_a_table_counts_before_what_the_lines_say_and_knows_a_run_by_its_file(tmp_path):
    path = write(tmp_path / "task-7.jsonl", [{**line("a", outcome=True), "run_id": None}])
    assert [run.succeeded for run in read_file(path, Outcomes({"task-7": 0}))] == [False]
    write(path, [line("a", outcome=True), line("b", outcome=True)])
    assert [run.succeeded for run in read_file(path, Outcomes({"task-7": 0, "b": 0}))] == [True, False]


def test_what_cannot_be_read_is_a_problem_in_its_place(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(line("a")) + '\n{"tool": \n', encoding="utf-8")
    (tmp_path / "b.gz").write_bytes(b"no gzip")
    problem, run = read_file(path, Outcomes())
    assert (problem.line, run.run_id) == (2, "a")
    (problem,) = read_file(tmp_path / "b.gz", Outcomes())
    assert isinstance(problem, Problem)
    assert "cannot be read" in problem.reason


def test_a_folder_stands_for_the_recordings_in_it(folder):
    (folder / "notes.txt").write_text("no recording", encoding="utf-8")
    assert [path.name for path in files_in([folder, folder / "a.jsonl"])] == ["a.jsonl", "b.jsonl"]


def test_the_numbers_are_told_by_how_the_runs_ended(folder):
    result = backtest("strict_loop_detection", folder, "--jobs", 1, "--json")
    (summary,) = json.loads(result.output)["policies"]
    good, failed = summary["runs"]["succeeded"], summary["runs"]["failed"]
    assert (good["runs"], good["stopped"], good["steps_saved"]) == (3, 1, 2)
    assert (failed["runs"], failed["stopped"], failed["steps_saved"], failed["tokens_saved"]) == (2, 2, 8, 60)
    assert summary["runs"]["unknown"]["runs"] == 0
    (reason,) = summary["reasons"]
    assert (reason["reason"], reason["runs"], reason["succeeded"]) == ("loop.repeat", 3, 1)
    # The good run is the one to look at.
    assert reason["example"] == {"file": str(folder / "a.jsonl"), "run_id": "a2", "step": 2, "tool": "search"}


def test_two_policies_stand_side_by_side(folder):
    lines = backtest("balanced", folder, "--against", "strict_loop_detection", "--jobs", 1).output.splitlines()
    assert lines[0] == "5 runs with 24 steps: 3 succeeded, 2 failed, 0 unknown"
    assert lines[2].split() == ["balanced", "strict_loop_detection"]
    assert lines[3].split("  ", 1)[1].split() == ["0", "of", "3", "(0.0", "%)", "1", "of", "3", "(33.3", "%)"]
    assert any("loop.repeat" in each and "run a2, step 2, search" in each for each in lines)


def test_processes_share_the_files_and_find_the_same(folder):
    alone, shared = (backtest("balanced", folder, "--jobs", jobs, "--json").output for jobs in (1, 2))
    assert shared == alone


def test_a_gate_fails_when_too_many_good_runs_are_stopped(folder):
    assert backtest("strict_loop_detection", folder, "--jobs", 1).exit_code == 0
    assert backtest("strict_loop_detection", folder, "--jobs", 1, "--fail-above", 0).exit_code == 1
    assert backtest("strict_loop_detection", folder, "--jobs", 1, "--fail-above", 0.5).exit_code == 0
    assert backtest("balanced", folder, "--jobs", 1, "--fail-above", 0).exit_code == 0


def test_a_gate_without_outcomes_cannot_be_used(tmp_path):
    path = write(tmp_path / "a.jsonl", fine("a"))
    result = backtest("balanced", path, "--fail-above", 0)
    assert (result.exit_code, "needs an outcome" in result.stderr) == (2, True)


def test_outcomes_come_from_a_table_beside_the_runs(tmp_path):
    write(tmp_path / "a.jsonl", loop("a"))
    table = write(tmp_path / "table.jsonl", [{"run_id": "a", "reward": 1}])
    options = ("--outcomes", table, "--outcome-field", "reward", "--fail-above", 0)
    assert backtest("strict_loop_detection", tmp_path, *options).exit_code == 1
    assert backtest("balanced", tmp_path, *options).exit_code == 0


def test_input_that_cannot_be_used_ends_with_2(tmp_path):
    assert backtest("balanced", tmp_path).exit_code == 2
    path = write(tmp_path / "a.jsonl", loop("a"))
    result = backtest("balanced", path, "--outcomes", path)
    assert (result.exit_code, 'no "run_id" and "outcome"' in result.stderr) == (2, True)
    assert backtest("balancd", path).exit_code == 2


def test_broken_lines_are_told_and_counted(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(line("a")) + "\nnothing\n", encoding="utf-8")
    result = backtest("balanced", path)
    assert "line 2: not JSON" in result.stderr
    assert "; 1 problem" in result.stdout


@pytest.mark.skipif(find_spec("duckdb") is None, reason="duckdb is not installed")
def test_parquet_is_read_with_a_row_a_step(tmp_path, folder):
    import duckdb

    lines = str(folder / "a.jsonl")
    duckdb.sql(f"COPY (SELECT * FROM read_json('{lines}')) TO '{tmp_path / 'a.parquet'}' (FORMAT parquet)")
    told = [json.loads(backtest("balanced", path, "--json").output) for path in (lines, tmp_path / "a.parquet")]
    for each in told:
        for reason in each["policies"][0]["reasons"]:
            del reason["example"]["file"]
    assert told[0] == told[1]


@pytest.mark.skipif(find_spec("duckdb") is not None, reason="duckdb is installed")
def test_without_duckdb_parquet_is_a_problem_that_names_it(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"")
    assert 'pip install "microloop[backtest]"' in backtest("balanced", tmp_path).stderr


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None or find_spec("pandas") is None, reason="ray[data] is not installed")
@pytest.mark.filterwarnings("default")  # Ray's own are none of ours
def test_ray_finds_the_same_with_the_same_function(tmp_path, folder, monkeypatch):
    import ray

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    try:
        told = [
            json.loads(backtest("balanced", folder, "--json", "--engine", each).output) for each in ("local", "ray")
        ]
    finally:
        ray.shutdown()
    assert told[0] == told[1]


@pytest.mark.skipif(find_spec("ray") is not None, reason="ray is installed")
def test_without_ray_its_engine_says_what_to_install(folder):
    result = backtest("balanced", folder, "--engine", "ray")
    assert (result.exit_code, 'pip install "microloop[ray]"' in result.stderr) == (2, True)

"""`microloop inspect`: where recorded runs turned, in words, and exit codes that CI can go by."""

from __future__ import annotations

import gzip
import json

import pytest
from click.testing import CliRunner

from microloop.cli.app import app


def step(tool="search", result="no hit at all", **more):
    return json.dumps({"tool": tool, "arguments": {"q": "x"}, "result": result, **more})


def check(failed, number):
    return step("bash", f"==== {failed} failed, 9 passed in 0.{number}s ====", arguments={"command": "pytest"})


LOOP = [step() for _ in range(5)]
FINE = [step(result=f"page {number}") for number in range(4)]
# Edits that bring something new end the stall.
RECOVERED = [*LOOP, *[step("edit", f"line {number} changed", arguments={"line": number}) for number in range(4)]]


@pytest.fixture
def inspect(tmp_path):
    def invoke(lines, *options, name="run.jsonl"):
        path = tmp_path / name
        with (gzip.open if path.suffix == ".gz" else open)(path, "wb") as file:
            file.write("\n".join(lines).encode())
        return CliRunner().invoke(app, ["inspect", str(path), *options])

    return invoke


def test_only_the_steps_are_told_at_which_something_begins(inspect):
    result = inspect([step("ls", "one file"), *LOOP, step()])
    assert result.output.splitlines() == [
        "run (without an id)",
        "  step 3: warning: search gave the same answer again, as in steps 1–2",
        "  step 5: stalled: search gave the same answer again, as in steps 1–4; the guard would block it",
        "this run: 7 steps, stalled since step 5; the guard would have stopped it at step 5",
        "1 run under balanced: 1 stalled",
    ]


def test_progress_that_a_check_verifies_is_told(inspect):
    result = inspect([check(5, 1), step("edit", "ok"), check(2, 2)])
    assert result.exit_code == 0
    assert "  step 2: progress: the check is better than ever (2 after 5)" in result.output
    assert "this run: 3 steps, healthy; verified progress 1 time" in result.output


def test_a_check_that_gets_worse_is_told(inspect):
    result = inspect([check(failed, number) for number, failed in enumerate([5, 2, 3, 4])])
    assert "regressing: the check has been worse than its best for 2 readings (4 after 2)" in result.output


def test_progress_is_not_told_again_where_somebody_speaks(inspect):
    lines = [check(5, 1), check(2, 2), json.dumps({"assistant": "It is better."}), json.dumps({"user": "Go on."})]
    assert inspect(lines).output.count("progress:") == 1


def test_the_end_of_a_stall_is_told(inspect):
    result = inspect(RECOVERED)
    assert result.exit_code == 0
    assert ": healthy: the run gets on" in result.output


def test_what_the_guard_would_stop_is_told_in_a_healthy_run_too(inspect):
    result = inspect([step("write_file")], "--policy", "least_privilege")
    assert result.exit_code == 0
    assert "  step 0: healthy: the guard would block it (role.denied)" in result.output


def test_what_the_guard_advises_against_is_told_where_the_status_does_not_say_it(inspect):
    result = inspect([step(result=str(number)) for number in range(2)] + [step("ls", "a"), step("ls", "a")])
    assert "the guard would" not in result.output
    errors = [step(arguments={"q": number}, result=None, error="no such table") for number in range(4)]
    told = [line for line in inspect(errors).output.splitlines() if "step" in line]
    assert any("search gave the same error again" in line for line in told)


def test_verbose_shows_every_step(inspect):
    lines = inspect(LOOP, "--verbose").output.splitlines()
    assert lines[1:3] == ['  step 0: search q="x"', '  step 1: search q="x"']
    assert [line.split(":")[0] for line in lines[1:6]] == [f"  step {number}" for number in range(5)]


@pytest.mark.parametrize(
    ("lines", "options", "code"),
    [
        (FINE, (), 0),
        (LOOP[:3], (), 1),
        (LOOP[:3], ("--fail-on", "stalled"), 0),
        (LOOP, ("--fail-on", "stalled"), 1),
        (LOOP, ("--fail-on", "regressing"), 0),
        (RECOVERED, (), 0),
    ],
)
def test_the_exit_code_is_that_of_the_worst_end(inspect, lines, options, code):
    assert inspect(lines, *options).exit_code == code


def test_one_bad_run_among_good_ones_counts(inspect):
    lines = [step(run_id="good", result=str(number)) for number in range(3)] + [step(run_id="bad")] * 5
    result = inspect(lines)
    assert result.exit_code == 1
    assert "good: 3 steps, healthy\n" in result.output
    assert result.output.endswith("2 runs under balanced: 1 healthy, 1 stalled\n")
    assert inspect(lines, "--run-id", "good").exit_code == 0


def test_json_is_an_object_a_line_and_a_summary(inspect):
    *told, last = map(json.loads, inspect(LOOP, "--json").output.splitlines())
    assert [(line["step"], line["status"], line["would"]) for line in told] == [
        (2, "warning", "warn"),
        (4, "stalled", "block"),
    ]
    assert told[1]["evidence"][0]["steps"] == [0, 1, 2, 3]
    assert told[1]["story"].startswith("stalled: search gave")
    assert last["summary"]["runs"] == [
        {"run_id": "", "steps": 5, "status": "stalled", "since": 4, "verified_progress": 0, "first_stop": 4}
    ]
    assert len(inspect(LOOP, "--json", "-v").output.splitlines()) == 6


def test_a_broken_line_is_told_with_its_number_and_counted(inspect):
    result = inspect([*FINE[:2], '{"tool": ', FINE[2]])
    assert "error: line 3 is skipped: not JSON" in result.stderr
    assert result.stdout.endswith("1 run under balanced: 1 healthy; 1 broken line skipped\n")
    told = [json.loads(line) for line in inspect([FINE[0], "[1]"], "--json").output.splitlines()]
    assert told[0]["broken_line"] == 2
    assert told[-1]["summary"]["broken_lines"] == 1


def test_packed_files_and_standard_input_are_read(inspect):
    assert inspect(LOOP, name="run.jsonl.gz").exit_code == 1
    assert CliRunner().invoke(app, ["inspect", "-"], input="\n".join(LOOP)).exit_code == 1


def test_other_formats_are_found_by_themselves_or_named(inspect):
    call = {"id": "7", "function": {"name": "search", "arguments": '{"q": "x"}'}}
    lines = [
        json.dumps({"role": "assistant", "tool_calls": [{**call, "id": f"call_{number}"}]})
        + "\n"
        + json.dumps({"role": "tool", "tool_call_id": f"call_{number}", "content": "no"})
        for number in range(5)
    ]
    assert inspect(lines).exit_code == 1
    assert inspect(lines, "--format", "openai").exit_code == 1
    assert inspect(lines, "--format", "codex").exit_code == 2


def test_input_without_a_single_step_cannot_be_used(inspect, tmp_path):
    result = inspect(["nothing"])
    assert (result.exit_code, "no step was found" in result.stderr) == (2, True)
    assert inspect(FINE, "--run-id", "z").exit_code == 2
    assert inspect(FINE, "--policy", "balancd").exit_code == 2
    (tmp_path / "broken.gz").write_bytes(b"no gzip")
    result = CliRunner().invoke(app, ["inspect", str(tmp_path / "broken.gz")])
    assert (result.exit_code, "cannot be read" in result.stderr) == (2, True)


def test_what_a_log_holds_does_not_act_on_the_terminal(inspect):
    result = inspect([step("\x1b[2Jsearch", run_id="\x1b[31ma", arguments={"q": "\x1b]0;title\x07"})] * 3, "-v")
    assert "\x1b" not in result.output
    assert "\\x1b[31ma" in result.output


def test_colour_where_it_is_asked_for(inspect, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[33m" in inspect(LOOP).output
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in inspect(LOOP).output


@pytest.mark.parametrize("command", ["inspect", "replay", "monitor"])
def test_the_shell_completes_policies_formats_and_ends(command):
    from click.shell_completion import BashComplete

    complete = BashComplete(app, {}, "microloop", "_MICROLOOP_COMPLETE")

    def completed(option, incomplete):
        return [item.value for item in complete.get_completions([command, option], incomplete)]

    assert "balanced" in completed("--policy", "bal")
    assert completed("--format", "claude") == ["claude-code"]
    if command != "replay":
        assert completed("--fail-on", "s") == ["stalled"]

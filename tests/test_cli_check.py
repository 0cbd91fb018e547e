"""`microloop check`: recorded runs, step by step, under a policy."""

from __future__ import annotations

import gzip
import json
import lzma

import pytest
from click.testing import CliRunner

from microloop.cli.app import app


def step(tool="search", run_id=None, **more):
    run = {} if run_id is None else {"run_id": run_id}
    return json.dumps({**run, "tool": tool, "arguments": {"q": "x"}, "result": "no", "error": False, **more})


LOOP = [step() for _ in range(4)]
FINE = [step(result=f"page {number}") for number in range(4)]


@pytest.fixture
def check(tmp_path):
    def invoke(lines, *options, name="run.jsonl", policy="strict_loop_detection"):
        path = tmp_path / name
        opener = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
        with opener(path, "wb") as file:
            file.write("\n".join(lines).encode())
        return CliRunner().invoke(app, ["check", str(path), "--policy", policy, *options])

    return invoke


def test_each_step_has_a_line_with_what_would_have_happened(check):
    result = check(LOOP)
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "run (without an id)",
        "    0  allow  search",
        "    1  allow  search",
        "    2  block  search  loop.repeat, 3 of 3, because of steps 0, 1",
        "    3  block  search  loop.repeat, 4 of 3, because of steps 0, 1",
        "this run: 4 steps, first stopped at step 2; 2 allow, 2 block (loop.repeat 2)",
        "1 run under strict_loop_detection: 1 would have been stopped",
    ]


def test_a_run_that_nothing_stops_ends_with_0(check):
    result = check(FINE)
    assert result.exit_code == 0
    assert "4 steps, not stopped; 4 allow" in result.output


def test_quiet_shows_only_what_is_notable(check):
    assert check(FINE, "-q").output == "1 run under strict_loop_detection: 0 would have been stopped\n"
    assert check(LOOP, "-q").output.count("block") == 3


def test_what_comes_after_a_halt_is_not_judged(check):
    result = check([step() for _ in range(7)])
    assert "    4  halt   search" in result.output
    assert "    6  ended  search" in result.output
    assert "halted at step 4" in result.output


def test_json_has_a_line_for_each_step_and_a_summary(check):
    lines = [json.loads(line) for line in check(LOOP, "--json").output.splitlines()]
    assert [line["verdict"]["action"] for line in lines[:-1]] == ["allow", "allow", "block", "block"]
    assert lines[2]["verdict"]["evidence"] == [0, 1]
    assert lines[-1]["summary"]["stopped"] is True
    assert lines[-1]["summary"]["runs"][0]["first_stop"] == 2


def test_runs_of_one_file_have_sessions_of_their_own(check):
    interleaved = [step(run_id=run_id) for _ in range(2) for run_id in ("a", "b", "c")]
    result = check([*interleaved, step(run_id="b")], "--json")
    summary = json.loads(result.output.splitlines()[-1])["summary"]
    assert [(run["run_id"], run["first_stop"]) for run in summary["runs"]] == [("a", None), ("b", 2), ("c", None)]


def test_one_run_can_be_picked(check):
    lines = [step(run_id="a"), *[step(run_id="b")] * 3]
    assert check(lines, "--run-id", "a").exit_code == 0
    assert check(lines, "--run-id", "b").exit_code == 1
    result = check(lines, "--run-id", "z")
    assert (result.exit_code, "for this run id" in result.stderr) == (2, True)


@pytest.mark.parametrize("name", ["run.jsonl.gz", "run.jsonl.xz"])
def test_packed_files_are_read(check, name):
    assert check(LOOP, name=name).exit_code == 1


def test_standard_input_is_read():
    result = CliRunner().invoke(app, ["check", "-", "--policy", "strict_loop_detection"], input="\n".join(LOOP))
    assert result.exit_code == 1


def chat(number):
    call = {"id": f"call_{number}", "function": {"name": "search", "arguments": '{"q": "x"}'}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    return [json.dumps(asked), json.dumps({"role": "tool", "tool_call_id": call["id"], "content": "no"})]


def test_other_formats_are_found_by_themselves(check):
    lines = [line for number in range(4) for line in chat(number)]
    assert check(lines).output.splitlines()[3] == "    2  block  search  loop.repeat, 3 of 3, because of steps 0, 1"
    result = CliRunner().invoke(app, ["check", "-", "--policy", "strict_loop_detection"], input=f"[{', '.join(lines)}]")
    assert (result.exit_code, "loop.repeat 2" in result.output) == (1, True)


def test_a_format_can_be_named(check):
    assert check(LOOP, "--format", "microloop").exit_code == 1
    assert check(LOOP, "--format", "codex").exit_code == 2
    result = check(LOOP, "--format", "openapi")
    assert (result.exit_code, "'openai-responses'" in result.stderr) == (2, True)


@pytest.mark.parametrize("name", ["run.jsonl.gz", "run.jsonl.xz"])
def test_a_damaged_packed_file_cannot_be_used(check, tmp_path, name):
    check([step(result=str(number)) for number in range(2000)], name=name)
    data = bytearray((tmp_path / name).read_bytes())
    data[len(data) // 2 :] = b"damaged" * 100
    (tmp_path / name).write_bytes(data)
    result = CliRunner().invoke(app, ["check", str(tmp_path / name)])
    assert (result.exit_code, "cannot be read" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"tool": "a"', "not JSON"),
        ("[1]", "expected an object, found list"),
        ("{}", "exactly one of tool, user, assistant; found none"),
        ('{"tool": 7}', '"tool" must be text, found int'),
        ('{"tool": "a", "arguments": [1]}', '"arguments" must be a mapping'),
        ('{"tool": "a", "user": "b"}', "found tool, user"),
        ('{"tool": "a", "at": "noon"}', '"at" must be milliseconds'),
        ("[" * 100_000, "nested too deeply"),
        ('{"tool": "a", "at": %s}' % ("9" * 5000), "a number has more than 4300 digits"),
    ],
)
def test_a_broken_line_is_told_with_its_number_and_skipped(check, line, says):
    result = check([*FINE[:2], line, "", FINE[2]])
    assert result.exit_code == 0
    assert "error: line 3 is skipped: " in result.stderr
    assert says in result.stderr
    assert "1 broken line skipped" in result.stdout


def test_input_without_a_single_step_cannot_be_used(check, tmp_path):
    assert check(["nothing"]).exit_code == 2
    assert check([]).exit_code == 2
    assert check(FINE, policy="balancd").exit_code == 2
    (tmp_path / "broken.gz").write_bytes(b"no gzip")
    result = CliRunner().invoke(app, ["check", str(tmp_path / "broken.gz")])
    assert (result.exit_code, "cannot be read" in result.stderr) == (2, True)
    assert CliRunner().invoke(app, ["check", str(tmp_path / "none.jsonl")]).exit_code == 2


def test_what_a_log_holds_does_not_act_on_the_terminal(check):
    result = check([step("\x1b[2Jsearch", run_id="\x1b[31ma")] * 3)
    assert {"\x1b", "\x07"} & set(result.output) == set()
    assert "run \\x1b[31ma" in result.output


def test_a_result_that_the_log_does_not_have_counts_for_nothing(check):
    assert check([step(result=None) for _ in range(9)]).exit_code == 0


def test_an_error_without_a_text_has_its_text_in_the_result(check):
    lines = [step(arguments={"q": number}, result="404 not found", error=True) for number in range(5)]
    assert "loop.error" in check(lines).output


def test_observe_says_what_it_would_have_done_and_stops_nothing(check):
    result = check([step() for _ in range(5)], policy="observe")
    assert result.exit_code == 0
    assert "    4  allow  search (would block)  loop.repeat, 5 of 5" in result.output


def test_user_turns_and_roles_are_replayed(check, tmp_path):
    user = json.dumps({"user": "And now?"})
    assert check([*LOOP[:2], user, *LOOP[:2]]).exit_code == 0
    denied = check([step("write_file")], policy="least_privilege")
    assert (denied.exit_code, "role.denied" in denied.output) == (1, True)
    assert check([step("write_file")], "--role", "editor", policy="least_privilege").exit_code == 0


def test_the_clock_of_a_run_starts_with_its_first_step(check):
    began = 1_764_400_000_000
    late = [step(at=began, result="a"), step(at=began + 3_500_000, result="b"), step(at=began + 3_700_000, result="c")]
    assert [line.split()[1] for line in check(late, policy="least_privilege").output.splitlines()[1:4]] == [
        "allow",
        "allow",
        "halt",
    ]


def test_a_recording_without_times_meets_no_limit_per_minute(check):
    lines = [step(arguments={"q": number}, result=f"page {number}") for number in range(200)]
    assert check(lines, "-q", policy="least_privilege").exit_code == 0


def test_raw_arguments_are_taken_as_the_model_wrote_them(check):
    result = check([step(arguments='{"q": "x')])
    assert "args.malformed" in result.output


def test_no_colour_where_there_is_no_terminal(check):
    assert "\x1b" not in check(LOOP).output


def test_colour_on_a_terminal_unless_no_color_is_set(monkeypatch):
    import io

    from microloop.cli import style

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert style.coloured(Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not style.coloured(Terminal())


def test_a_bar_shows_the_way_on_a_terminal(tmp_path, monkeypatch):
    import io

    from microloop.cli import source

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.setattr(source, "_LONG", 10)
    path = tmp_path / "long.jsonl"
    path.write_text("\n".join(FINE), encoding="utf-8")
    with source.open_lines(str(path)) as lines:
        assert len(list(lines)) == 4
    assert "100%" in shown.getvalue()

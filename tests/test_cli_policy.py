"""`microloop policy …`: what it prints, and with which code it ends."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import yaml
from click.testing import CliRunner

from microloop import Policy, __version__
from microloop.cli.app import app

TRACE = """\
- name: The third is refused.
  steps:
    - {tool: a, args: {}, result: x, times: 2}
    - {tool: a, args: {}, result: x, expect: %s}
"""


@pytest.fixture
def run():
    return lambda *arguments: CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture
def team(tmp_path):
    path = tmp_path / "team.yaml"
    path.write_text("version: 1\nextends: strict_loop_detection\n", encoding="utf-8")
    return path


def test_the_version_and_the_help(run):
    assert run("--version").output == f"microloop {__version__}\n"
    assert {"check", "completion", "policy"} <= set(run("-h").output.split())
    assert {"lint", "list", "schema", "show", "test"} <= set(run("policy", "--help").output.split())
    assert run("polcy").exit_code == 2


def test_list_names_every_policy_with_what_it_is_for(run):
    lines = run("policy", "list").output.splitlines()
    assert [line.split()[0] for line in lines][:2] == ["balanced", "browser_agent"]
    assert json.loads(run("policy", "list", "--json").output)["observe"].startswith("Never blocks:")


def test_show_prints_the_resolved_policy_as_yaml_and_as_json(run, team):
    document = Policy.load(team).document
    assert yaml.safe_load(run("policy", "show", team).output) == document
    assert json.loads(run("policy", "show", team, "--json").output) == document
    assert "extends" not in document


def test_what_show_prints_is_a_policy_again(run, tmp_path):
    for name in ("balanced", "data_agent"):
        again = tmp_path / "again.yaml"
        again.write_text(run("policy", "show", name).output, encoding="utf-8")
        assert Policy.load(again) == Policy.load(name)


def test_faults_end_with_code_2_and_say_what_is_wrong(run, tmp_path):
    result = run("policy", "show", "balancd")
    assert (result.exit_code, result.stdout) == (2, "")
    assert 'error: policy: no policy is named "balancd"' in result.stderr
    assert run("policy", "test", tmp_path / "none.yaml").exit_code == 2


def test_lint_ends_with_1_only_for_errors_unless_strict(run, tmp_path, team):
    good = run("policy", "lint", team, "balanced")
    assert (good.exit_code, good.output) == (0, f"{team}: ok\nbalanced: ok\n")
    odd = tmp_path / "odd.yaml"
    odd.write_text("version: 1\n", encoding="utf-8")
    assert run("policy", "lint", odd).exit_code == 0
    assert run("policy", "lint", odd).output.startswith(f"warning: {odd}:1:1: stands alone")
    assert run("policy", "lint", "--strict", odd).exit_code == 1
    odd.write_text("version: 1\nlops: {}\n", encoding="utf-8")
    assert run("policy", "lint", odd).exit_code == 1
    [finding] = json.loads(run("policy", "lint", "--json", odd).output)
    assert (finding["severity"], finding["line"], finding["column"]) == ("error", 2, 1)


def test_test_plays_the_traces_beside_the_file(run, team):
    traces = team.with_name("team.traces.yaml")
    traces.write_text(TRACE % "block", encoding="utf-8")
    result = run("policy", "test", team)
    assert (result.exit_code, result.output) == (0, "ok   The third is refused.\n1 trace, 0 failed\n")


def test_test_shows_what_was_expected_and_what_was_seen(run, team, tmp_path):
    traces = tmp_path / "other.traces.yaml"
    traces.write_text(TRACE % "allow", encoding="utf-8")
    result = run("policy", "test", team, "--traces", traces)
    assert result.exit_code == 1
    assert "FAIL The third is refused." in result.output
    assert "step 3: expected allow, seen block (loop.repeat, 3 of 3)" in result.output
    [listed] = json.loads(run("policy", "test", team, "--traces", traces, "--json").output)
    assert listed["passed"] is False


def test_test_without_traces_ends_with_2(run, team):
    result = run("policy", "test", team)
    assert result.exit_code == 2
    assert "team.traces.yaml: there is no such file" in result.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- {name: x}\n", '[0] has no key "steps"'),
        ("- {name: x, steps: [{tol: a}]}\n", 'unknown key "tol"; the nearest known one is "tool"'),
        ("- {name: x, steps: [{tool: a, user: b}]}\n", "exactly one of tool, user, assistant"),
        ("- {name: x, steps: [{tool: a, result: b, error: c}]}\n", "a result or an error, not both"),
        ("- {name: x, steps: [{tool: a, expect: alow}]}\n", "steps[0].expect must be"),
        ("{}\n", "must be traces of a microloop policy; found {}"),
    ],
)
def test_broken_traces_are_told_with_their_position(run, team, text, says):
    traces = team.with_name("team.traces.yaml")
    traces.write_text(text, encoding="utf-8")
    result = run("policy", "test", team)
    assert result.exit_code == 2
    assert f"{traces}:1:" in result.stderr
    assert says in result.stderr


def test_the_schemas_are_printed(run):
    assert json.loads(run("policy", "schema").output)["title"] == "a microloop policy"
    assert json.loads(run("policy", "schema", "--traces").output)["type"] == "array"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(run, shell):
    assert "_MICROLOOP_COMPLETE" in run("completion", shell).output


def test_policy_names_are_completed():
    from click.shell_completion import BashComplete

    complete = BashComplete(app, {}, "microloop", "_MICROLOOP_COMPLETE")
    assert "balanced" in [item.value for item in complete.get_completions(["policy", "show"], "bal")]


def test_the_command_starts_without_what_it_does_not_need():
    run_it = "from microloop.cli.app import app; app(['--version'], standalone_mode=False)"
    code = f"import sys; {run_it}; print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not any(f"'{heavy}'" in loaded for heavy in ("yaml", "jsonschema", "regex", "microloop.guardrail"))

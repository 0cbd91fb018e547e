"""The policies that ship with microloop: each does what its traces say, and none stops good work."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from microloop import Guardrail, Policy
from microloop._policy.globs import matches_any, names_of_entry
from microloop._policy.lint import lint
from microloop._policy.names import policy_names
from microloop.traces import play, read_traces

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[1] / "shared" / "data"
NAMES = [
    "balanced",
    "browser_agent",
    "coding_agent",
    "data_agent",
    "least_privilege",
    "observe",
    "strict_loop_detection",
]
TRACES = [pytest.param(name, trace, id=f"{name}: {trace.name}") for name in NAMES for trace in read_traces(name)]


def test_all_promised_policies_are_there():
    assert policy_names() == NAMES


@pytest.mark.parametrize(("name", "trace"), TRACES)
def test_the_policy_does_what_its_trace_says(name, trace):
    assert play(trace, name).problems == ()


@pytest.mark.parametrize("name", NAMES)
def test_each_policy_is_proved_by_traces_that_stop_and_traces_that_let_through(name):
    traces = read_traces(name)
    assert len(traces) >= 5
    assert any(trace.never for trace in traces)
    acting = any(trace.stopped_by or trace.noticed_by or "block" in str(trace.steps) for trace in traces)
    assert acting or Policy.load(name).mode == "observe"


@pytest.mark.parametrize("name", NAMES)
def test_lint_has_nothing_to_complain_about(name):
    assert [finding.message for finding in lint(name) if finding.severity != "hint"] == []


@pytest.mark.parametrize("name", NAMES)
def test_each_policy_says_its_name_and_what_it_is_for(name):
    policy = Policy.load(name)
    assert policy.name == name
    assert len(policy.description) > 40
    assert Guardrail(policy).check("read_file", {"path": "a"}).allowed


def test_the_resolved_documents_are_current():
    """`python tests/policies/resolve.py` writes them."""
    found = importlib.util.spec_from_file_location("resolve", HERE / "policies" / "resolve.py")
    resolve = importlib.util.module_from_spec(found)
    found.loader.exec_module(resolve)
    for name, text in resolve.rendered().items():
        assert (HERE / "policies" / name).read_text(encoding="utf-8") == text, name


def effect_of(tool: str) -> str | None:
    effect = None
    for entry in Policy.load("balanced").document["tools"]:
        if "effect" in entry and matches_any(names_of_entry(entry), tool):
            effect = entry["effect"]
    return effect


READS = [
    "get_user",
    "getUser",
    "get_updates",
    "get_post_comments",
    "get_update_status",
    "mcp__x__get_update_status",
    "github_list_issues",
    "mcp__github__get_issue",
    "github.get_issue",
    "list_files",
    "listFiles",
    "Read",
    "read_file",
    "Grep",
    "Glob",
    "search",
    "Search",
    "web_search",
    "WebSearch",
    "find_user_id_by_name_zip",
    "lookup",
    "WebFetch",
    "fetch_page",
    "view_file",
    "git_status",
    "job_status",
    "deploy_status",
    "think",
    "calculate",
    "wait",
    "sleep",
    "order_history",
    "query_metrics",
    "describe_table",
    "browser_wait_for",
]
WRITES = [
    "create_issue",
    "createIssue",
    "mcp__github__create_issue",
    "fs/write_file",
    "Write",
    "write_file",
    "save_memory",
    "send_email",
    "send_status_update",
    "delete_row",
    "update_list_item",
    "update_status",
    "Edit",
    "MultiEdit",
    "apply_patch",
    "move_file",
    "remove_tag",
    "rename_file",
    "upload_file",
    "post_message",
    "replace_text",
    "append_note",
    "book_reservation",
    "cancel_order",
    "deploy_app",
    "query_and_update",
    "get_or_create_user",
    "find_and_replace",
    "search_and_replace",
    "search_replace",
    "widget_create",
    "amend_order",
]
UNKNOWN = [
    "bash",
    "execute_bash",
    "run_tests",
    "python",
    "sql",
    "query_database",
    "execute_sql",
    "postgres_query",
    "str_replace_editor",
    "str_replace_based_edit_tool",
    "browser_click",
    "create_and_get_user",
    "preset",
    "recreate",
    "compost",
    "listing",
    "ready",
    "settings",
    "savings_balance",
    "updates_feed",
    "global_config",
    "postal_code",
    "attach",
    "execute-tool",
    "route",
    "memory",
    "run_query",
]


@pytest.mark.parametrize(
    ("tool", "effect"),
    [(tool, "read") for tool in READS]
    + [(tool, "write") for tool in WRITES]
    + [(tool, "idempotent") for tool in ("set_status", "mark_as_read", "TodoWrite", "update_todos", "upsert_row")]
    + [(tool, None) for tool in UNKNOWN],
)
def test_balanced_guesses_the_effect_of_a_tool_from_its_name(tool, effect):
    assert effect_of(tool) == effect


@pytest.mark.parametrize("key", ["page", "cursor", "offset", "next_token", "page_token", "start_line", "view_range"])
def test_cursors_are_never_taken_for_noise(key):
    guard = Guardrail("balanced")
    with guard.session() as session:
        for number in range(20):
            verdict = session.check("list_orders", {key: f"{number}-x"})
            session.record(verdict, "nothing on this page")
            assert verdict.action in ("allow", "warn")


@pytest.mark.shared
@pytest.mark.parametrize("name", ["balanced", "coding_agent", "browser_agent", "data_agent"])
def test_at_most_one_in_a_hundred_successful_real_runs_of_each_source_is_stopped(name):
    if not (SHARED / "steps.jsonl.xz").is_file():
        pytest.skip("../shared/data is not beside this checkout")
    sys.path.append(str(HERE.parent / "benchmarks"))
    from evaluate import corpus
    from evaluate.findings import TARGET
    from evaluate.judges import STOPS, told
    from evaluate.score import by_source

    runs = [run for run in corpus.read(SHARED) if run.succeeded]
    scores = by_source(told(name, "refuses the call", Policy.load(name), runs, STOPS), runs)
    assert len(scores) > 10
    assert [source for source, found in scores.items() if (found.rate or 0) > TARGET] == []


def test_every_policy_file_is_valid_by_the_published_schema_alone():
    import jsonschema
    import yaml

    schema = json.loads((HERE.parent / "microloop" / "policy.schema.json").read_text(encoding="utf-8"))
    for name in NAMES:
        document = yaml.safe_load((HERE.parent / "policies" / f"{name}.yaml").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(schema).validate(document)

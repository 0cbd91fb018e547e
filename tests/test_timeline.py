"""A recorded run as guard and monitor see it."""

from __future__ import annotations

import json
import pickle

import pytest

from microloop import Policy
from microloop.logs import read
from microloop.shown import arguments, outcome, visible
from microloop.timeline import observing, steps_of, timelines, watch


def seen(lines, policy="balanced"):
    logged = (json.dumps(line).encode() for line in lines)
    return list(watch(steps_of(read(logged), pytest.fail), Policy.load(policy)))


def call(**more):
    return {"tool": "search", "arguments": {"q": "x"}, "result": "nothing found", **more}


def test_steps_are_judged_as_they_came_also_after_the_first_stop():
    steps = seen([call() for _ in range(6)] + [call(result="found")])
    assert [str(step.would) for step in steps[2:6]] == ["warn", "warn", "block", "block"]
    assert steps[-1].outcome == "found"


def test_up_to_the_first_stop_an_enforcing_guard_says_the_same():
    from microloop.recheck import Recheck

    lines = [call(), call(), {"tool": "fetch", "error": "Timeout"}, call(), call(), call()]
    enforced = Recheck(Policy.load("balanced")).judge(json.dumps(line).encode() for line in lines)
    watched = seen(lines)
    stop = next(place for place, step in enumerate(watched) if step.stops)
    judged = [each.verdict for each in enforced]
    assert [step.would for step in watched[: stop + 1]] == [verdict.action for verdict in judged[: stop + 1]]


def test_verdict_and_decision_name_steps_by_the_numbers_of_the_recording():
    last = seen([{"user": "go", "step": 100}, *(call(step=110 + 10 * place) for place in range(5))])[-1]
    assert last.verdict.evidence == (110, 120, 130, 140)
    assert last.decision.evidence[0].steps == (110, 120, 130, 140)
    assert (last.verdict.step, last.decision.step) == (150, 150)


def test_evidence_is_there_however_long_the_run():
    steps = seen([call() for _ in range(200)])
    assert all(step.decision.evidence for step in steps if str(step.status) == "stalled")


def test_a_timeline_can_go_to_another_process():
    steps = seen([call() for _ in range(6)])
    copies = pickle.loads(pickle.dumps(steps))
    assert copies[-1].verdict == steps[-1].verdict
    assert copies[-1].decision.reasons == ("loop.repeat",)


def test_runs_that_are_recorded_at_the_same_time_are_told_apart():
    steps = seen([call(run_id=run) for _ in range(5) for run in ("a", "b")])
    runs = {run.run_id: run for run in timelines(steps)}
    assert [len(run.steps) for run in runs.values()] == [5, 5]
    assert runs["a"].first_stop.number == runs["b"].first_stop.number == 4


def test_a_result_that_the_log_does_not_have_is_not_an_empty_one():
    unknown, empty, failed = seen([call(result=None), call(result=""), call(error="Timeout")])
    assert (unknown.outcome, empty.outcome) == (None, "")
    assert (failed.outcome, failed.failed) == ("Timeout", True)


def test_what_was_spent_is_none_where_the_log_does_not_say():
    told, untold = seen([call(tokens=0, usd=0.5), call()])
    assert (told.tokens, told.usd) == (0, 0.5)
    assert (untold.tokens, untold.usd) == (None, None)


def test_a_policy_that_only_watches_is_taken_as_it_is():
    policy = Policy.load("observe")
    assert observing(policy) is policy


@pytest.mark.parametrize("name", ["balanced", "least_privilege", "coding_agent"])
def test_any_policy_can_only_watch(name):
    policy = Policy.load(name)
    assert {**observing(policy).document, "mode": "enforce"} == {"mode": "enforce", **policy.document}


def test_names_of_tools_are_fit_to_be_shown():
    step = seen([call(tool="\x1b[31mred\u202e")] * 6)[-1]
    assert step.tool == "\\x1b[31mred\\u202e"
    assert "\x1b" not in step.verdict.feedback + step.decision.feedback


def test_a_long_text_is_cut_and_says_so():
    assert visible("x" * 1_000_000, 10) == "xxxxxxxxx…"
    assert outcome("é" * 1_000_000, 10) == ("ééééééééé…", 2_000_000)
    assert arguments({"text": "x" * 1_000_000}, 12) == 'text="xxxxx…'


def test_a_text_that_is_only_white_space_at_first_is_not_taken_for_empty():
    assert visible(" " * 10_000 + "x", 10) == "…"


@pytest.mark.parametrize(
    "text",
    [
        '{"password": "hunter2"}',
        '{"user": {"api_key": "hunter2"}}',
        "curl -H 'Authorization: Bearer hunter2-hunter2'",
        "export AWS_SECRET_ACCESS_KEY=hunter2",
        "https://example.org/?access_token=hunter2&page=1",
        "ghp_hunter2hunter2hunter2hunter2hunter2",
    ],
)
def test_what_is_called_a_secret_or_looks_like_one_is_left_out(text):
    for shown in (visible(text), arguments(text), arguments({"body": text}), outcome(text)[0]):
        assert "hunter2" not in shown
        assert "[hidden]" in shown


def test_what_only_counts_tokens_is_no_secret():
    assert visible('{"total_tokens": "12"} max_tokens=5') == '{"total_tokens": "12"} max_tokens=5'

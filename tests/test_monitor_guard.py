"""Guard and monitor share the session: what one counts, the other sees."""

from __future__ import annotations

import pytest

from microloop import Action, Guardrail, InterventionAction, Policy, PolicyError, SessionError, Status

WHEN = {"id": "think-first", "when": "stalled", "deny": {}}


def guarded(*rules, **more):
    return Guardrail(
        {"version": 1, "extends": "balanced", "tools": [{"match": "write_*", "rules": list(rules)}], **more}
    )


def get_stuck(guard):
    for _ in range(5):
        verdict = guard.check("read", {"path": "a"})
        if verdict.allowed:
            guard.record(verdict, "the same text")


def read(guard, path):
    guard.record(guard.check("read", {"path": path}), f"the text of {path}")


def test_the_guard_shows_where_its_current_session_stands():
    guard = Guardrail()
    with guard.session("one") as one:
        get_stuck(guard)
        assert guard.monitor.status is one.monitor.status is Status.STALLED
        assert guard.monitor.latest.reasons == ("loop.repeat",)
    with guard.session("two"):
        assert guard.monitor.status is Status.HEALTHY


def test_the_monitor_of_a_closed_session_says_so():
    session = Guardrail().session("one")
    session.close()
    with pytest.raises(SessionError, match="closed"):
        _ = session.monitor


def test_a_guarded_run_is_asked_to_replan_as_its_policy_says():
    guard = Guardrail(Policy(stalled=InterventionAction.Replan))
    get_stuck(guard)
    assert guard.monitor.latest.should_intervene
    assert guard.monitor.latest.recovery_context.startswith("This run is stalled: ")


def test_what_the_host_knows_of_a_guarded_step_counts():
    guard = Guardrail()
    for failures in (2, 4, 4):
        measures = {"metrics": {"failures": failures}, "metadata": {"verifier": "unit"}}
        guard.record(guard.check("test", {"n": failures}), f"run {failures}", measures=measures)
    assert guard.monitor.status is Status.REGRESSING


def test_a_rule_holds_only_while_the_run_is_stalled():
    guard = guarded({**WHEN, "message": "Look first."})
    assert guard.check("write_file", {"path": "a"}).allowed
    get_stuck(guard)
    refused = guard.check("write_file", {"path": "b"})
    assert (refused.action, refused.rule, refused.reason) == (Action.BLOCK, "think-first", "rule.deny")
    assert "Look first." in refused.feedback
    for path in "xyz":
        read(guard, path)
    assert guard.check("write_file", {"path": "b"}).allowed


def test_the_very_same_call_is_judged_anew_when_the_run_stands_otherwise():
    guard = guarded(WHEN)
    guard.record(guard.check("write_file", {"path": "a"}), "written")
    get_stuck(guard)
    assert guard.check("write_file", {"path": "a"}).rule == "think-first"


def test_a_rule_may_ask_in_several_states():
    guard = guarded({"id": "sure", "when": ["warning", "stalled", "regressing"], "ask": {}})
    get_stuck(guard)
    assert guard.check("write_file", {"path": "b"}).action is Action.ASK


def test_conditions_hold_beside_when():
    guard = guarded({**WHEN, "path": "path", "deny": {"regex": "^/etc"}})
    get_stuck(guard)
    assert guard.check("write_file", {"path": "/etc/x"}).rule == "think-first"
    assert guard.check("write_file", {"path": "/home/x"}).allowed


def test_a_person_who_speaks_lifts_the_rule():
    guard = guarded(WHEN)
    get_stuck(guard)
    guard.here().user_turn()
    assert guard.check("write_file", {"path": "b"}).allowed


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"id": "r", "deny": {}}, "conditions such as"),
        ({"id": "r", "ask": {}}, "conditions such as"),
        ({"id": "r", "when": "stalled", "require": {}}, "conditions such as"),
        ({"id": "r", "when": "healthy", "deny": {}}, "warning, stalled or regressing, or a list of them"),
        ({"id": "r", "when": [], "deny": {}}, "warning, stalled or regressing, or a list of them"),
        ({"id": "r", "when": "stalled", "path": "p", "deny": {"regex": "a(?=b)"}}, "cannot stand beside `when`"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(rule, message):
    with pytest.raises(PolicyError, match=message):
        guarded(rule)

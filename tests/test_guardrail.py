"""`Guardrail`: check and record by hand, consent, faults, what is covered, what it costs to import."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import pickle
import subprocess
import sys
from collections.abc import Mapping

import pytest

import microloop
from microloop import (
    Action,
    BlockedCall,
    Guardrail,
    MicroloopError,
    NativeError,
    Policy,
    PolicyError,
    Refused,
    RunHalted,
    SessionError,
    Verdict,
)

# Its own limits, so that tuning the named policies changes nothing here.
STRICT = {
    "version": 1,
    "loops": {"repeat": {"warn": 2, "block": 3, "halt": 5}, "error": {"warn": 3, "block": 8}, "text": {"warn": 3}},
}
NO_DROP = {"id": "no-drop", "path": "sql", "deny": {"regex": "(?i)drop"}, "message": "Tables stay."}
ASK_DELETE = {"id": "ask-delete", "path": "sql", "ask": {"regex": "(?i)delete"}}
LOOK_AHEAD = {"id": "no-secret", "path": "sql", "deny": {"regex": "secret(?!_public)"}}


def policy(*rules, **entry):
    return {"version": 1, "extends": "balanced", "tools": [{"match": "query*", "rules": list(rules), **entry}]}


def test_a_call_is_checked_recorded_and_in_the_end_refused():
    guard = Guardrail()
    actions = []
    for _ in range(5):
        verdict = guard.check("search", {"q": "cats"})
        actions.append(str(verdict.action))
        if verdict.allowed:
            guard.record(verdict, "nothing found")
    assert actions == ["allow", "allow", "warn", "warn", "block"]
    assert verdict.reason == "loop.repeat"
    assert verdict.evidence == (1, 2, 3, 4)
    assert (verdict.seen, verdict.limit) == (5, 5)
    assert "search" in verdict.feedback
    assert "cats" not in verdict.feedback


def test_errors_are_told_apart_from_results():
    guard = Guardrail()
    for _ in range(3):
        guard.record(guard.check("fetch", {"id": _}), error=TimeoutError("no answer"))
    assert guard.check("fetch", {"id": 99}).reason == "loop.error"


def test_an_error_may_be_given_as_text():
    guard = Guardrail()
    for number in range(3):
        guard.record(guard.check("fetch", {"id": number}), error="TimeoutError: no answer")
    assert guard.check("fetch", {"id": 99}).reason == "loop.error"


@pytest.mark.parametrize(
    "source",
    [
        "strict_loop_detection",
        {"version": 1, "extends": "strict_loop_detection"},
        Policy.load("strict_loop_detection"),
        Policy(extends="strict_loop_detection"),
    ],
    ids=["name", "mapping", "policy", "made"],
)
def test_a_policy_may_be_given_in_any_form(source):
    guard = Guardrail(source)
    assert guard.policy.document["loops"] == Policy.load("strict_loop_detection").document["loops"]
    assert guard.check("search", {"q": "cats"}).allowed


def test_a_policy_may_be_given_as_a_path(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("version: 1\nextends: balanced\nbudgets: {calls: 1}\n", encoding="utf-8")
    for source in (path, str(path)):
        guard = Guardrail(source)
        guard.record(guard.check("search", {}), "x")
        assert guard.check("search", {"q": 1}).reason == "budget.calls"


def test_a_policy_that_does_not_exist_is_an_error_that_says_so():
    with pytest.raises(PolicyError, match="balanced"):
        Guardrail("balancd")


def test_a_wrong_on_block_is_an_error():
    with pytest.raises(ValueError, match="on_block"):
        Guardrail(on_block="explode")


def test_arguments_as_the_model_wrote_them_are_judged_by_the_core():
    assert Guardrail().check("search", '{"q": "cats"}').allowed
    for wrong in ('{"q": "ca', b"\xff", "", "\ud800"):
        assert Guardrail().check("search", wrong).reason == "args.malformed"


def test_the_same_call_is_the_same_however_it_is_written():
    guard = Guardrail()
    for arguments in ({"b": 1, "a": 2}, '{"a": 2.0, "b": 1}', b'{ "b":1, "a":2 }'):
        verdict = guard.check("search", arguments)
        guard.record(verdict, "nothing found")
    assert verdict.reason == "loop.repeat"


def test_one_call_id_is_one_call():
    guard = Guardrail()
    first = guard.check("search", {"q": "cats"}, call_id="call-1")
    again = guard.check("search", {"q": "cats"}, call_id="call-1")
    assert again.step == first.step


def test_an_identical_call_in_a_batch_is_a_duplicate_of_the_first():
    guard = Guardrail()
    first = guard.check("search", {"q": "cats"}, call_id="a", batch="turn-1")
    second = guard.check("search", {"q": "cats"}, call_id="b", batch="turn-1")
    assert second.reason == "call.duplicate"
    assert second.evidence == (first.step,)


def test_a_declared_schema_is_enforced_and_the_first_failure_shows_the_shape():
    guard = Guardrail()
    guard.tool("search", {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]})
    verdict = guard.check("search", {"q": 5})
    assert (verdict.action, verdict.reason) == (Action.BLOCK, "args.schema")
    assert "string" in verdict.feedback
    assert guard.check("search", {"q": "cats"}).allowed


def test_a_schema_that_does_not_compile_is_an_error_when_it_is_declared():
    with pytest.raises(PolicyError):
        Guardrail().tool("search", {"type": "nonsense"})


def test_a_tool_without_a_name_is_an_error_when_it_is_declared_and_refused_when_it_is_called():
    guard = Guardrail()
    with pytest.raises(NativeError):
        guard.tool("")
    assert guard.check("", {}).action is Action.BLOCK


def test_rules_deny_with_their_own_message():
    verdict = Guardrail(policy(NO_DROP)).check("query_db", {"sql": "DROP TABLE t"})
    assert (verdict.action, verdict.reason, verdict.rule) == (Action.BLOCK, "rule.deny", "no-drop")
    assert "Tables stay." in verdict.feedback


def test_roles_decide_who_may_call_what():
    roles = {"default": "reader", "grants": {"reader": {"allow": ["read_*"]}, "writer": {"allow": ["*"]}}}
    guard = Guardrail({"version": 1, "extends": "balanced", "roles": roles})
    assert guard.check("write_file", {}).reason == "role.denied"
    with guard.session(role="writer"):
        assert guard.check("write_file", {}).allowed
    assert (
        Guardrail({"version": 1, "extends": "balanced", "roles": roles}, role="writer").check("write_file", {}).allowed
    )


def test_observe_mode_says_what_would_have_happened():
    guard = Guardrail("observe")
    for _ in range(4):
        guard.record(guard.check("search", {"q": "cats"}), "nothing found")
    verdict = guard.check("search", {"q": "cats"})
    assert verdict.allowed
    assert (verdict.action, verdict.would) == (Action.ALLOW, Action.BLOCK)


# A verdict belongs to a session


def test_a_verdict_is_recorded_once():
    guard = Guardrail()
    verdict = guard.check("search", {})
    guard.record(verdict, "x")
    with pytest.raises(SessionError, match="recorded"):
        guard.record(verdict, "x")


def test_a_refused_call_has_no_outcome():
    guard = Guardrail(policy(NO_DROP))
    verdict = guard.check("query", {"sql": "drop"})
    with pytest.raises(SessionError, match="refused"):
        guard.record(verdict, "x")


def test_a_verdict_of_another_guard_is_not_taken():
    verdict = Guardrail().check("search", {})
    with pytest.raises(SessionError, match="another guard"):
        Guardrail().record(verdict, "x")


def test_a_verdict_that_nobody_gave_is_not_taken():
    with pytest.raises(SessionError, match="no check"):
        Guardrail().record(Verdict(tool="search", step=1), "x")


def test_a_verdict_finds_its_session_wherever_it_is_recorded():
    guard = Guardrail()
    with guard.session("a") as session:
        verdict = guard.check("search", {})
    with guard.session("b"):
        guard.record(verdict, "x")
    assert session.state()["calls"] == 1


def test_a_cancelled_call_never_happened():
    guard = Guardrail()
    for _ in range(10):
        guard.cancel(guard.check("search", {"q": "cats"}))
    assert guard.check("search", {"q": "cats"}).action is Action.ALLOW


def test_a_verdict_can_be_copied_pickled_and_logged():
    verdict = Guardrail(policy(NO_DROP)).check("query", {"sql": "drop"})
    there = pickle.loads(pickle.dumps(verdict))
    assert there.as_dict() == verdict.as_dict()
    assert there.session is None
    assert json.loads(json.dumps(verdict.as_dict()))["action"] == "block"
    assert copy.copy(verdict).as_dict() == verdict.as_dict()
    assert "no-drop" in repr(verdict)


def test_a_verdict_does_not_change():
    with pytest.raises(AttributeError):
        Guardrail().check("search", {}).action = Action.BLOCK


def test_refusals_can_be_pickled_with_their_verdict():
    verdict = Guardrail(policy(NO_DROP)).check("query", {"sql": "drop"})
    for kind in (BlockedCall, RunHalted):
        there = pickle.loads(pickle.dumps(kind(verdict)))
        assert isinstance(there, kind)
        assert there.verdict.rule == "no-drop"
        assert str(there) == verdict.feedback


def test_every_exception_has_one_root():
    for kind in (PolicyError, NativeError, SessionError, Refused, microloop.AdapterError):
        assert issubclass(kind, MicroloopError)
    assert issubclass(BlockedCall, Refused)
    assert issubclass(RunHalted, Refused)


# Consent


def test_a_call_that_needs_consent_is_refused_where_nobody_can_be_asked():
    guard = Guardrail(policy(ASK_DELETE))
    verdict = guard.check("query", {"sql": "delete from t"})
    assert verdict.action is Action.ASK
    assert not verdict.allowed
    assert not guard.permits(verdict)
    with pytest.raises(SessionError):
        guard.record(verdict, "x")


@pytest.mark.parametrize("answer", [True, False])
def test_whoever_is_asked_decides(answer):
    asked = []

    def ask(verdict):
        asked.append(verdict.rule)
        return answer

    guard = Guardrail(policy(ASK_DELETE), ask=ask)
    verdict = guard.check("query", {"sql": "delete from t"})
    assert guard.permits(verdict) is answer
    assert asked == ["ask-delete"]


def test_nobody_is_asked_about_a_call_that_runs_or_is_refused_anyway():
    guard = Guardrail(policy(NO_DROP), ask=lambda verdict: pytest.fail(str(verdict)))
    assert guard.permits(guard.check("query", {"sql": "select"}))
    assert not guard.permits(guard.check("query", {"sql": "drop"}))


def test_a_decider_that_is_a_coroutine_function_is_awaited():
    async def ask(verdict):
        return verdict.tool == "query"

    async def main():
        guard = Guardrail(policy(ASK_DELETE), ask=ask)
        return await guard.apermits(guard.check("query", {"sql": "delete from t"}))

    assert asyncio.run(main()) is True


def test_a_decider_that_cannot_be_awaited_agrees_to_nothing(caplog):
    async def ask(verdict):
        return True

    guard = Guardrail(policy(ASK_DELETE), ask=ask)
    assert not guard.permits(guard.check("query", {"sql": "delete from t"}))
    assert "coroutine" in caplog.text


def test_what_a_decider_raises_is_the_hosts_and_the_call_does_not_run():
    def ask(verdict):
        raise ConnectionError("nobody there")

    guard = Guardrail(policy(ASK_DELETE), ask=ask)
    verdict = guard.check("query", {"sql": "delete from t"})
    with pytest.raises(ConnectionError):
        guard.permits(verdict)
    with pytest.raises(SessionError):
        guard.record(verdict, "x")


# Rules that the core cannot express


def test_a_pattern_with_look_ahead_is_checked_after_the_core():
    guard = Guardrail(policy(LOOK_AHEAD))
    assert guard.check("query", {"sql": "select secret_public"}).allowed
    verdict = guard.check("query", {"sql": "select secret"})
    assert (verdict.action, verdict.reason, verdict.rule) == (Action.BLOCK, "rule.deny", "no-secret")
    assert guard.last_verdict is verdict
    with pytest.raises(SessionError):
        guard.record(verdict, "it did not run")


def test_no_two_refusals_by_such_a_pattern_read_the_same():
    guard = Guardrail(policy(LOOK_AHEAD))
    first, second = (guard.check("query", {"sql": "select secret"}).feedback for _ in range(2))
    assert first != second


def test_such_a_pattern_can_ask():
    guard = Guardrail(policy({"id": "ask-secret", "path": "sql", "ask": {"regex": "secret(?!_public)"}}))
    assert guard.check("query", {"sql": "secret"}).action is Action.ASK


def test_such_a_pattern_can_require():
    guard = Guardrail(policy({"id": "where", "path": "sql", "require": {"regex": "^(?!.*;).*where"}}))
    assert guard.check("query", {"sql": "select 1 where true"}).allowed
    assert guard.check("query", {"sql": "select 1 where true; select 2"}).reason == "rule.require"
    assert guard.check("query", {}).reason == "rule.require"


def test_a_pattern_that_takes_too_long_has_not_cleared_the_call():
    guard = Guardrail(policy({"id": "slow", "path": "sql", "deny": {"regex": "^((?=a)a|aa|aaa)+$"}}))
    verdict = guard.check("query", {"sql": "a" * 60 + "c"})
    assert (verdict.action, verdict.rule) == (Action.BLOCK, "slow")
    assert "timeout" in verdict.feedback


def test_observe_mode_withholds_such_a_refusal_too():
    guard = Guardrail({**policy(LOOK_AHEAD), "mode": "observe"})
    verdict = guard.check("query", {"sql": "secret"})
    assert (verdict.action, verdict.would) == (Action.ALLOW, Action.BLOCK)
    guard.record(verdict, "x")


# Faults of our own


class Unreadable(Mapping):
    def __getitem__(self, key):
        raise RuntimeError("no argument can be read")

    def __iter__(self):
        raise RuntimeError("no argument can be read")

    def __len__(self):
        return 1


def test_a_fault_blocks_and_is_reported(caplog):
    guard = Guardrail()
    verdict = guard.check("one more", Unreadable())
    assert (verdict.action, verdict.reason) == (Action.BLOCK, "guard.fault")
    assert verdict.feedback
    assert "one more" in caplog.text
    assert caplog.records[-1].exc_info is not None


def test_a_fault_lets_the_call_run_where_the_policy_says_so_and_is_reported(caplog):
    guard = Guardrail({"version": 1, "extends": "balanced", "on_error": "allow"})
    verdict = guard.check("one more", Unreadable())
    assert (verdict.action, verdict.reason) == (Action.ALLOW, "guard.fault")
    assert "one more" in caplog.text
    guard.record(verdict, "there is no step to record, and that is no error")
    guard.cancel(verdict)


def test_a_tool_may_have_an_on_error_of_its_own():
    guard = Guardrail(policy(LOOK_AHEAD, on_error="allow"))
    assert guard.tool("query_more").on_error == "allow"
    assert guard.tool("another").on_error == "block"


# Cover and wrap


def test_coverage_lists_every_guarded_tool():
    guard = Guardrail()

    @guard.verify
    def search(q: str) -> str:
        return q

    guard.covers("fetch", "middleware")
    assert [(each.tool, each.hook) for each in guard.coverage()] == [("search", "verify"), ("fetch", "middleware")]
    assert guard.coverage()[0].where.endswith("search")


def test_wrap_takes_one_or_many_and_refuses_what_would_run_unguarded():
    guard = Guardrail(STRICT, on_block="raise")
    wrapped = guard.wrap([lambda q: q, max])
    assert wrapped[0]("cats") == "cats"
    assert wrapped[1](1, 2) == 2
    assert guard.wrap(len)("four") == 4
    with pytest.raises(TypeError, match="int"):
        guard.wrap(5)


# Import


def test_importing_the_package_imports_no_framework_and_nothing_heavy():
    heavy = [
        "yaml",
        "jsonschema",
        "regex",
        "click",
        "asyncio",
        "logging",
        "langchain_core",
        "pydantic",
        "_cffi_backend",
    ]
    code = f"import sys, microloop; print([name for name in {heavy!r} if name in sys.modules])"
    assert _run(code) == "[]"


def test_importing_the_guard_imports_no_framework_and_nothing_of_the_policy_tools():
    heavy = ["yaml", "jsonschema", "regex", "click", "asyncio", "logging", "langchain_core", "pydantic"]
    code = f"import sys; from microloop import Guardrail; print([name for name in {heavy!r} if name in sys.modules])"
    assert _run(code) == "[]"


def test_every_public_name_is_there():
    for name in microloop.__all__:
        assert getattr(microloop, name) is not None
        assert name in dir(microloop)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = microloop.nonsense


def test_a_guard_works_in_a_process_that_was_forked():
    code = """
import os
from microloop import Guardrail
guard = Guardrail()
for _ in range(4):
    guard.record(guard.check("search", {"q": 1}), "nothing")
child = os.fork()
if child == 0:
    os._exit(0 if guard.check("search", {"q": 1}).reason == "loop.repeat" else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), guard.check("search", {"q": 1}).action)
"""
    assert _run(code) == "0 block"


def _run(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_verdicts_go_to_the_log_where_no_model_reads_them(caplog):
    guard = Guardrail()

    @guard.verify
    def search(q):
        return "nothing found"

    with caplog.at_level(logging.WARNING, logger="microloop"):
        for _ in range(3):
            assert search("cats") == "nothing found"
    assert guard.last_verdict.action is Action.WARN
    assert guard.last_verdict.feedback in caplog.text


@pytest.mark.parametrize("policy", ["balanced", "observe"])
def test_a_call_without_a_tool_name_never_runs(policy):
    verdict = Guardrail(policy).check("", {"q": "cats"})
    assert (verdict.action, verdict.reason, verdict.rule) == (Action.BLOCK, "args.malformed", "tool.name")
    assert "name" in verdict.feedback

"""Tools that an adapter cannot declare, and names that nobody declared."""

from __future__ import annotations

import pytest

from microloop import Action, Guardrail, NativeError, PolicyError, SessionError

LOOK_AHEAD = {"id": "no-secret", "path": "sql", "deny": {"regex": "secret(?!_public)"}}
QUERIES = {
    "version": 1,
    "extends": "balanced",
    "tools": [{"match": "query*", "rules": [LOOK_AHEAD], "on_error": "allow"}],
}

# Tools that cannot be declared


LOOKING = {"type": "object", "properties": {"q": {"type": "string", "pattern": "^(?!secret)."}}}


def spoilt(document):
    """A guard with one tool that an adapter could not declare."""
    guard = Guardrail(document)
    with pytest.raises(PolicyError, match="look-around") as found:
        guard.tool("search", LOOKING)
    guard.undeclarable("search", found.value)
    guard.tool("fetch", {"type": "object", "required": ["url"]})
    return guard


def test_a_schema_that_cannot_be_used_is_an_error_at_once_for_whoever_declares_it():
    guard = Guardrail()
    with pytest.raises(PolicyError, match="look-around"):
        guard.tool("search", LOOKING)
    with pytest.raises(PolicyError, match="the JSON Schema of search cannot be used"):

        @guard.verify(schema=LOOKING)
        def search(q): ...


def test_a_tool_that_cannot_be_declared_is_refused_with_the_fault_and_the_others_work(caplog):
    guard = spoilt("balanced")
    verdict = guard.check("search", {"q": "cats"})
    assert (verdict.action, verdict.reason, verdict.rule) == (Action.BLOCK, "guard.fault", "on_error")
    assert "its arguments cannot be used" in verdict.feedback
    assert "look-around" in verdict.feedback
    assert guard.check("fetch", {"url": "x"}).allowed
    assert guard.check("fetch", {}).reason == "args.schema"
    assert "the schema of search cannot be used (on_error: block)" in caplog.text


def test_two_such_refusals_read_differently_and_no_step_stays_open():
    guard = spoilt("balanced")
    verdicts = [guard.check("search", {"q": "cats"}) for _ in range(7)]
    assert len({each.feedback for each in verdicts}) == 7
    assert {each.reason for each in verdicts} == {"guard.fault"}
    with pytest.raises(SessionError):
        guard.record(verdicts[0], "nothing")


def test_a_model_that_gets_nothing_but_such_refusals_is_halted():
    guard = spoilt("balanced")
    *refused, halt = [guard.check("search", {"q": str(n)}) for n in range(12)]
    assert {each.action for each in refused} == {Action.BLOCK}
    assert (halt.action, halt.reason, halt.tool) == (Action.HALT, "loop.refused", "search")
    state = guard.here().state()
    assert (state["refusals"], state["calls"]) == (12, 0)
    assert guard.check("fetch", {"url": "x"}).action is Action.HALT


def test_such_refusals_do_not_wipe_out_others():
    guard = spoilt("balanced")
    verdicts = [guard.check(name, {}).action for name in ("fetch", "search") * 6]
    assert verdicts == [Action.BLOCK] * 11 + [Action.HALT]


def test_a_schema_of_that_name_that_can_be_used_goes_on_holding(caplog):
    guard = Guardrail({"version": 1, "on_error": "allow"})
    guard.tool("search", {"type": "object", "required": ["q"]})
    guard.undeclarable("search", PolicyError("look-around"))
    assert guard.check("search", {}).reason == "args.schema"
    assert guard.check("search", {"q": "cats"}).allowed
    assert "the schema of search cannot be used" in caplog.text


def test_a_tool_without_a_schema_says_nothing_for_another_of_its_name():
    guard = Guardrail()
    guard.tool("search")
    guard.undeclarable("search", PolicyError("look-around"))
    assert guard.check("search", {}).reason == "guard.fault"


def test_what_is_wrong_with_a_schema_of_others_is_told_in_short():
    guard = Guardrail()
    guard.undeclarable("search", PolicyError("no type is called " + "x" * 100_000))
    assert len(guard.check("search", {}).feedback) < 600


def test_two_bad_schemas_of_one_name_in_turn_are_told_once_each(caplog):
    guard = Guardrail()
    for n in range(6):
        guard.undeclarable("search", PolicyError(f"fault {n % 2}"))
    assert len(caplog.records) == 2


def test_a_name_that_is_no_text_is_counted_like_any_other():
    guard = Guardrail({"version": 1, "loops": {"repeat": {"block": 2}}})
    verdict = guard.check("\ud800", {})
    guard.record(verdict, "nothing")
    assert guard.check("\ud800", {}).reason == "loop.repeat"


def test_the_name_of_a_tool_with_a_bad_schema_is_shown_as_the_core_shows_names():
    guard = Guardrail()
    name = "line\nline" + "x" * 1000
    guard.undeclarable(name, PolicyError("two\nlines"))
    feedback = guard.check(name, {}).feedback
    assert "\n" not in feedback
    assert len(feedback) < 300


def test_made_up_names_of_any_length_are_refused_and_not_all_kept():
    guard = Guardrail({"version": 1})
    for n in range(20):
        verdict = guard.check(str(n % 10) * 100_000, {})
        assert (verdict.action, verdict.reason, verdict.rule) == (Action.BLOCK, "args.malformed", "tool.name")
        assert "has 100000 bytes" in verdict.feedback
    assert len(guard.here().save()) < 200_000


def test_such_a_tool_runs_without_its_schema_where_the_policy_lets_faults_pass_and_this_is_said_once(caplog):
    guard = spoilt({"version": 1, "extends": "strict_loop_detection", "on_error": "allow"})
    guard.undeclarable("search", PolicyError("the same again"))
    guard.undeclarable("search", PolicyError("the same again"))
    assert len(caplog.records) == 2
    said = []
    for _ in range(3):
        said.append(guard.check("search", {"q": "secret"}))
        if said[-1].allowed:
            guard.record(said[-1], "nothing")
    assert [each.reason for each in said] == ["none", "none", "loop.repeat"]


def test_a_halted_run_and_a_role_go_before_such_a_refusal():
    roles = {"default": "reader", "otherwise": "allow", "grants": {"reader": {"deny": "search"}}}
    assert spoilt({"version": 1, "roles": roles}).check("search", {}).reason == "role.denied"
    halted = spoilt({"version": 1, "budgets": {"tokens": 10}})
    halted.here().spend(tokens=10)
    assert halted.check("search", {}).action is Action.HALT


def test_in_observe_mode_a_fault_still_follows_on_error():
    guard = spoilt({"version": 1, "mode": "observe"})
    assert guard.check("search", {}).action is Action.BLOCK
    assert spoilt({"version": 1, "mode": "observe", "on_error": "allow"}).check("search", {}).allowed


def test_a_tool_that_can_be_declared_later_is_held_to_that_schema():
    guard = spoilt("balanced")
    guard.tool("search", {"type": "object", "required": ["q"]})
    assert guard.check("search", {"q": "cats"}).allowed
    assert guard.check("search", {}).reason == "args.schema"


# Tools that nobody declared


def test_made_up_names_take_no_place_from_tools_that_are_declared():
    guard = Guardrail("strict_loop_detection")
    for number in range(5000):
        verdict = guard.check(f"made up {number}", {})
        guard.record(verdict, f"there is no tool {number}")
    for number in range(4096):
        guard.tool(f"tool {number}")
    with pytest.raises(NativeError, match="4096 tools"):
        guard.tool("one more")
    assert guard.check("tool 4095", {}).allowed


def test_a_made_up_name_that_comes_again_and_again_is_a_loop_however_many_came_before():
    for before in (0, 300):
        guard = Guardrail("strict_loop_detection")
        for number in range(before):
            guard.record(guard.check(f"made up {number}", {}), f"there is no tool {number}")
        said = []
        for _ in range(3):
            said.append(guard.check("made up", {"q": "cats"}))
            if said[-1].allowed:
                guard.record(said[-1], "there is no such tool")
        assert [each.reason for each in said] == ["none", "none", "loop.repeat"]
        assert said[-1].tool == "made up"


def test_two_made_up_names_with_the_same_arguments_are_two_calls():
    guard = Guardrail("strict_loop_detection")
    for number in range(300):
        guard.record(guard.check(f"made up {number}", {}), f"there is no tool {number}")
    steps = [guard.check(name, {}, call_id="call_0", batch="turn").step for name in ("one", "another", "one")]
    assert steps == [301, 302, 301]


def test_what_the_policy_says_of_a_made_up_name_holds_however_many_came_before():
    guard = Guardrail(QUERIES)
    for number in range(1100):
        guard.record(guard.check(f"made up {number}", {}), f"there is no tool {number}")
    verdict = guard.check("query_anything", {"sql": "secret"})
    assert (verdict.reason, verdict.rule) == ("rule.deny", "no-secret")
    assert guard.check("another", {"sql": "secret"}).allowed


def test_a_tool_that_is_declared_after_its_first_call_is_held_to_its_schema():
    guard = Guardrail()
    assert guard.check("search", {}).allowed
    guard.tool("search", {"type": "object", "required": ["q"]})
    assert guard.check("search", {}).reason == "args.schema"

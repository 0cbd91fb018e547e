"""Rules whose patterns look around: found at load, kept out of the core, and as exact as the core's own."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microloop import Guardrail, Policy, PolicyError, _native
from microloop._policy.argument_path import parse_path
from microloop._policy.slow_rule import SlowRule, same_json

WHERE = r"(?is)^delete(?!.*where)"


def policy(*entries) -> Policy:
    return Policy.load({"version": 1, "tools": list(entries)})


def entry(match, kind="deny", pattern="x", rule_id="r", **more):
    return {"match": match, "rules": [{"id": rule_id, "path": "sql", kind: {"regex": pattern}, **more}]}


def rules_of_the_core(loaded: Policy) -> list:
    return [rule for each in json.loads(loaded.native_json)["tools"] for rule in each.get("rules", [])]


def test_only_patterns_that_look_around_or_back_are_taken_out():
    loaded = policy(
        entry("a", pattern="drop"), entry("b", pattern=WHERE, rule_id="s"), entry("c", pattern=r"(a)\1", rule_id="t")
    )
    assert [rule["id"] for rule in rules_of_the_core(loaded)] == ["r"]
    assert [(rule.id, rule.pattern) for rule in loaded.slow_rules] == [("s", WHERE), ("t", r"(a)\1")]
    assert loaded.document["tools"][1]["rules"][0]["deny"] == {"regex": WHERE}


def test_the_guard_runs_them():
    guard = Guardrail(policy(entry("sql", pattern=WHERE, message="Say which.")))
    verdict = guard.check("sql", {"sql": "DELETE FROM users"})
    assert (verdict.action, verdict.reason, verdict.rule) == ("block", "rule.deny", "r")
    assert "Say which." in verdict.feedback
    assert guard.check("sql", {"sql": "DELETE FROM users WHERE id = 1"}).allowed


def test_a_later_fast_rule_of_the_same_id_takes_the_place_of_a_slow_one():
    loaded = policy(entry("sql*", pattern=WHERE), entry("sql_admin", pattern="never-matches"))
    assert [loaded.slow_rules[0].applies_to(name) for name in ("sql", "SQL_x", "sql_admin", "other")] == [
        True,
        True,
        False,
        False,
    ]
    guard = Guardrail(loaded)
    assert not guard.check("sql", {"sql": "delete from a"}).allowed
    assert guard.check("sql_admin", {"sql": "delete from a"}).allowed


def test_a_later_slow_rule_of_the_same_id_takes_the_place_of_a_fast_one():
    guard = Guardrail(policy(entry("sql*", pattern="(?i)delete"), entry("sql_admin", pattern=WHERE)))
    assert not guard.check("sql", {"sql": "delete from a where b"}).allowed
    assert guard.check("sql_admin", {"sql": "delete from a where b"}).allowed
    assert not guard.check("sql_admin", {"sql": "delete from a"}).allowed


def test_all_conditions_of_a_mixed_rule_are_kept_together():
    rule = {"id": "r", "path": "n[*].v", "ask": {"regex": "a(?=b)", "max_length": 2, "one_of": ["ab", "abc"]}}
    loaded = policy({"match": "x", "rules": [rule]})
    assert rules_of_the_core(loaded) == []
    fires = loaded.slow_rules[0].fires
    assert fires({"n": [{"v": "zz"}, {"v": "ab"}]})
    assert not fires({"n": [{"v": "abc"}, {"v": 1}, {}]})
    assert not fires({"n": []})


def test_a_pattern_that_takes_too_long_ends_in_time():
    rule = SlowRule(("x",), "r", "deny", "a", r"(a+)+(?=b)c", {"regex": r"(a+)+(?=b)c"})
    with pytest.raises(TimeoutError):
        rule.fires({"a": "a" * 5000})


@pytest.mark.parametrize("pattern", ["(?<=a", "(?P<x>a)(?P=y)", "[", "*(?=a)"])
def test_what_is_no_pattern_anywhere_is_an_error(pattern):
    with pytest.raises(PolicyError, match="rule r: not a regular expression"):
        policy(entry("x", pattern=pattern))


PATHS = ["a", "a.b", "a[0]", "a[*]", "a[*].b", "b", "[0]", "a[*][*]"]
LEAVES = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([1.0, 0.5]) | st.text("abc", max_size=4)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=8,
)
CONDITIONS = st.fixed_dictionaries(
    {},
    optional={
        "equals": LEAVES,
        "one_of": st.lists(LEAVES, min_size=1, max_size=3),
        "range": st.sampled_from([{"min": 0}, {"max": 1}, {"min": -1, "max": 1.0}]),
        "max_length": st.integers(0, 3),
    },
)


@given(
    st.sampled_from(["deny", "require", "ask"]),
    st.sampled_from(PATHS),
    CONDITIONS,
    st.dictionaries(st.sampled_from("ab"), VALUES, max_size=2),
)
def test_a_slow_rule_fires_exactly_when_the_same_rule_fires_in_the_core(kind, path, conditions, arguments):
    rule = {"id": "r", "path": path, kind: {**conditions, "regex": "ab?"}}
    guard = Guardrail(policy({"match": "x", "rules": [rule]}))
    slow = SlowRule(("x",), "r", kind, path, "ab?", rule[kind])
    assert slow.fires(arguments) == (guard.check("x", arguments).reason == f"rule.{kind}")


@given(VALUES, VALUES)
def test_json_values_are_the_same_as_in_the_core(left, right):
    guard = Guardrail(policy({"match": "x", "rules": [{"id": "r", "path": "v", "deny": {"equals": left}}]}))
    assert same_json(left, right) == (not guard.check("x", {"v": right}).allowed)


@given(st.text("ab.[]*01", min_size=1, max_size=8))
def test_paths_are_read_as_in_the_core(path):
    from microloop import _native

    document = {"version": 1, "tools": [{"match": "x", "rules": [{"id": "r", "path": path, "deny": {"equals": 1}}]}]}
    try:
        parse_path(path)
    except ValueError:
        with pytest.raises(PolicyError):
            _native.new_policy(json.dumps(document).encode())
    else:
        _native.lib.microloop_policy_free(_native.new_policy(json.dumps(document).encode()))


def test_a_model_that_gets_nothing_but_refusals_by_them_is_halted():
    document = {"version": 1, "loops": {"refused": {"halt": 3}}, "tools": [entry("sql", pattern=WHERE)]}
    guard = Guardrail(document)
    verdicts = [guard.check("sql", {"sql": f"delete from table_{n}"}) for n in range(4)]
    assert [each.action for each in verdicts] == ["block", "block", "halt", "halt"]
    assert (verdicts[2].reason, verdicts[2].tool) == ("loop.refused", "sql")
    assert guard.here().state()["refusals"] == 4


class Uncounted:
    """The library, but for one function."""

    def __getattr__(self, name):
        if name == "microloop_refuse":
            raise AttributeError(name)
        return getattr(_native.lib, name)


def test_what_they_refuse_stays_refused_where_it_cannot_be_counted(monkeypatch, caplog):
    guard = Guardrail({"version": 1, "on_error": "allow", "tools": [entry("sql", pattern=WHERE)]})
    monkeypatch.setattr("microloop.judgement.lib", Uncounted())
    assert guard.check("sql", {"sql": "delete from users"}).reason == "rule.deny"
    assert "could not count a refusal of sql" in caplog.text

"""What holds for every run, whatever it is about."""

from __future__ import annotations

import json
import resource

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microloop import Guardrail

ANY_PART = (lambda call: call[1], lambda call: call[2])
slow_enough = settings(deadline=None)

# No letter that is a hexadecimal digit: such words can look like an id, which has no meaning of its own.
words = st.text("ghijklmnopqrstuvwxyz", min_size=3, max_size=8)
sentences = st.lists(words, min_size=2, max_size=6).map(" ".join)
tools = st.sampled_from(["read_file", "send_email", "frobnicate", "set_level", "bash", "search"])
scalars = st.one_of(st.none(), st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), st.text(max_size=8))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=8,
)
objects = st.dictionaries(st.text(min_size=1, max_size=6), values, min_size=1, max_size=4)


@slow_enough
@given(st.lists(st.tuples(tools, sentences, sentences), min_size=1, max_size=60, unique_by=ANY_PART))
def test_distinct_calls_with_distinct_outcomes_are_never_more_than_allowed(run):
    session = Guardrail("balanced").session()
    for tool, argument, outcome in run:
        verdict = session.check(tool, {"subject": argument})
        assert verdict.action == "allow", verdict
        session.record(verdict, outcome)


def spelled(value, draw):
    """The same JSON value in another spelling."""
    space = draw(st.sampled_from(["", " ", "\n  ", "\t"]))
    if isinstance(value, dict):
        members = [f"{spelled(key, draw)}{space}:{space}{spelled(member, draw)}" for key, member in value.items()]
        return "{" + space + f",{space}".join(draw(st.permutations(members))) + space + "}"
    if isinstance(value, list):
        return "[" + space + f",{space}".join(spelled(item, draw) for item in value) + space + "]"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        return draw(st.sampled_from([str(value), f"{value}.0", f"{value}e0", f"{value}.00E+0"]))
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@slow_enough
@given(objects, tools, st.data())
def test_verdicts_do_not_depend_on_how_the_arguments_are_spelled(arguments, tool, data):
    plain, other = Guardrail("balanced").session(), Guardrail("balanced").session()
    for _ in range(6):
        one = plain.check(tool, json.dumps(arguments))
        two = other.check(tool, spelled(arguments, data.draw))
        assert (one.action, one.reason, one.seen, one.evidence) == (two.action, two.reason, two.seen, two.evidence)
        for session, verdict in ((plain, one), (other, two)):
            if verdict.allowed:
                session.record(verdict, "the same")


SECRETS = ["correct-horse-battery", "Zx9!qqP0#aa", "4111 1111 1111 1111", "ünïcödé-sécret"]
secret_calls = st.tuples(tools, st.sampled_from(SECRETS), st.sampled_from(["fine", "Broken: pipe", ""]))


@slow_enough
@given(st.lists(secret_calls, min_size=20, max_size=60))
def test_feedback_never_holds_an_argument_and_is_never_worded_the_same_twice(run):
    session = Guardrail("balanced").session()
    refusals = []
    for tool, secret, outcome in run:
        verdict = session.check(tool, {"password": secret, secret: [secret]})
        assert secret not in verdict.feedback
        assert secret not in json.dumps(verdict.as_dict(), ensure_ascii=False)
        if not verdict.allowed:
            refusals.append(verdict.feedback)
        elif outcome.startswith("Broken"):
            session.record(verdict, error=outcome)
        else:
            session.record(verdict, outcome)
    assert all(refusals)
    assert len(set(refusals)) == len(refusals)


@slow_enough
@given(st.integers(10, 80))
def test_even_a_hundred_refusals_are_worded_differently(refused):
    session = Guardrail({"version": 1, "loops": {"repeat": {"block": 2}}}).session()
    session.record(session.check("look", {}), "the same")
    feedback = [session.check("look", {}).feedback for _ in range(refused)]
    assert all(feedback)
    assert len(set(feedback)) == refused


@pytest.mark.slow
@pytest.mark.parametrize("same", [True, False], ids=["one call over and over", "each call another one"])
def test_a_session_does_not_grow(same):
    loops = {"repeat": {"warn": 3}, "near": {"warn": 5}, "stall": {"warn": 5}}
    session = Guardrail({"version": 1, "loops": loops}).session()

    def run(n, start):
        for k in range(start, start + n):
            verdict = session.check("search", {"q": "same" if same else f"question {k}"}, call_id=f"c{k}")
            session.record(verdict, "the same" if same else f"answer {k}")

    run(20_000, 0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(200_000, 20_000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 1024, f"the process grew by {grown} kB in 200,000 calls"

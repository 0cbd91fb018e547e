"""Budgets of tokens and money, as a host in Python meets them."""

import json
from decimal import Decimal

import pytest

from microloop import Action, Guardrail, Policy, PolicyError, SessionError
from microloop.recheck import Recheck
from microloop.traces import Trace, play


def session_with(**policy):
    return Guardrail({"version": 1, **policy}).session()


def test_a_report_within_the_budget_is_simply_allowed():
    session = session_with(budgets={"tokens": 1000, "usd": 0.5})
    verdict = session.spend(tokens=100, usd=0.0042)
    assert (verdict.action, verdict.reason, verdict.step) == (Action.ALLOW, "none", 0)
    assert verdict.session is session
    state = session.state()
    assert (state["tokens"], state["usd"]) == (100, 0.0042)


def test_the_report_that_spends_the_budget_halts_the_run_for_good():
    session = session_with(budgets={"tokens": 1000})
    verdict = session.spend(tokens=1200)
    assert (verdict.action, verdict.reason, verdict.rule) == (Action.HALT, "budget.tokens", "budgets.tokens")
    assert (verdict.limit, verdict.seen) == (1000, 1200)
    assert session.last_verdict is verdict
    session.user_turn()
    assert session.check("search", {}).action is Action.HALT
    assert session.spend().action is Action.HALT
    assert session.state()["halted"] == "budget.tokens"


def test_the_verdict_on_money_is_in_dollars():
    session = session_with(budgets={"usd": 0.5})
    verdict = session.spend(usd=0.625)
    assert (verdict.reason, verdict.limit, verdict.seen) == ("budget.usd", 0.5, 0.625)
    assert json.loads(json.dumps(verdict.as_dict()))["seen"] == 0.625
    assert "$0.5 is spent" in verdict.feedback


def test_when_the_rest_is_for_the_answer_tools_are_refused_and_told_how_much_it_is():
    session = session_with(budgets={"usd": 1, "wrap_up": 0.25})
    assert session.spend(usd=0.74).action is Action.ALLOW
    assert session.check("search", {"q": 1}).action is Action.ALLOW
    assert session.spend(usd=0.01).action is Action.ALLOW
    verdict = session.check("search", {"q": 2})
    assert (verdict.action, verdict.reason, verdict.rule) == (Action.BLOCK, "budget.usd", "budgets.wrap_up")
    assert verdict.limit - verdict.seen == 0.25
    assert "$0.25 are left for your answer. Give your final answer now" in verdict.feedback
    assert session.state()["halted"] is None


def test_a_child_spends_what_its_parents_have():
    guard = Guardrail({"version": 1, "budgets": {"tokens": 1000}})
    parent = guard.session()
    child = parent.child()
    assert child.child().spend(tokens=950).allowed
    assert [each.state()["tokens"] for each in (parent, child)] == [950, 950]
    assert parent.check("search", {}).action is Action.BLOCK
    parent.spend(tokens=50)
    assert child.check("search", {}).action is Action.HALT


def test_in_observe_mode_the_run_goes_on_and_it_is_said_what_would_have_been():
    session = session_with(mode="observe", budgets={"tokens": 100})
    session.spend(tokens=95)
    verdicts = [session.check("search", {}), session.spend(tokens=5), session.check("search", {"q": 1})]
    assert [each.action for each in verdicts] == [Action.ALLOW] * 3
    assert [each.would for each in verdicts] == [Action.BLOCK, Action.HALT, Action.HALT]


@pytest.mark.parametrize("amount", [{"tokens": -1}, {"usd": -0.01}, {"usd": float("nan")}, {"usd": float("inf")}])
def test_what_nobody_can_have_spent_is_refused_and_not_counted(amount):
    session = session_with(budgets={"tokens": 1})
    with pytest.raises(ValueError, match="pass 0 or more"):
        session.spend(**{"tokens": 1, **amount})
    assert session.state()["tokens"] == 0


def test_tokens_are_whole():
    with pytest.raises(TypeError):
        session_with().spend(tokens=1.5)


def test_sums_beyond_all_numbers_stay_at_the_largest():
    session = session_with()
    for _ in range(2):
        assert session.spend(tokens=1 << 70, usd=1e300).allowed
    assert session.state()["tokens"] == (1 << 64) - 1
    assert session.state()["usd"] > 1e10


def test_money_may_come_as_a_decimal_and_small_sums_add_up_exactly():
    session = session_with(budgets={"usd": 0.3, "wrap_up": 0})
    for _ in range(29_999):
        session.spend(usd=Decimal("0.00001"))
    assert session.check("search", {}).allowed
    assert session.spend(usd=0.00001).reason == "budget.usd"


def test_a_closed_session_takes_no_report():
    session = session_with()
    session.close()
    with pytest.raises(SessionError, match="closed"):
        session.spend(tokens=1)


@pytest.mark.parametrize(
    ("budgets", "words"),
    [
        ({"tokens": 0}, "a whole number of at least 1"),
        ({"tokens": 1.5}, "a whole number"),
        ({"usd": 0}, "from 0.000000001"),
        ({"usd": -1}, "from 0.000000001"),
        ({"usd": float("nan")}, "finite"),
        ({"usd": 2e9}, "at most 1000000000"),
        ({"wrap_up": 0.51}, "at most 0.5"),
        ({"wrap_up": -0.1}, "a number from 0 to 0.5"),
    ],
)
def test_a_budget_that_cannot_be_kept_is_an_error(budgets, words):
    with pytest.raises(PolicyError, match=words):
        Policy.load({"version": 1, "budgets": budgets})


def test_a_recorded_run_is_charged_with_what_its_steps_cost():
    call = {"tool": "search", "arguments": {}, "result": "x"}
    lines = [{**call, "tokens": 900}, {**call, "tokens": None}, {"assistant": "Well.", "tokens": 100, "usd": 0.1}]
    recheck = Recheck(Policy.load({"version": 1, "budgets": {"tokens": 1000}}))
    judged = list(recheck.judge(json.dumps(line).encode() for line in lines))
    assert [(each.verdict.action, each.verdict.reason) for each in judged] == [
        (Action.BLOCK, "budget.tokens"),
        (Action.BLOCK, "budget.tokens"),
        (Action.HALT, "budget.tokens"),
    ]


@pytest.mark.parametrize("wrong", [{"tokens": -1}, {"tokens": "many"}, {"usd": -1}, {"usd": float("nan")}])
def test_a_recorded_line_with_an_impossible_cost_is_broken(wrong):
    recheck = Recheck(Policy.load("balanced"))
    (broken,) = recheck.judge([json.dumps({"user": "hi", **wrong}).encode()])
    assert next(iter(wrong)) in broken.reason


def test_a_trace_tells_of_spending_and_what_is_said_about_it():
    steps = ({"spend": {"tokens": 10}, "expect": "halt", "reason": "budget.tokens"},)
    policy = {"version": 1, "budgets": {"tokens": 10}}
    assert play(Trace("Ten of ten.", steps), policy).passed
    assert play(Trace("Ten of ten.", ({"spend": {"usd": 10}, "expect": "halt"},)), policy).problems


def test_more_dollars_than_a_float_holds_are_an_error_that_says_so():
    with pytest.raises(ValueError, match="usd is too large"):
        session_with(budgets={"usd": 1}).spend(usd=10**400)

"""`microloop calibrate`: levels from good runs, with a bound on false stops that holds in simulation."""

from __future__ import annotations

import json
import math
import random

import pytest
import yaml
from click.testing import CliRunner

from microloop import Policy
from microloop.backtest import RecordedRun, judge_run
from microloop.calibration import FACTORS, NEVER, TooFewRunsError, choose, family, runs_needed, scaled, score_run
from microloop.cli.app import app
from microloop.recorded import step_of

BALANCED = Policy.load("balanced").document
MEMBERS = family(BALANCED)


def lines(run_id, streak, *, outcome=True):
    """A run that makes one call so many times with the same result, between others."""
    calls = [("first", "a"), *[("again", "the same")] * streak, ("last", "b")]
    return [
        {"run_id": run_id, "tool": "search", "arguments": {"q": query}, "result": result, "outcome": outcome}
        for query, result in calls
    ]


def run(streak):
    counts = {}
    return RecordedRun("a.jsonl", "a", tuple(step_of(each, counts) for each in lines("a", streak)))


@pytest.fixture
def calibrate(tmp_path):
    def invoke(streaks, *options, outcome=True):
        path = tmp_path / "runs.jsonl"
        written = [
            each for number, streak in enumerate(streaks) for each in lines(f"r{number}", streak, outcome=outcome)
        ]
        path.write_text("".join(json.dumps(each) + "\n" for each in written), encoding="utf-8")
        return CliRunner().invoke(app, ["calibrate", str(path), *options])

    return invoke


def test_levels_are_multiplied_and_rounded_up_and_advice_alone_stays():
    loops = {"repeat": {"warn": 3, "block": 5, "halt": 8}, "stall": {"warn": 5}, "scope": "turn", "near": None}
    assert scaled(loops, 1.2) == {"repeat": {"warn": 4, "block": 6, "halt": 10}}
    assert scaled(loops, 0.1) == {"repeat": {"warn": 2, "block": 2, "halt": 2}}


@pytest.mark.parametrize("factor", FACTORS)
def test_each_member_of_the_family_is_a_policy(factor):
    assert Policy.load(dict(MEMBERS)[factor])


def test_the_score_of_a_run_is_the_largest_factor_that_stops_it():
    assert score_run(MEMBERS, run(1)) == NEVER
    score = score_run(MEMBERS, run(10))
    documents = dict(MEMBERS)
    assert judge_run(documents[score], run(10)).stop is not None
    assert all(judge_run(documents[factor], run(10)).stop is None for factor in FACTORS if factor > score)


def test_longer_streaks_have_higher_scores():
    scores = [score_run(MEMBERS, run(streak)) for streak in range(1, 30)]
    assert scores == sorted(scores)
    assert scores[-1] > scores[0]


def test_a_run_that_no_factor_lets_pass_has_an_infinite_score():
    policy = Policy(tools=[{"match": "search", "rules": [{"id": "no", "path": "q", "deny": {"regex": "first"}}]}])
    assert score_run(family(policy.document), run(1)) == math.inf


@pytest.mark.parametrize(("alpha", "runs"), [(0.01, 99), (0.05, 19), (0.1, 9), (0.03, 33)])
def test_it_takes_one_over_alpha_runs_to_say_anything(alpha, runs):
    assert runs_needed(alpha) == runs
    assert choose([NEVER] * runs, alpha).factor == FACTORS[0]
    with pytest.raises(TooFewRunsError, match=f"at least {runs} good runs, found {runs - 1}"):
        choose([NEVER] * (runs - 1), alpha)


def test_the_choice_is_the_strictest_that_stops_few_enough():
    assert choose([1.0] * 2 + [NEVER] * 97, alpha=0.03).factor == FACTORS[0]
    assert choose([1.0] * 3 + [NEVER] * 96, alpha=0.03).factor == 1.2


def test_runs_that_are_stopped_at_any_level_cannot_be_calibrated_away():
    with pytest.raises(ValueError, match="1 of 99 good runs would be stopped however high"):
        choose([math.inf] + [NEVER] * 98, alpha=0.01)


@pytest.mark.parametrize(("runs", "alpha"), [(99, 0.01), (150, 0.02), (60, 0.05), (40, 0.1)])
def test_the_rate_of_false_stops_keeps_to_alpha_over_many_draws(runs, alpha):
    """Each draw: so many good runs to choose on, and the next of the same kind, which must rarely be stopped."""
    dice = random.Random(7)
    by_streak = [score_run(MEMBERS, run(streak)) for streak in range(1, 60)]

    def draw():
        return by_streak[min(int(dice.expovariate(0.3)), len(by_streak) - 1)]

    draws = 6000
    stopped = sum(draw() >= choose([draw() for _ in range(runs)], alpha).factor for _ in range(draws))
    # Three standard deviations above what would be seen if the bound were just met.
    assert stopped / draws <= alpha + 3 * math.sqrt(alpha * (1 - alpha) / draws)


def test_the_policy_that_is_printed_can_be_used_as_it_is(calibrate, tmp_path):
    result = calibrate([1] * 95 + [6] * 5, "--alpha", "0.02")
    assert result.exit_code == 0
    (tmp_path / "calibrated.yaml").write_text(result.stdout, encoding="utf-8")
    policy = Policy.load(str(tmp_path / "calibrated.yaml"))
    assert policy.document["loops"]["repeat"]["block"] == 7
    assert policy.document["loops"]["stall"] == BALANCED["loops"]["stall"]
    assert judge_run(policy.document, run(6)).stop is None
    assert judge_run(policy.document, run(7)).stop is not None


def test_the_guarantee_is_one_sentence_on_standard_error_and_in_the_policy(calibrate):
    result = calibrate([1] * 100)
    sentence = (
        "A good run that is exchangeable with the 100 it was calibrated on, of which it stops 0, "
        "is stopped with a probability of at most 1 %."
    )
    assert result.stderr == sentence + "\n"
    assert yaml.safe_load(result.stdout)["description"].endswith(sentence)


def test_only_runs_that_succeeded_are_good(calibrate):
    result = calibrate([1] * 100, outcome=False)
    assert (result.exit_code, "found 0" in result.stderr) == (1, True)


def test_where_nothing_says_how_runs_ended_all_are_good_and_that_is_said(calibrate):
    result = calibrate([1] * 100, outcome=None)
    assert result.exit_code == 0
    assert "all are taken to be good (100 runs)" in result.stderr


def test_too_few_runs_are_said_with_what_they_can_vouch_for(calibrate):
    result = calibrate([1] * 40)
    assert result.exit_code == 1
    assert "needs at least 99 good runs, found 40; with these, the lowest rate is 0.024" in result.stderr


def test_no_run_at_all_cannot_be_used(tmp_path):
    assert CliRunner().invoke(app, ["calibrate", str(tmp_path)]).exit_code == 2

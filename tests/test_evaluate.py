"""The benchmark that scores detectors on real runs: the rules of others on tiny traces, its arithmetic, its targets."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

import shared_data

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from evaluate import corpus, page, tables
from evaluate.corpus import Run, Step
from evaluate.findings import TARGET, find
from evaluate.halves import halves, tuned
from evaluate.intervals import bootstrap, clopper_pearson
from evaluate.judges import ours
from evaluate.labels import agreement
from evaluate.rule import Rule, Told
from evaluate.rules import browser_use, cline, gemini_cli, goose, opencode, openhands, step_limit
from evaluate.score import by_source, score


def steps(text, tool="tool", results=None, errors=()):
    """A call for each letter; what comes back is the same for the same letter, or what `results` has in its place."""
    outcomes = results or text
    return [
        Step(tool, {"q": letter}, None if outcome == "?" else outcome, f"failed {letter}" if place in errors else None)
        for place, (letter, outcome) in enumerate(zip(text, outcomes, strict=True))
    ]


def run(name="a", text="abc", succeeded=None, source="source", labels=()):
    return Run(name, source, succeeded, tuple(steps(text)), labels)


good = partial(run, succeeded=True)
failed = partial(run, succeeded=False)


def place(rule, *arguments, **more):
    return rule.stop(steps(*arguments, **more), rule.threshold)


@pytest.mark.parametrize(
    ("rule", "text", "stop"),
    [
        (gemini_cli.RULE, "xaaaa", None),
        (gemini_cli.RULE, "xaaaaa", 5),
        (gemini_cli.RULE, "ababa", None),
        (gemini_cli.RULE, "xababab", 6),
        (gemini_cli.RULE, "abcabcabc", None),
        (goose.RULE, "aaaaa", None),
        (goose.RULE, "aaaaaa", 5),
        (cline.RULE, "aaaaa", None),
        (cline.RULE, "aaaaab", 5),
        (cline.RULE, "aaaabaaaa", None),
        (opencode.RULE, "aa", None),
        (opencode.RULE, "aaa", 2),
        (opencode.RULE, "aabaa", None),
        (browser_use.RULE, "abacadaea", None),
        (browser_use.RULE, "abacadaeaf", 9),
        (openhands.RULE, "aaaa", None),
        (openhands.RULE, "aaaab", 4),
        (openhands.RULE, "ababab", None),
        (openhands.RULE, "abababc", 6),
    ],
)
def test_a_rule_stops_where_its_description_says(rule, text, stop):
    assert place(rule, text) == stop


def test_openhands_lets_the_same_call_with_other_outcomes_go_on():
    assert place(openhands.RULE, "aaaaaa", results="123456") is None
    assert place(openhands.RULE, "aaaaaa", results="??????") is None


def test_openhands_ends_the_same_failing_call_after_three():
    assert place(openhands.RULE, "aaaa", results="1234", errors=(0, 1, 2, 3)) == 3


def test_browser_use_forgets_what_is_twenty_actions_old():
    apart = "abcdefghijklmnopqrst"
    assert place(browser_use.RULE, f"aaaa{apart.replace('a', 'z')}az") is None


def test_browser_use_compares_searches_by_their_words_in_any_order():
    queries = ["cats and dogs", "dogs and cats", "and cats dogs", "Dogs, cats and", "cats and dogs!", "birds"]
    assert browser_use.stop([Step("search", {"query": query}, "no", None) for query in queries], 5) == 5


def test_cline_ignores_its_own_progress_list():
    calls = [Step("read", {"path": "a", "task_progress": str(number)}, "x", None) for number in range(6)]
    assert cline.stop(calls, 5) == 5


def test_a_limit_on_steps_stops_what_goes_beyond_it():
    assert step_limit.stop(steps("abc"), 3) is None
    assert step_limit.stop(steps("abcd"), 3) == 3


def test_the_guard_is_scored_by_its_first_refusal():
    runs = [run("loop", "aaaaaaa"), run("fine", "abc")]
    balanced, strict, advice, watching = ours(runs)
    assert [judge.stops(runs[0]) for judge in (balanced, strict, advice)] == [4, 2, 2]
    assert watching.stops(runs[0]) is not None
    assert [judge.stops(runs[1]) for judge in (balanced, strict, advice, watching)] == [None] * 4


def test_a_score_counts_good_runs_that_are_stopped_and_steps_of_failed_ones_that_are_saved():
    runs = [good("a", "aaaa"), good("b"), failed("c", "bbbbb"), failed("d"), run("e", "cccc")]
    found = score(opencode.RULE, runs)
    assert (found.good, found.good_stopped, found.rate) == (2, 1, 0.5)
    assert (found.steps_saved, found.failed, found.saving) == (3, (5, 3), 3 / 8)
    assert (found.unjudged, found.unjudged_cut) == (4, 2)


def test_intercode_comes_last_among_the_sources():
    runs = [run(source="intercode/sql"), run(source="tau"), run(source="agent")]
    assert list(by_source(opencode.RULE, runs)) == ["agent", "tau", "intercode/sql"]


@pytest.mark.parametrize(
    ("hits", "runs", "low", "high"),
    # Of tables: 0 of n has the upper bound 1 - 0.025^(1/n).
    [
        (0, 10, 0.0, 0.3085),
        (1, 10, 0.0025, 0.4450),
        (5, 10, 0.1871, 0.8129),
        (10, 10, 0.6915, 1.0),
        (0, 788, 0.0, 0.0047),
    ],
)
def test_intervals_of_shares_are_exact(hits, runs, low, high):
    assert clopper_pearson(hits, runs) == pytest.approx((low, high), abs=5e-5)


def test_intervals_of_steps_hold_the_share_and_are_the_same_each_time():
    parts, wholes = [0, 3, 0, 5, 1, 0], [5, 6, 4, 9, 2, 8]
    low, high = bootstrap(parts, wholes)
    assert low <= sum(parts) / sum(wholes) <= high
    assert bootstrap(parts, wholes) == (low, high)


def test_the_halves_depend_on_nothing_but_the_id_of_a_run():
    runs = [run(str(number)) for number in range(200)]
    chosen, reported = halves(runs)
    assert {each.run_id for each in chosen} | {each.run_id for each in reported} == {each.run_id for each in runs}
    assert 70 < len(chosen) < 130
    assert halves(runs[:50])[0] == [each for each in chosen if int(each.run_id) < 50]


def test_a_threshold_is_the_lowest_that_stops_no_more_good_runs():
    limit = Rule("limit", step_limit.stop, 1000, "ends the run", highest=10)
    runs = [good("a", "abcd"), good("b", "ab"), failed("c", "abcdefgh")]
    nothing = Told("none", "", dict.fromkeys("abc"))
    one = Told("one", "", {"a": 1, "b": None, "c": None})
    assert tuned(limit, nothing, runs).threshold == 4
    assert tuned(limit, one, runs).threshold == 2
    assert tuned(Rule("limit", step_limit.stop, 3, "", highest=3), nothing, runs) is None


def test_marks_are_set_against_the_label_of_the_step_they_fall_on():
    labelled = run(text="aab", labels=("Repetition", "Follow-up"))
    found = agreement("second", lambda _: frozenset({1}), [labelled, run()])
    assert (found.share("Repetition"), found.share("Follow-up"), found.precision) == (1.0, 0.0, 1.0)


def test_the_page_keeps_what_people_wrote_round_the_tables(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(page.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    page.write("the first tables", path)
    page.write("the second tables", path)
    written = path.read_text(encoding="utf-8")
    assert "the first tables" not in written
    assert written.count("the second tables") == 1
    assert written.startswith("# How good it is\n")
    assert "## How to read it" in written.partition("the second tables")[2]


@pytest.fixture(scope="module")
def runs():
    if not (shared_data.FOLDER / "runs.jsonl.xz").exists():
        pytest.skip("runs.jsonl.xz is not there; set MICROLOOP_DATA to the folder that has it")
    return corpus.read(shared_data.FOLDER)


@pytest.mark.shared
@pytest.mark.slow
def test_balanced_stops_at_most_one_in_a_hundred_good_runs_of_each_source(runs):
    rates = {source: each.rate or 0.0 for source, each in by_source(ours(runs)[0], runs).items()}
    assert {source: rate for source, rate in rates.items() if rate > TARGET} == {}


@pytest.mark.shared
@pytest.mark.slow
def test_the_tables_have_every_rule_and_say_where_it_loses(runs):
    text = tables.text(find(runs, None))
    for name in ("gemini-cli", "OpenHands", "goose", "Cline", "opencode", "browser-use", "limit on steps"):
        assert f"| {name}" in text
    assert "- At most 1% of the successful runs of each source are stopped:" in text
    assert "- More steps are saved in failed runs than by any other rule" in text

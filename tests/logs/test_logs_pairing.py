"""How calls find their results."""

from __future__ import annotations

from microloop.logs.events import Answer, Call, Ended, Outcome, Said, Spent
from microloop.logs.pairing import paired
from microloop.recorded import BrokenLine, Step
from microloop.replay import UNKNOWN


def call(call_id=None, tool="search", batch=None, **more):
    return Call("", tool, {}, call_id, batch, **more)


def answer(call_id=None, value="no", **more):
    return Answer(1, "", Outcome(value), call_id, **more)


def said(speaker, words, turn=None):
    return Said("", speaker, words, turn)


def results(*events):
    return [step.played.get("result", step.played.get("error")) for step in paired(events)]


def test_results_in_any_order_find_their_calls_by_id():
    assert results(call("1", batch="a"), call("2", batch="a"), answer("2", "two"), answer("1", "one")) == ["one", "two"]


def test_results_without_an_id_find_the_first_open_call_of_the_tool():
    events = [call(tool="a"), call(tool="b"), answer(value="of b", tool="b"), answer(value="of a", tool="a")]
    assert results(*events) == ["of a", "of b"]


def test_a_call_without_a_result_has_an_unknown_one():
    assert results(call("1", batch="a"), call("2", batch="b"), answer("2")) == [UNKNOWN, "no"]


def test_a_step_comes_out_as_soon_as_it_is_complete():
    taken = []
    events = (taken.append(event) or event for event in [call("1"), answer("1"), call("2"), answer("2")])
    next(paired(events))
    assert len(taken) == 2


def test_a_call_that_is_given_up_does_not_hold_back_the_next_turn():
    taken = []
    first = [call("1", batch="a"), call("2", batch="b"), answer("2"), call("3", batch="c")]
    events = (taken.append(event) or event for event in first)
    assert next(paired(events)).played["result"] is UNKNOWN
    assert len(taken) == 3


def test_a_log_without_any_result_is_still_read_as_it_comes():
    taken = []
    events = (taken.append(number) or call(str(number), batch=str(number)) for number in range(1000))
    assert next(paired(events)).played["result"] is UNKNOWN
    assert len(taken) < 100


def test_a_result_without_a_call_is_broken():
    assert list(paired([answer("7")])) == [BrokenLine(1, 'the result of a call that is not in the log: "7"')]
    assert list(paired([call("7"), answer("7"), answer("7", repeated=True)])) != []


def test_a_whole_call_completes_the_open_one():
    whole = call("1", outcome=Outcome(error="down"))
    assert [step.played for step in paired([call("1", batch="a"), whole])] == [
        {"call_id": "1", "batch": "a", "tool": "search", "args": {}, "error": "down"}
    ]


def test_an_id_that_is_used_anew_is_no_id():
    steps = list(paired([call("0"), answer("0", "one"), call("0"), answer("0", "two")]))
    assert [(step.played.get("call_id"), step.played["result"]) for step in steps] == [("0", "one"), (None, "two")]


def test_words_beside_a_call_are_no_turn():
    steps = paired([said("assistant", "I look.", "t"), call("1", batch="t"), answer("1"), said("assistant", "Done.")])
    assert [step.tool for step in steps] == ["search", "assistant"]


def test_words_of_one_turn_are_one_message():
    steps = list(paired([said("assistant", "One.", "t"), said("assistant", "Two.", "t"), said("user", "And?")]))
    assert [step.played for step in steps] == [{"assistant": "One.\nTwo."}, {"user": "And?"}]


def test_a_tool_may_be_called_assistant():
    steps = list(paired([call("1", tool="assistant", batch="t"), said("assistant", "x", "t"), answer("1")]))
    assert [step.played.get("result", step.played.get("assistant")) for step in steps] == ["no", "x"]


def test_what_is_spent_goes_with_the_next_step_and_is_never_lost():
    events = [Spent("", 30), said("assistant", "I look.", "t"), Spent("", 5, 0.5), call("1", batch="t"), Spent("", 7)]
    assert [step.played.get("spend") for step in paired(events)] == [{"tokens": 35, "usd": 0.5}, {"tokens": 7}]


def test_runs_do_not_see_each_other():
    events = [Call("a", "x", {}, "1"), Call("b", "y", {}, "1"), Answer(1, "b", Outcome("of b"), "1")]
    assert list(paired([*events, Ended("a"), Call("a", "z", {})])) == [
        Step("b", 0, "y", {"call_id": "1", "tool": "y", "args": {}, "result": "of b"}),
        Step("a", 0, "x", {"call_id": "1", "tool": "x", "args": {}, "result": UNKNOWN}),
        Step("a", 0, "z", {"tool": "z", "args": {}, "result": UNKNOWN}),
    ]

"""The contract of all adapters: the same scenes in every framework, with the same verdicts."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from reference import expected
from scene import Finished, Harness, Scene, Turn, Watched
from workshop import Workshop

from microloop import PolicyError, _native
from microloop.adapters._gate import gate as gate_module

pytestmark = pytest.mark.adapter
SEARCH = ("search", {"query": "cats"})
READ = ("read_page", {"url": "https://example.org/"})


def same(times: int, *calls: tuple[str, dict[str, Any]]) -> list[Turn]:
    return [*[list(calls or [SEARCH])] * times, "done"]


def policy(**parts: Any) -> dict[str, Any]:
    return {"version": 1, "extends": "balanced", **parts}


@pytest.fixture(autouse=True)
def _not_lacking(request: pytest.FixtureRequest, harness: Harness) -> None:
    case = request.node.originalname.removeprefix("test_")
    if case in harness.lacks:
        pytest.skip(f"{harness.name}: {harness.lacks[case]}")


def scene(turns: list[Turn], document: Any = "balanced", **options: Any) -> Scene:
    return Scene(turns, Watched(document), Workshop(), **options)


def ran_as_expected(played: Scene, document: Any = "balanced") -> None:
    """The adapter came to the guard's own verdicts, and each tool ran as often as they let it."""
    twin = Scene(played.turns, played.guard, Workshop())
    by_hand = expected(twin, document)
    assert played.guard.told[: len(by_hand.told)] == by_hand.told
    assert set(played.guard.told[len(by_hand.told) :]) <= {by_hand.told[-1]}
    assert played.tools.ran == twin.tools.ran


def test_a_call_that_repeats_itself_is_advised_then_refused_then_halted(harness: Harness, mode: str) -> None:
    played = scene(same(20))
    finished = harness.play(played, mode)
    ran_as_expected(played)
    assert played.tools.ran == ["search"] * 4
    assert finished.end == "halted", finished
    assert "nothing about cats" in finished.told[0]
    assert finished.told[2].count("microloop") >= 1
    assert "nothing about cats" in finished.told[2]
    refusals = finished.told[4:7]
    assert len(set(refusals)) == len(refusals)
    assert all("microloop" in each and "nothing about cats" not in each for each in refusals)


def test_two_calls_in_turn_are_a_loop_too(harness: Harness, mode: str) -> None:
    played = scene([turn for _ in range(10) for turn in ([SEARCH], [READ])])
    assert harness.play(played, mode).end == "halted"
    ran_as_expected(played)


def test_different_calls_run_undisturbed(harness: Harness, mode: str) -> None:
    played = scene([*[[("search", {"query": f"cats {n}"})] for n in ("in", "on", "under")], "done"])
    finished = harness.play(played, mode)
    assert (finished.end, finished.error) == ("finished", None)
    assert played.guard.told == ["allow none"] * 3
    assert "cats in" in finished.told[0]
    assert "cats under" in finished.told[2]


def test_bad_arguments_do_not_reach_the_tool(harness: Harness, mode: str) -> None:
    played = scene([[("search", {"wrong": "cats"})], [SEARCH], "done"])
    finished = harness.play(played, mode)
    assert played.tools.ran == ["search"]
    assert "nothing about" not in (finished.told[0] or "")
    assert "nothing about cats" in finished.told[1]
    assert finished.end == "finished"


def test_an_unknown_tool_is_no_way_around_the_guard(harness: Harness, mode: str) -> None:
    played = scene([[("serach", {"query": "cats"})], [SEARCH], "done"])
    finished = harness.play(played, mode)
    assert played.tools.ran == ["search"]
    assert "nothing about" not in (finished.told[0] or "")
    assert finished.end == "finished"


def test_a_tool_that_the_role_may_not_use_does_not_run(harness: Harness, mode: str) -> None:
    roles = {"default": "reader", "otherwise": "deny", "grants": {"reader": {"allow": ["read_*"]}}}
    played = scene([[SEARCH], [READ], "done"], policy(roles=roles))
    finished = harness.play(played, mode)
    assert played.tools.ran == ["read_page"]
    assert "microloop" in finished.told[0]
    assert played.guard.told == ["block role.denied", "allow none"]
    assert finished.end == "finished"


def test_a_spent_budget_ends_the_run(harness: Harness, mode: str) -> None:
    played = scene([[("search", {"query": f"cats {n}"})] for n in "abcdefgh"], policy(budgets={"calls": 3}))
    finished = harness.play(played, mode)
    assert played.tools.ran == ["search"] * 3
    assert finished.end == "halted"
    assert played.guard.told[:4] == [*["allow none"] * 3, "halt budget.calls"]


def test_tokens_are_charged_and_the_last_of_them_are_kept_for_the_answer(harness: Harness, mode: str) -> None:
    turns = [[("search", {"query": f"cats {n}"})] for n in "abcdefghijklmnop"]
    budgets = {"tokens": 1000, "wrap_up": 0.3}
    played = scene(turns, policy(budgets=budgets), tokens=(80, 20))
    finished = harness.play(played, mode)
    assert played.tools.ran == ["search"] * 6
    assert finished.end == "halted"
    assert played.guard.told[:8] == [*["allow none"] * 6, *["block budget.tokens"] * 2]


def test_a_tool_that_raises_is_recorded_and_its_error_is_no_progress(harness: Harness, mode: str) -> None:
    turns: list[Turn] = [[("broken", {"path": f"/data/{n}"})] for n in "abcdefghijklmnopqrst"]
    played = scene(turns)
    finished = harness.play(played, mode)
    assert finished.end == "halted"
    ran_as_expected(played)


def test_different_errors_are_no_loop(harness: Harness, mode: str) -> None:
    played = scene([*[[("broken", {"path": f"/{n}/a"})] for n in ("data", "home", "srv", "mnt", "opt", "usr")], "done"])
    assert harness.play(played, mode).end == "finished"
    assert played.guard.told == ["allow none"] * 6


def test_a_tool_that_raises_passes_its_own_exception_on(harness: Harness, mode: str) -> None:
    played = scene([[("broken", {"path": "/data/a"})], "done"])
    finished = harness.play(played, mode)
    assert "no such volume: data" in (finished.told[0] or str(finished.error))


def test_a_slow_tool_holds_up_nobody_else(harness: Harness, mode: str) -> None:
    guard = Watched()
    slow = Scene([[("slow", {"query": "cats"})], "done"], guard, Workshop(), run_id="slow")
    quick = Scene([[SEARCH], "done"], guard, Workshop(), run_id="quick")
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(harness.play, slow, mode)
        assert slow.tools.started.wait(60)
        quick.tools.release = slow.tools.gate.set
        assert harness.play(quick, mode).end == "finished"
        assert under_way.result(60).end == "finished"


def test_identical_calls_of_one_turn_run_once_and_all_are_answered(harness: Harness, mode: str) -> None:
    played = scene([[SEARCH] * 6, "done"])
    finished = harness.play(played, mode)
    assert played.tools.ran == ["search"]
    assert finished.end == "finished"
    assert len(finished.told) == 6
    assert all(finished.told)
    assert sum("nothing about cats" in each for each in finished.told) >= 1


def test_two_runs_at_once_do_not_see_each_other(harness: Harness, mode: str) -> None:
    guard, together = Watched(), threading.Barrier(2, timeout=60)
    scenes = [Scene(same(2), guard, Workshop(), run_id=name) for name in ("one", "other")]
    for each in scenes:
        each.tools.release = together.wait
    with ThreadPoolExecutor(2) as pool:
        finished = list(pool.map(lambda each: harness.play(each, mode), scenes))
    assert [each.end for each in finished] == ["finished"] * 2
    assert guard.told == ["allow none"] * 4


def test_runs_without_an_id_of_their_own_do_not_see_each_other(harness: Harness, mode: str) -> None:
    guard = Watched()
    for _ in range(4):
        assert harness.play(Scene(same(2), guard, Workshop()), mode).end == "finished"
    assert guard.told == ["allow none"] * 8


def test_call_ids_that_come_again_each_turn_hide_no_loop(harness: Harness, mode: str) -> None:
    played = scene(same(20), same_ids=True)
    assert harness.play(played, mode).end == "halted"
    assert played.tools.ran == ["search"] * 4


def test_the_model_is_not_asked_again_after_a_halt(harness: Harness, mode: str) -> None:
    played = scene(same(20))
    finished = harness.play(played, mode)
    assert finished.end == "halted"
    assert finished.asked == 8
    assert None not in finished.told[:7]


def test_a_fault_of_the_guard_itself_refuses_the_call(
    harness: Harness, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate_module, "notes_of", broken)
    played = scene([[SEARCH], "done"])
    finished = harness.play(played, mode)
    assert played.tools.ran == []
    assert finished.end == "finished"
    assert "the guard itself failed" in finished.told[0]


def test_a_fault_of_the_guard_itself_lets_the_call_run_if_the_policy_says_so(
    harness: Harness, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate_module, "notes_of", broken)
    played = scene([[SEARCH], "done"], policy(on_error="allow"))
    finished = harness.play(played, mode)
    assert played.tools.ran == ["search"]
    assert finished.end == "finished"
    assert "nothing about cats" in finished.told[0]


def broken(*_: Any) -> Any:
    raise RuntimeError("a bug of ours")


@pytest.mark.parametrize("on_error", ["block", "allow"])
def test_a_tool_that_cannot_be_declared_follows_on_error_and_the_others_work(
    harness: Harness, mode: str, monkeypatch: pytest.MonkeyPatch, on_error: str
) -> None:
    declare = _native.declare_tool

    def picky(policy: int, declaration: bytes) -> int:
        if b'"search"' in declaration:
            raise PolicyError("its pattern needs look-around")
        return declare(policy, declaration)

    monkeypatch.setattr(_native, "declare_tool", picky)
    played = scene([[SEARCH], [READ], "done"], policy(on_error=on_error))
    finished = harness.play(played, mode)
    assert played.tools.ran == [*["search"] * (on_error == "allow"), "read_page"]
    assert finished.end == "finished"
    assert ("its pattern needs look-around" in finished.told[0]) is (on_error == "block")


ASKED = {"tools": [{"match": "search", "rules": [{"id": "consent", "path": "query", "ask": {"regex": "cats"}}]}]}


def test_a_call_that_needs_consent_runs_only_with_it(harness: Harness, mode: str) -> None:
    for agreed in (False, True):
        guard = Watched(policy(**ASKED), ask=lambda _, agreed=agreed: agreed)
        played = Scene([[SEARCH], "done"], guard, Workshop())
        finished = harness.play(played, mode)
        assert finished.end == "finished"
        assert played.tools.ran == ["search"] * agreed
        assert ("nothing about cats" in finished.told[0]) is agreed


def test_a_run_that_is_paused_for_consent_goes_on_with_the_same_call(harness: Harness, mode: str) -> None:
    if not harness.pauses:
        pytest.skip(f"{harness.name}: people are asked by `Guardrail(ask=…)`, not by a pause of the run")
    for agreed in (False, True):
        played = scene([[SEARCH], "done"], policy(**ASKED), consent=agreed)
        assert harness.play(played, mode).end == "finished"
        assert played.tools.ran == ["search"] * agreed
        assert {each.step for each in played.guard.verdicts} == {1}


def test_a_call_that_the_framework_repeats_is_the_same_call(harness: Harness, mode: str) -> None:
    if not harness.repeats:
        pytest.skip(f"{harness.name}: it repeats no tool call by itself")
    played = scene([[("flaky", {"query": "cats"})], "done"], retries=True)
    finished = harness.play(played, mode)
    assert "nothing about cats" in finished.told[0]
    assert played.tools.ran == ["flaky"] * 2
    assert {each.step for each in played.guard.verdicts} == {1}


def test_a_detached_adapter_leaves_the_framework_as_it_was(harness: Harness, mode: str) -> None:
    played = scene(same(6), attached=False)
    finished = harness.play(played, mode)
    assert played.guard.told == []
    assert played.tools.ran == ["search"] * 6
    assert finished.end == "finished"


def test_the_coverage_names_each_guarded_tool_and_its_hook(harness: Harness, mode: str) -> None:
    played = scene([[SEARCH], "done"])
    harness.play(played, mode)
    assert "search" in {each.tool for each in played.guard.coverage()}
    assert all(each.hook for each in played.guard.coverage())


def test_a_finished_run_reports_every_answer(harness: Harness, mode: str) -> None:
    played = scene([[SEARCH, READ], "done"])
    finished: Finished = harness.play(played, mode)
    assert finished.end == "finished"
    assert len(finished.told) == 2
    assert "nothing about cats" in finished.told[0]
    assert "an empty page" in finished.told[1]

"""Sessions: which one is current, what they share, and when they end."""

from __future__ import annotations

import asyncio
import gc
import weakref

import pytest

from microloop import Action, Guardrail, SessionError


def go_round(guard, times=4, tool="search"):
    """The same call with the same outcome, until the next one would be refused."""
    for _ in range(times):
        guard.record(guard.check(tool, {"q": "cats"}), "nothing found")


def next_action(guard, tool="search"):
    verdict = guard.check(tool, {"q": "cats"})
    if verdict.allowed:
        guard.cancel(verdict)
    return verdict.action


def test_two_sessions_never_see_each_others_steps():
    guard = Guardrail()
    with guard.session("one"):
        go_round(guard)
        assert next_action(guard) is Action.BLOCK
    with guard.session("two"):
        assert next_action(guard) is Action.ALLOW


def test_what_is_outside_of_every_session_is_a_session_too():
    guard = Guardrail()
    go_round(guard)
    with guard.session("inside"):
        assert next_action(guard) is Action.ALLOW
    assert next_action(guard) is Action.BLOCK


def test_two_guards_have_a_current_session_each():
    one, two = Guardrail(), Guardrail()
    with one.session("a") as a, two.session("b") as b:
        assert one.here() is a
        assert two.here() is b
    assert one.here() is not a


def test_sessions_nest_and_the_outer_one_comes_back():
    guard = Guardrail()
    with guard.session("outer") as outer:
        with guard.session("inner") as inner:
            assert guard.here() is inner
        assert guard.here() is outer


def test_one_id_is_one_session_while_it_is_open():
    guard = Guardrail()
    with guard.session("run-7") as session:
        go_round(guard)
    assert guard.session("run-7") is session
    with guard.session("run-7"):
        assert next_action(guard) is Action.BLOCK


def test_a_session_may_be_entered_twice():
    guard = Guardrail()
    with guard.session("run") as session:
        with session:
            assert guard.here() is session
        assert guard.here() is session
        assert not session.closed


def test_blocks_may_end_in_another_order_than_they_began():
    guard = Guardrail()
    outer, inner = guard.session("outer"), guard.session("inner")
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    assert guard.here() is inner
    inner.__exit__(None, None, None)
    assert guard.here().id not in ("outer", "inner")


def test_the_default_session_goes_on_when_an_adapter_has_entered_it():
    guard = Guardrail()
    with guard.here() as session:
        go_round(guard)
    assert guard.here() is session
    assert next_action(guard) is Action.BLOCK


def test_a_session_without_an_id_ends_with_its_block():
    guard = Guardrail()
    with guard.session() as session:
        assert session.state()["steps"] == 0
    assert session.closed
    with pytest.raises(SessionError, match="closed"):
        session.check("search", {})


def test_a_closed_session_says_so_whatever_is_asked_of_it():
    guard = Guardrail()
    session = guard.session("run-7")
    verdict = session.check("search", {})
    session.close()
    session.close()
    for use in (
        lambda: session.check("search", {}),
        lambda: session.record(verdict, "x"),
        lambda: session.cancel(verdict),
        session.user_turn,
        lambda: session.assistant_turn("hello"),
        session.state,
        lambda: session.set_time(1),
        session.__enter__,
        session.child,
    ):
        with pytest.raises(SessionError, match="run-7"):
            use()
    assert "closed" in repr(session)


def test_a_closed_session_is_forgotten_and_its_id_is_free():
    guard = Guardrail()
    with guard.session("run-7") as session:
        go_round(guard)
        session.close()
    with guard.session("run-7") as fresh:
        assert fresh is not session
        assert next_action(guard) is Action.ALLOW


def test_a_decorated_function_in_a_closed_session_does_not_run_unseen():
    guard = Guardrail()
    ran = []

    @guard.verify
    def act():
        ran.append(1)

    with guard.session("run") as session:
        session.close()
        with pytest.raises(SessionError):
            act()
    assert ran == []


def test_an_open_session_has_one_role():
    guard = Guardrail()
    guard.session("run", role="reader")
    assert guard.session("run").role == "reader"
    with pytest.raises(SessionError, match="reader"):
        guard.session("run", role="writer")


def test_an_open_session_has_one_parent():
    guard = Guardrail()
    guard.session("run")
    with pytest.raises(SessionError, match="parent"):
        guard.session("run", parent=guard.session("other"))


def test_only_so_many_idle_sessions_are_kept_and_their_memory_is_freed():
    guard = Guardrail(max_sessions=3)
    first = weakref.ref(guard.session("0"))
    for number in range(1, 4):
        guard.session(str(number))
    gc.collect()
    assert first() is None


def test_the_session_used_last_is_kept():
    guard = Guardrail(max_sessions=2)
    old = guard.session("old")
    guard.session("middle")
    guard.session("old")
    guard.session("new")
    assert guard.session("old") is old


def test_a_session_that_is_in_use_is_never_dropped():
    guard = Guardrail(max_sessions=2)
    with guard.session("in use") as session:
        for number in range(10):
            guard.session(str(number))
        assert guard.session("in use") is session


def test_a_guard_and_its_sessions_go_when_nobody_holds_them():
    guard = Guardrail()
    with guard.session("run"):
        go_round(guard)
    gone = [weakref.ref(guard), weakref.ref(guard.session("run")), weakref.ref(guard.here())]
    del guard
    gc.collect()
    assert [each() for each in gone] == [None, None, None]


def test_a_user_turn_starts_the_counters_anew():
    guard = Guardrail()
    go_round(guard)
    guard.here().user_turn()
    assert next_action(guard) is Action.ALLOW


def test_empty_assistant_turns_are_noticed():
    session = Guardrail().session()
    actions = [str(session.assistant_turn("").action) for _ in range(3)]
    assert actions == ["allow", "allow", "warn"]
    assert session.last_verdict.reason == "loop.text"


def test_a_child_has_counters_of_its_own_and_a_budget_in_common():
    guard = Guardrail({"version": 1, "extends": "balanced", "budgets": {"calls": 5}})
    parent = guard.session("parent")
    child = parent.child("child")
    assert child.parent is parent
    with parent:
        go_round(guard, 3)
    with child:
        assert next_action(guard) is Action.ALLOW
        for number in range(4):
            verdict = guard.check("fetch", {"id": number})
            if verdict.allowed:
                guard.record(verdict, f"item {number}")
    assert verdict.reason == "budget.calls"


def test_a_session_knows_where_it_stands():
    guard = Guardrail()
    go_round(guard)
    guard.check("search", {"q": "cats"})
    state = guard.here().state()
    assert (state["steps"], state["calls"], state["refusals"], state["halted"]) == (5, 4, 1, None)


def test_a_session_keeps_the_time_that_it_is_given():
    session = Guardrail({"version": 1, "extends": "balanced", "budgets": {"per_minute": 1}}).session()
    session.set_time(1_000_000)
    session.record(session.check("search", {"q": 1}), "x")
    assert session.check("search", {"q": 2}).reason == "budget.rate"
    session.set_time(1_061_000)
    assert session.check("search", {"q": 3}).allowed


def test_a_verdict_goes_back_to_the_session_that_gave_it():
    guard = Guardrail()
    verdict = guard.session("one").check("search", {})
    with pytest.raises(SessionError, match="two"):
        guard.session("two").record(verdict, "x")


def test_tasks_have_a_current_session_each():
    guard = Guardrail()

    @guard.verify
    async def search(q):
        await asyncio.sleep(0)
        return guard.here().id

    async def run(name):
        async with guard.session(name):
            await asyncio.sleep(0)
            return [await search(number) for number in range(3)]

    async def main():
        return await asyncio.gather(run("a"), run("b"))

    assert asyncio.run(main()) == [["a"] * 3, ["b"] * 3]


def test_a_task_inherits_the_session_that_it_was_started_in():
    guard = Guardrail()

    async def where():
        return guard.here().id

    async def main():
        async with guard.session("run"):
            return await asyncio.create_task(where())

    assert asyncio.run(main()) == "run"

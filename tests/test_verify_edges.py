"""`@guard.verify` where a person is asked, where we fail ourselves, and where values are odd."""

from __future__ import annotations

import asyncio

import pytest

from microloop import Action, BlockedCall, Guardrail, SessionError

# Its own limits, so that tuning the named policies changes nothing here.
STRICT = {
    "version": 1,
    "loops": {"repeat": {"warn": 2, "block": 3, "halt": 5}, "error": {"warn": 3, "block": 8}, "text": {"warn": 3}},
}
ASK = {"id": "ask", "path": "q", "ask": {"regex": "delete"}}


def asking(**options):
    return Guardrail({"version": 1, "extends": "balanced", "tools": [{"match": "*", "rules": [ASK]}]}, **options)


def test_a_decorated_function_runs_with_consent_and_not_without():
    for answer in (True, False):
        guard = asking(ask=lambda verdict, answer=answer: answer)
        remove = guard.verify(lambda q: f"done: {q}")
        if answer:
            assert remove("delete x") == "done: delete x"
        else:
            with pytest.raises(BlockedCall) as refused:
                remove("delete x")
            assert refused.value.verdict.action is Action.ASK


def test_without_anybody_to_ask_nothing_runs():
    with pytest.raises(BlockedCall):
        asking().verify(lambda q: q)("delete x")


def test_a_coroutine_function_awaits_whoever_is_asked():
    async def ask(verdict):
        await asyncio.sleep(0)
        return True

    guard = asking(ask=ask)

    @guard.verify
    async def remove(q):
        return f"done: {q}"

    @guard.verify
    async def removals(q):
        yield f"done: {q}"

    async def main():
        assert await remove("delete x") == "done: delete x"
        assert [item async for item in removals("delete x")] == ["done: delete x"]

    asyncio.run(main())


def test_a_fault_in_the_check_blocks_and_is_reported(caplog):
    guard = Guardrail()

    class Unreadable:
        def __getattribute__(self, name):
            raise MemoryError

    @guard.verify
    def tool(value):
        return "ran"

    with pytest.raises(BlockedCall) as refused:
        tool(Unreadable())
    assert refused.value.verdict.reason == "guard.fault"
    assert "tool" in caplog.text


def test_a_fault_in_the_check_lets_the_call_run_where_the_policy_says_so(caplog):
    guard = Guardrail({"version": 1, "extends": "balanced", "on_error": "allow"})

    class Unreadable:
        def __getattribute__(self, name):
            raise MemoryError

    assert guard.verify(lambda value: "ran")(Unreadable()) == "ran"
    assert "could not judge" in caplog.text


@pytest.mark.parametrize("value", [float("nan"), "\ud800", 2**64], ids=["nan", "surrogate", "2^64"])
def test_arguments_that_json_cannot_say_are_refused_by_the_core(value):
    with pytest.raises(BlockedCall) as refused:
        Guardrail().verify(lambda value: value)(value)
    assert refused.value.verdict.reason == "args.malformed"


def test_a_call_that_ends_after_its_session_is_still_the_hosts(caplog):
    guard = Guardrail()

    @guard.verify
    def close(what):
        guard.here().close()
        if what == "fail":
            raise ValueError(what)
        return what if what == "text" else [what]

    for what in ("text", "list"):
        with guard.session(what):
            assert close(what) in ("text", ["list"])
    with guard.session("fail"), pytest.raises(ValueError, match="fail"):
        close("fail")
    assert caplog.text.count("closed") == 3


def test_recursion_is_a_call_in_a_call():
    guard = Guardrail()

    @guard.verify
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    assert factorial(5) == 120
    assert guard.here().state()["steps"] == 5


def test_a_verdict_by_hand_and_a_decorated_function_share_a_session():
    guard = Guardrail(STRICT)
    search = guard.verify(name="search")(lambda q: "nothing found")
    search("cats")
    guard.record(guard.check("search", {"q": "cats"}), "nothing found")
    with pytest.raises(BlockedCall):
        search("cats")
    with pytest.raises(SessionError):
        guard.record(guard.last_verdict, "x")

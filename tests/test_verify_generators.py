"""`@guard.verify` on generators and async generators."""

from __future__ import annotations

import asyncio
import inspect

import pytest

from microloop import BlockedCall, Guardrail

# Its own limits, so that tuning the named policies changes nothing here.
STRICT = {
    "version": 1,
    "loops": {"repeat": {"warn": 2, "block": 3, "halt": 5}, "error": {"warn": 3, "block": 8}, "text": {"warn": 3}},
}


def test_a_generator_is_checked_when_it_is_called():
    guard = Guardrail(STRICT)

    @guard.verify
    def rows(sql):
        yield from ["a", "b"]

    assert list(rows("select")) == ["a", "b"]
    assert list(rows("select")) == ["a", "b"]
    with pytest.raises(BlockedCall):
        rows("select")


def test_a_generator_that_gives_other_items_makes_progress():
    guard = Guardrail(STRICT)
    page = iter(range(100))

    @guard.verify
    def rows(sql):
        yield "head"
        yield next(page)

    assert [list(rows("select"))[1] for _ in range(20)] == list(range(20))


def test_a_generator_keeps_all_that_generators_do():
    guard = Guardrail()
    log = []

    @guard.verify
    def talk():
        try:
            while True:
                try:
                    log.append((yield len(log)))
                except KeyError as error:  # noqa: PERF203 - that is what is tested
                    log.append(repr(error))
        finally:
            log.append("closed")

    talking = talk()
    assert inspect.isgenerator(talking)
    assert next(talking) == 0
    assert talking.send("one") == 1
    assert talking.throw(KeyError("k")) == 2
    talking.close()
    assert log == ["one", "KeyError('k')", "closed"]


def test_what_a_generator_returns_is_returned():
    @Guardrail().verify
    def work():
        yield 1
        return "result"

    def outer():
        return (yield from work())

    running = outer()
    assert next(running) == 1
    with pytest.raises(StopIteration) as end:
        next(running)
    assert end.value.value == "result"


def test_a_generator_that_fails_is_recorded_as_an_error():
    guard = Guardrail()

    @guard.verify
    def rows(number):
        yield number
        raise ConnectionError("no route")

    for number in range(3):
        with pytest.raises(ConnectionError):
            list(rows(number))
    assert guard.check("rows", {"number": 9}).reason == "loop.error"


def test_a_generator_left_half_way_is_recorded_as_far_as_it_got():
    guard = Guardrail(STRICT)

    @guard.verify
    def rows(sql):
        yield "a"
        yield "b"

    for _ in range(2):
        running = rows("select")
        next(running)
        running.close()
    with pytest.raises(BlockedCall):
        rows("select")


def test_a_generator_may_give_more_than_anybody_wants_to_remember():
    guard = Guardrail(STRICT)
    last = iter(range(100))

    @guard.verify
    def flood():
        for _ in range(40):
            yield "x" * 50_000
        yield next(last)

    for _ in range(5):
        assert len(list(flood())) == 41


def test_an_async_generator_is_checked_when_it_is_called():
    guard = Guardrail(STRICT)

    @guard.verify
    async def rows(sql):
        yield "a"
        yield "b"

    async def main():
        for _ in range(2):
            assert [item async for item in rows("select")] == ["a", "b"]
        with pytest.raises(BlockedCall):
            rows("select")

    asyncio.run(main())


def test_an_async_generator_keeps_all_that_async_generators_do():
    guard = Guardrail()
    log = []

    @guard.verify
    async def talk():
        try:
            while True:
                try:
                    log.append((yield len(log)))
                except KeyError as error:  # noqa: PERF203 - that is what is tested
                    log.append(repr(error))
        finally:
            log.append("closed")

    async def main():
        talking = talk()
        assert inspect.isasyncgen(talking)
        assert await anext(talking) == 0
        assert await talking.asend("one") == 1
        assert await talking.athrow(KeyError("k")) == 2
        await talking.aclose()

    asyncio.run(main())
    assert log == ["one", "KeyError('k')", "closed"]


def test_an_async_generator_that_fails_is_recorded_as_an_error():
    guard = Guardrail()

    @guard.verify
    async def rows(number):
        yield number
        raise ConnectionError("no route")

    async def main():
        for number in range(3):
            with pytest.raises(ConnectionError):
                _ = [item async for item in rows(number)]

    asyncio.run(main())
    assert guard.check("rows", {"number": 9}).reason == "loop.error"

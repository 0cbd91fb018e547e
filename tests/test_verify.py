"""`@guard.verify` on every kind of function: what it checks, what it records, and what it leaves alone."""

from __future__ import annotations

import asyncio
import functools
import inspect

import pytest

from microloop import BlockedCall, Guardrail, PolicyError, RunHalted

# Its own limits, so that tuning the named policies changes nothing here.
STRICT = {
    "version": 1,
    "loops": {"repeat": {"warn": 2, "block": 3, "halt": 5}, "error": {"warn": 3, "block": 8}, "text": {"warn": 3}},
}


def times(number, call):
    return [call() for _ in range(number)]


def test_a_function_runs_until_it_is_stuck():
    guard = Guardrail(STRICT)
    ran = []

    @guard.verify
    def search(q: str) -> str:
        ran.append(q)
        return "nothing found"

    assert times(2, lambda: search("cats")) == ["nothing found"] * 2
    with pytest.raises(BlockedCall) as refused:
        search("cats")
    assert ran == ["cats", "cats"]
    assert refused.value.verdict.reason == "loop.repeat"
    assert refused.value.verdict.evidence == (1, 2)
    assert str(refused.value) == refused.value.verdict.feedback


def test_a_run_that_goes_on_regardless_is_halted():
    guard = Guardrail(STRICT)

    @guard.verify
    def search(q):
        return "nothing found"

    times(2, lambda: search("cats"))
    for _ in range(2):
        with pytest.raises(BlockedCall):
            search("cats")
    for _ in range(2):
        with pytest.raises(RunHalted):
            search("cats")
    with pytest.raises(RunHalted):
        search("dogs")


def test_feedback_is_returned_where_the_user_wants_it_so_but_a_halt_is_raised():
    guard = Guardrail(STRICT, on_block="return")

    @guard.verify
    def search(q):
        return "nothing found"

    times(2, lambda: search("cats"))
    assert "refused" in search("cats")
    assert "refused" in search("cats")
    with pytest.raises(RunHalted):
        search("cats")


def test_a_changing_result_is_progress():
    guard = Guardrail(STRICT)
    counter = iter(range(100))

    @guard.verify
    def poll():
        return next(counter)

    assert times(20, poll) == list(range(20))


def test_defaults_and_keywords_make_the_same_call():
    guard = Guardrail(STRICT)

    @guard.verify
    def search(q, limit=10):
        return "nothing found"

    search("cats")
    search(q="cats", limit=10)
    with pytest.raises(BlockedCall):
        search("cats", 10)


def test_a_method_is_the_same_tool_on_every_instance():
    guard = Guardrail(STRICT)

    class Database:
        def __init__(self, rows):
            self.rows = rows

        @guard.verify
        def query(self, sql):
            return self.rows

    one, two = Database("one row"), Database("one row")
    assert one.query("select") == "one row"
    assert two.query("select") == "one row"
    with pytest.raises(BlockedCall):
        one.query("select")


@pytest.mark.parametrize("inside", [True, False], ids=["below", "above"])
@pytest.mark.parametrize("kind", [classmethod, staticmethod])
def test_class_and_static_methods_are_guarded_in_either_order(kind, inside):
    guard = Guardrail(STRICT)

    def of_class(cls, path):
        return f"{cls.__name__} {path}"

    def of_nothing(path):
        return f"Database {path}"

    of_class.__qualname__ = of_nothing.__qualname__ = "Database.connect"

    def decorate(function):
        return kind(guard.verify(function)) if inside else guard.verify(kind(function))

    class Database:
        connect = decorate(of_class if kind is classmethod else of_nothing)

    assert Database.connect("x.db") == "Database x.db"
    assert Database().connect("x.db") == "Database x.db"
    with pytest.raises(BlockedCall):
        Database.connect("x.db")


def test_a_coroutine_function_stays_one():
    guard = Guardrail(STRICT)

    @guard.verify
    async def search(q):
        await asyncio.sleep(0)
        return "nothing found"

    async def main():
        assert [await search("cats") for _ in range(2)] == ["nothing found"] * 2
        with pytest.raises(BlockedCall):
            await search("cats")

    assert inspect.iscoroutinefunction(search)
    asyncio.run(main())


def test_a_function_that_returns_a_coroutine_is_recorded_when_that_is_done():
    guard = Guardrail(STRICT)

    async def real(q):
        await asyncio.sleep(0)
        if q == "bad":
            raise ValueError(q)
        return "nothing found"

    @guard.verify
    def search(q):
        return real(q)

    async def main():
        assert [await search("cats") for _ in range(2)] == ["nothing found"] * 2
        with pytest.raises(BlockedCall):
            search("cats")
        with pytest.raises(ValueError, match="bad"):
            await search("bad")
        assert guard.check("search", {"q": "dogs"}).allowed

    asyncio.run(main())


def test_exceptions_pass_untouched_and_count_as_errors():
    guard = Guardrail()
    fault = ConnectionError("no route")

    @guard.verify
    def fetch(number):
        raise fault

    for number in range(3):
        with pytest.raises(ConnectionError) as raised:
            fetch(number)
        assert raised.value is fault
        assert raised.value.__context__ is None
    assert guard.check("fetch", {"number": 9}).reason == "loop.error"


@pytest.mark.parametrize("exit_", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_what_only_steers_the_program_is_no_outcome(exit_):
    guard = Guardrail(STRICT)

    @guard.verify
    def wait():
        raise exit_

    for _ in range(10):
        with pytest.raises(exit_):
            wait()
    assert guard.here().state()["refusals"] == 0


def test_a_cancelled_task_is_no_outcome():
    guard = Guardrail(STRICT)

    @guard.verify
    async def wait():
        await asyncio.Event().wait()

    async def main():
        for _ in range(5):
            task = asyncio.create_task(wait())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    assert guard.here().state()["refusals"] == 0


def test_a_result_is_the_very_same_object():
    guard = Guardrail()
    marker = object()
    assert guard.verify(lambda: marker)() is marker


def test_a_call_that_does_not_bind_raises_what_the_function_would_raise_and_is_no_step():
    guard = Guardrail()

    def search(q, *, limit):
        return q, limit

    with pytest.raises(TypeError) as own:
        search()
    with pytest.raises(TypeError) as guarded:
        guard.verify(search)()
    assert str(guarded.value) == str(own.value)
    assert guard.here().state()["steps"] == 0


def test_a_partial_is_guarded_with_what_it_holds():
    guard = Guardrail(STRICT)

    def search(q, limit):
        return f"{q} {limit}"

    partial = guard.verify(functools.partial(search, limit=3))
    assert partial("cats") == "cats 3"
    assert guard.coverage()[0].tool == "search"
    partial("cats")
    with pytest.raises(BlockedCall):
        partial("cats")


def test_a_partial_of_a_coroutine_function_stays_a_coroutine_function():
    async def search(q, limit):
        return f"{q} {limit}"

    guarded = Guardrail().verify(functools.partial(search, limit=3))
    assert inspect.iscoroutinefunction(guarded)
    assert asyncio.run(guarded("cats")) == "cats 3"


class Caller:
    """Finds things."""

    def __init__(self):
        self.secret = "s"

    def __call__(self, q: str) -> str:
        return f"found {q}"


class AsyncCaller:
    async def __call__(self, q):
        return f"found {q}"


def test_an_object_that_is_called_is_guarded_by_the_name_of_its_class():
    guard = Guardrail(STRICT)
    search = guard.verify(Caller())
    assert search("cats") == "found cats"
    assert guard.coverage()[0].tool == "Caller"
    assert search.__doc__ == "Finds things."
    assert not hasattr(search, "secret")
    assert str(inspect.signature(search)) == "(q: str) -> str"
    search("cats")
    with pytest.raises(BlockedCall):
        search("cats")


def test_an_object_that_is_awaited_stays_awaitable():
    search = Guardrail().verify(AsyncCaller())
    assert inspect.iscoroutinefunction(search)
    assert asyncio.run(search("cats")) == "found cats"


def test_a_bound_method_can_be_guarded():
    guard = Guardrail()
    search = guard.verify(Caller().__call__)
    assert search("cats") == "found cats"
    assert guard.verify([1, 2].index)(2) == 1


def test_a_function_written_in_c_can_be_guarded():
    guard = Guardrail(STRICT)
    largest = guard.verify(max)
    assert largest([3, 4], key=abs) == 4
    assert [largest(1, 2), largest(1, 2)] == [2, 2]
    with pytest.raises(BlockedCall):
        largest(1, 2)


@pytest.mark.parametrize(
    ("target", "advice"),
    [(int, "methods"), (property(lambda self: 1), "getter"), (5, "called"), ("text", "called")],
    ids=["class", "property", "number", "text"],
)
def test_what_cannot_be_guarded_says_so_when_it_is_decorated(target, advice):
    with pytest.raises(TypeError, match=advice):
        Guardrail().verify(target)


def test_a_function_guarded_twice_by_one_guard_counts_once():
    guard = Guardrail()

    @guard.verify
    @guard.verify
    def search(q):
        return "nothing found"

    assert guard.verify(search) is search
    search("cats")
    assert guard.here().state()["steps"] == 1


def test_a_guarded_function_under_another_decorator_counts_once():
    guard = Guardrail()

    def other(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        return wrapper

    guard.verify(other(guard.verify(lambda q: q)))("cats")
    assert guard.here().state()["steps"] == 1


def test_two_guards_each_have_their_say():
    one, two = Guardrail(), Guardrail()
    search = one.verify(two.verify(lambda q: q))
    search("cats")
    assert one.here().state()["steps"] == two.here().state()["steps"] == 1


def test_a_decorator_below_that_looks_at_keywords_still_sees_them():
    seen = []

    def log(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            seen.append((args, kwargs))
            return function(*args, **kwargs)

        return wrapper

    @Guardrail().verify
    @log
    def search(q, limit=10):
        return q

    search(q="cats")
    search("cats", 5)
    assert seen == [((), {"q": "cats"}), (("cats", 5), {})]


def test_a_name_and_a_schema_may_be_given():
    guard = Guardrail()

    @guard.verify(name="db.search", schema={"type": "object", "properties": {"q": {"maxLength": 4}}})
    def search(q: int):
        return q

    assert search("cats") == "cats"
    with pytest.raises(BlockedCall) as refused:
        search("too long")
    assert (refused.value.verdict.tool, refused.value.verdict.reason) == ("db.search", "args.schema")


def test_a_schema_that_cannot_be_used_says_so_when_the_function_is_decorated():
    for schema in ({"type": "nonsense"}, {"$ref": "https://example.com/schema"}):
        decorate = Guardrail().verify(name="search", schema=schema)
        with pytest.raises(PolicyError, match=r"search.*schema=False"):
            decorate(max)


def test_a_schema_may_be_done_without():
    @Guardrail().verify(schema=False)
    def search(q: int):
        return q

    assert search("cats") == "cats"


def test_the_schema_of_the_annotations_is_enforced():
    guard = Guardrail()

    @guard.verify
    def search(q: str, limit: int = 10):
        return q

    assert search("cats", 5) == "cats"
    with pytest.raises(BlockedCall) as refused:
        search("cats", "five")
    assert refused.value.verdict.reason == "args.schema"
    assert "integer" in refused.value.verdict.feedback

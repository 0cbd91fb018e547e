"""A decorated function looks, to whoever looks at it, like the function itself."""

from __future__ import annotations

import functools
import inspect
import pickle
import typing

import pytest

import tool_shapes
import tool_shapes_future
from microloop import Guardrail

GUARD = Guardrail()
SHAPES = [*tool_shapes.SHAPES, *tool_shapes_future.SHAPES]


@pytest.fixture(params=SHAPES, ids=lambda shape: f"{shape.__module__.removeprefix('tool_')}-{shape.__name__}")
def shape(request):
    return request.param


def test_its_kind_is_the_same_where_it_can_be(shape):
    guarded = GUARD.verify(shape)
    assert inspect.isfunction(guarded)
    assert inspect.iscoroutinefunction(guarded) is inspect.iscoroutinefunction(shape)


def test_its_name_text_and_place_are_the_same(shape):
    guarded = GUARD.verify(shape)
    for name in (
        "__name__",
        "__qualname__",
        "__doc__",
        "__module__",
        "__defaults__",
        "__kwdefaults__",
        "__type_params__",
    ):
        assert getattr(guarded, name, None) == getattr(shape, name, None)
    assert guarded.__wrapped__ is shape


def test_its_signature_has_the_same_parameters_and_annotations_as_objects(shape):
    guarded, own = inspect.signature(GUARD.verify(shape)), inspect.signature(shape, eval_str=True)
    assert guarded == own


def test_its_annotations_are_what_they_mean(shape):
    hints = typing.get_type_hints(shape, include_extras=True)
    guarded = GUARD.verify(shape)
    assert typing.get_type_hints(guarded, include_extras=True) == hints
    assert guarded.__annotations__ == hints


def test_its_own_parameter_list_is_the_same_without_following_the_wrapped_function(shape):
    assert inspect.getfullargspec(GUARD.verify(shape)).args == inspect.getfullargspec(shape).args
    code, own = GUARD.verify(shape).__code__, shape.__code__
    assert code.co_varnames[: code.co_argcount] == own.co_varnames[: own.co_argcount]


def test_names_of_its_annotations_are_found_in_its_globals(shape):
    assert GUARD.verify(shape).__globals__ is shape.__globals__


def test_its_source_is_its_own(shape):
    assert inspect.getsource(GUARD.verify(shape)) == inspect.getsource(shape)


def test_its_attributes_are_kept():
    def search(q):
        return q

    search.labels = ["a"]
    assert GUARD.verify(search).labels == ["a"]


def test_annotations_for_type_checkers_only_are_left_as_they_stand():
    guarded = GUARD.verify(tool_shapes_future.for_type_checkers)
    assert guarded.__annotations__ == {"amount": "Decimal", "return": "str"}
    assert guarded(1) == "1"


def test_a_method_is_bound_and_shows_no_self():
    class Database:
        @GUARD.verify
        def query(self, sql: str) -> str:
            """Runs a query."""
            return sql

    assert str(inspect.signature(Database().query)) == "(sql: str) -> str"
    assert inspect.ismethod(Database().query)


def test_a_guarded_function_of_a_module_can_be_pickled():
    assert pickle.loads(pickle.dumps(tool_shapes.guarded_search)) is tool_shapes.guarded_search


def test_a_parameter_may_have_any_name():
    def odd(session, data, len, check, error, result, __name, *args, str=1, **kwargs):  # noqa: A002
        return session, data, len, check, error, result, __name, args, str, kwargs

    call = functools.partial(GUARD.verify(odd), 1, 2, 3, 4, 5, 6, 7, 8, str=9, more=10)
    assert call() == (1, 2, 3, 4, 5, 6, 7, (8,), 9, {"more": 10})


def test_a_parameter_with_a_name_of_ours_is_no_harm():
    def odd(_microloop_data, _microloop_session=2):
        return _microloop_data, _microloop_session

    assert GUARD.verify(odd)(1) == (1, 2)


def test_a_module_may_call_its_own_things_len_and_exception():
    namespace = {"len": None, "Exception": None, "str": None, "BaseException": None}
    exec("def tool(q):\n    return q * 2\n", namespace)
    assert GUARD.verify(namespace["tool"])("ab") == "abab"
    assert "_microloop_make" not in namespace

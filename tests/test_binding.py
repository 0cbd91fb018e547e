"""The parameter list of a function, as text, and the arguments of a call."""

from __future__ import annotations

import functools
import inspect
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microloop.annotations import signature_of
from microloop.binding import bind_anything, compile_binder, parameters_of


def binder(function):
    signature = signature_of(function)
    return compile_binder(function, tuple(signature.parameters.values()), parameters_of(function, signature))


def every_kind(a, b=1, /, c=2, *rest, d, e="five", **more):
    return a, b, c, rest, d, e, more


def test_defaults_are_applied_and_names_are_kept():
    def search(query, limit=10, *, deep=False):
        return query, limit, deep

    assert binder(search)("cats", deep=True) == {"query": "cats", "limit": 10, "deep": True}


def test_a_default_is_the_same_object_whatever_it_is():
    marker = object()

    def search(query=marker, *, other=marker):
        return query, other

    bound = binder(search)()
    assert bound["query"] is marker
    assert bound["other"] is marker


def test_keywords_of_a_function_without_positional_only_parameters_are_spread_out():
    def search(query, **filters):
        return query, filters

    assert binder(search)("cats", colour="black") == {"query": "cats", "colour": "black"}


def test_a_keyword_cannot_hide_a_positional_only_parameter_of_its_name():
    def search(query, /, **filters):
        return query, filters

    assert binder(search)("DROP", query="harmless") == {"query": "DROP", "filters": {"query": "harmless"}}


def test_variadic_arguments_are_a_list_of_their_own():
    def add(*numbers):
        return sum(numbers)

    assert binder(add)(1, 2, 3) == {"numbers": (1, 2, 3)}


@pytest.mark.parametrize("call", [(), ("a",), ("a", "b", "c", "d")], ids=repr)
def test_what_does_not_bind_is_refused_in_the_words_of_the_function_itself(call):
    def search(query, *, limit):
        return query, limit

    with pytest.raises(TypeError) as own:
        search(*call)
    with pytest.raises(TypeError) as bound:
        binder(search)(*call)
    assert str(bound.value) == str(own.value)


def test_a_binder_knows_nothing_of_the_self_of_a_method():
    class Database:
        def query(self, sql):
            return sql

        @classmethod
        def open(cls, path):
            return path

    assert binder(Database.query)(Database(), "select 1") == {"sql": "select 1"}
    assert binder(Database.__dict__["open"].__func__)(Database, "x.db") == {"path": "x.db"}


def test_a_plain_function_may_have_an_argument_called_self():
    def greet(self):
        return self

    assert binder(greet)("me") == {"self": "me"}


def test_a_partial_is_bound_with_what_it_holds():
    def search(query, limit=10):
        return query, limit

    assert binder(functools.partial(search, limit=3))("cats") == {"query": "cats", "limit": 3}


def test_a_callee_without_a_signature_is_bound_as_it_is_called():
    assert signature_of(max) is None
    assert bind_anything(1, 2, x=3) == {"args": (1, 2), "x": 3}


@given(
    st.lists(st.integers(), min_size=1, max_size=5),
    st.dictionaries(st.sampled_from(["c", "d", "e", "f", "g"]), st.integers()),
)
def test_a_binder_accepts_exactly_what_the_function_accepts(args, kwargs):
    signature = inspect.signature(every_kind)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        with pytest.raises(TypeError):
            binder(every_kind)(*args, **kwargs)
        return
    bound.apply_defaults()
    assert binder(every_kind)(*args, **kwargs) == dict(bound.arguments)


class Context:
    """A user's own class with a name that frameworks use too."""


def test_a_users_own_context_is_an_argument_like_any_other():
    def tool(query: str, context: Context):
        return query, context

    assert [each.name for each in parameters_of(tool, signature_of(tool))] == ["query", "context"]


def test_callbacks_without_an_annotation_are_the_frameworks():
    def tool(query: str, callbacks=None, run_manager=None):
        return query, callbacks, run_manager

    assert [each.name for each in parameters_of(tool, signature_of(tool))] == ["query"]


def test_callbacks_of_a_type_of_the_users_are_arguments():
    def tool(callbacks: list[str]):
        return callbacks

    assert [each.name for each in parameters_of(tool, signature_of(tool))] == ["callbacks"]


def test_an_annotation_that_exists_for_type_checkers_only_is_left_as_it_stands():
    def tool(query: Missing, config: RunnableConfig | None = None):  # noqa: F821
        return query, config

    signature = signature_of(tool)
    assert signature.parameters["query"].annotation == "Missing"
    assert [each.name for each in parameters_of(tool, signature)] == ["query"]


def test_annotated_keeps_its_metadata_when_it_is_resolved():
    def tool(query: typing.Annotated[str, "what to look for"]):
        return query

    assert signature_of(tool).parameters["query"].annotation == typing.Annotated[str, "what to look for"]

"""JSON Schemas from annotations."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime as dt
import enum
import typing

import jsonschema
import pytest

from microloop import BlockedCall, Guardrail
from microloop.annotations import signature_of
from microloop.binding import parameters_of
from microloop.encoding import arguments_json
from microloop.schema_of import may_hold_null, schema_of


def schema(function):
    return schema_of(parameters_of(function, signature_of(function)))


def accepts(function, **arguments):
    return jsonschema.Draft202012Validator(schema(function)).is_valid(arguments)


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Unknown:
    pass


@dataclasses.dataclass
class Node:
    name: str
    children: list[Node] = dataclasses.field(default_factory=list)


def test_plain_types_are_what_json_has_for_them():
    def tool(text: str, count: int, share: float, yes: bool, names: list[str], table: dict[str, int]):  # noqa: FBT001
        return text, count, share, yes, names, table

    good = {"text": "a", "count": 1, "share": 1, "yes": True, "names": ["x"], "table": {"a": 1}}
    assert accepts(tool, **good)
    assert not accepts(tool, **{**good, "count": "1"})
    assert not accepts(tool, **{**good, "names": [1]})
    assert not accepts(tool, **{key: value for key, value in good.items() if key != "text"})
    assert not accepts(tool, **good, unknown=1)


def test_a_parameter_with_a_default_may_be_left_out():
    def tool(limit: int = 10):
        return limit

    assert accepts(tool)
    assert not accepts(tool, limit="ten")


def test_a_default_of_none_is_meant_even_if_the_annotation_forgets_it():
    def tool(limit: int = None):  # noqa: RUF013 - that is what is tested
        return limit

    assert accepts(tool, limit=None)
    assert not accepts(tool, limit="ten")


@pytest.mark.parametrize(
    "annotation",
    [Unknown, list[Unknown], collections.abc.Callable, typing.Any, collections.abc.Iterable[int], "Nowhere", 5],
    ids=str,
)
def test_what_no_schema_can_say_is_left_open(annotation):
    def tool(thing):
        return thing

    tool.__annotations__ = {"thing": annotation}
    assert accepts(tool, thing=["anything"])


def test_choices_and_recursive_types_are_held_to():
    def tool(level: Level, mode: typing.Literal["a", 1], node: Node):
        return level, mode, node

    good = {"level": "low", "mode": 1, "node": {"name": "x", "children": [{"name": "y"}]}}
    assert accepts(tool, **good)
    assert not accepts(tool, **{**good, "level": "middle"})
    assert not accepts(tool, **{**good, "node": {"children": [{"name": "y"}]}})


def test_two_types_of_one_name_do_not_take_each_others_place():
    first = dataclasses.make_dataclass("Item", [("number", int)])
    second = dataclasses.make_dataclass("Item", [("text", str)])

    def tool(a, b):
        return a, b

    tool.__annotations__ = {"a": first, "b": second}
    assert accepts(tool, a={"number": 1}, b={"text": "x"})
    assert not accepts(tool, a={"text": "x"}, b={"number": 1})


def test_a_function_with_keywords_takes_any_others():
    def tool(query: str, **filters: str):
        return query, filters

    assert accepts(tool, query="a", colour="black")


def test_pydantic_models_and_fields_speak_for_themselves():
    pydantic = pytest.importorskip("pydantic")

    class Inner(pydantic.BaseModel):
        n: int

    class Order(pydantic.BaseModel):
        number: int = pydantic.Field(ge=1)
        inner: Inner

    def tool(orders, limit):
        return orders, limit

    tool.__annotations__ = {"orders": list[Order], "limit": typing.Annotated[int, pydantic.Field(le=5)]}
    assert accepts(tool, orders=[{"number": 1, "inner": {"n": 2}}], limit=5)
    assert not accepts(tool, orders=[{"number": 0, "inner": {"n": 2}}], limit=5)
    assert not accepts(tool, orders=[{"number": 1, "inner": {"n": "x"}}], limit=5)
    assert not accepts(tool, orders=[], limit=6)


def test_what_a_function_is_called_with_fits_the_schema_made_from_it():
    def tool(node: Node, day: dt.datetime, level: Level, pair: tuple[int, str], blob: bytes):
        return node, day, level, pair, blob

    guard = Guardrail()
    guarded = guard.verify(tool)
    now = dt.datetime(2026, 1, 2, tzinfo=dt.timezone.utc)
    assert guarded(Node("a", [Node("b")]), now, Level.LOW, (1, "x"), b"\xff")[2] is Level.LOW


@pytest.mark.parametrize(
    ("annotation", "may"),
    [
        (str, False),
        (list[int], False),
        (dict[str, float], False),
        (typing.Literal["a"], False),
        (Node, True),
        ("int | None", True),
        (list[typing.Any], True),
        (dict, True),
        (typing.Any, True),
    ],
    ids=str,
)
def test_room_for_null_is_found_wherever_it_is(annotation, may):
    def tool(thing):
        return thing

    tool.__annotations__ = {"thing": annotation}
    made = schema(tool)
    # Unknown keys of a dataclass are open, so a Node has room for null.
    assert may_hold_null(made, made.get("$defs", {})) is may


@pytest.mark.parametrize("annotation", [float, list[float], float | None, dict], ids=str)
def test_nan_is_refused_whatever_the_schema_has_room_for(annotation):
    def tool(thing):
        return thing

    tool.__annotations__ = {"thing": annotation}
    inside = {float: float("nan"), list[float]: [float("nan")], dict: {"x": float("nan")}}
    guarded = Guardrail().verify(tool)
    with pytest.raises(BlockedCall) as refused:
        guarded(inside.get(annotation, float("nan")))
    assert refused.value.verdict.reason in {"args.malformed", "args.schema"}
    assert arguments_json({"thing": None}) == b'{"thing":null}'

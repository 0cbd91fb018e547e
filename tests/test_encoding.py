"""Python values as the JSON that the core reads."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import json
import math
import pathlib
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microloop import Guardrail
from microloop.encoding import JSON, TEXT, arguments_json, error_text, outcome_json, stable_repr

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class Text(str):
    __slots__ = ()


class Whole(int):
    pass


class Real(float):
    pass


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Stubborn:
    """Raises whatever one asks of it."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError("no")


class Array:
    """What numpy arrays and scalars look like from outside."""

    def __init__(self, values: list[float]) -> None:
        self.values = values

    def tolist(self) -> list[float]:
        return self.values


@given(st.dictionaries(st.text(), json_values))
def test_json_arguments_come_out_as_the_same_json(arguments):
    assert json.loads(arguments_json(arguments)) == arguments


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Text("a"), "a"),
        (Whole(3), 3),
        (Real(1.5), 1.5),
        (Colour.RED, "red"),
        (Point(1.0), {"x": 1.0, "y": 0.0}),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (decimal.Decimal("1.10"), "1.10"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (b"\xff", "/w=="),
        ({1: "one", (2, 3): "pair"}, {"1": "one", "(2, 3)": "pair"}),
        ((1, 2), [1, 2]),
        (range(3), [0, 1, 2]),
        (Array([1.0, 2.0]), [1.0, 2.0]),
        (ValueError("bad"), "ValueError: bad"),
        (Broken(), "<Broken>"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_values_have_one_obvious_form(value, written):
    assert json.loads(arguments_json({"value": value})) == {"value": written}


def test_a_set_is_a_list():
    assert sorted(json.loads(arguments_json({"value": {1, 2}}))["value"]) == [1, 2]


def test_an_object_is_shown_without_its_address():
    assert arguments_json({"value": object()}) == arguments_json({"value": object()})
    assert "0x" not in stable_repr(lambda: None)


@pytest.mark.parametrize("hidden", [math.nan, math.inf, -math.inf], ids=repr)
@pytest.mark.parametrize(
    "wrap",
    [
        lambda number: number,
        lambda number: [1, {"deep": number}],
        lambda number: (None, number),
        Point,
        lambda number: Array([number]),
        Real,
        lambda number: {"null": None, "x": number},
    ],
    ids=["bare", "nested", "beside null", "dataclass", "array", "subclass", "beside a key called null"],
)
def test_nan_never_becomes_null(hidden, wrap):
    with pytest.raises(ValueError, match=r"NaN|Infinity"):
        json.loads(arguments_json({"value": wrap(hidden), "other": None}), parse_constant=_refuse)


def _refuse(constant):
    raise ValueError(constant)


@pytest.mark.parametrize(
    "arguments",
    [
        {"x": math.nan},
        {"x": [math.inf]},
        {"x": "\ud800"},
        {"\ud800": 1},
        {"x": 2**64},
        {"x": -(2**80)},
    ],
    ids=["nan", "infinity", "surrogate", "surrogate key", "2^64", "-2^80"],
)
def test_the_core_refuses_what_json_cannot_say(arguments):
    verdict = Guardrail().check("tool", arguments)
    assert (verdict.action, verdict.reason) == ("block", "args.malformed")
    assert verdict.feedback


def test_arguments_nested_beyond_reason_are_refused():
    nested: list[object] = []
    for _ in range(10_000):
        nested = [nested]
    verdict = Guardrail().check("tool", {"x": nested})
    assert verdict.reason == "args.malformed"


def test_arguments_that_contain_themselves_are_refused():
    loop: list[object] = []
    loop.append(loop)
    assert Guardrail().check("tool", {"x": loop}).reason == "args.malformed"


def test_a_text_is_a_text_and_anything_else_is_json():
    assert outcome_json("three rows") == (TEXT, b"three rows")
    assert outcome_json(["a", None]) == (JSON, b'["a",null]')
    assert outcome_json(None) == (JSON, b"null")


@pytest.mark.parametrize(
    "value",
    ["\ud800", math.nan, Broken(), Stubborn(), {"\ud800": 1}, {(1, 2): Stubborn()}, [2**100], object(), type, ...],
    ids=lambda value: type(value).__name__,
)
def test_any_outcome_at_all_can_be_recorded(value):
    guard = Guardrail()
    guard.record(guard.check("tool", {}), value)
    assert guard.here().state()["steps"] == 1


def test_an_outcome_nested_beyond_reason_can_be_recorded():
    nested: list[object] = []
    for _ in range(10_000):
        nested = [nested]
    guard = Guardrail()
    guard.record(guard.check("tool", {}), nested)
    assert guard.here().state()["steps"] == 1


def test_an_error_is_its_class_and_what_it_says():
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert error_text(KeyError("user")) == "KeyError: 'user'"
    assert error_text(Odd()).startswith("Odd: ")


def test_a_pydantic_model_is_what_it_was_made_from():
    pydantic = pytest.importorskip("pydantic")

    class Order(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid")
        number: int = pydantic.Field(alias="no")
        day: dt.date

        @pydantic.computed_field
        @property
        def twice(self) -> int:
            return 2 * self.number

    order = Order(no=3, day=dt.date(2026, 1, 2))
    written = json.loads(arguments_json({"order": order}))["order"]
    assert written == {"no": 3, "day": "2026-01-02"}
    assert Order(**written) == order

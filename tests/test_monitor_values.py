"""The monitor takes any value and raises on none."""

from __future__ import annotations

import dataclasses
import decimal
import fractions
import math
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microloop import Decision, Monitor, Status


class Broken:
    def __repr__(self):
        raise RuntimeError("no text for you")

    __str__ = __repr__


class Hostile(dict):
    def items(self):
        raise RuntimeError("no items for you")

    def get(self, key, default=None):
        raise RuntimeError("nothing to get")


class Closed(Mapping):
    """A mapping that says nothing of what it holds."""

    def __getitem__(self, key):
        raise RuntimeError("nothing here")

    __iter__ = __len__ = __getitem__


class Number:
    def __float__(self):
        raise RuntimeError("no number for you")


@dataclasses.dataclass
class Step:
    name: str
    parts: list


@dataclasses.dataclass
class Score:
    """A number that is written as an object."""

    points: int

    def __float__(self):
        return float(self.points)


class Whole(int):
    """As the whole numbers of other libraries are: no plain `int`."""


def cyclic():
    value = {"a": 1}
    value["left"] = value["right"] = value
    return value


def deep():
    value = []
    for _ in range(100_000):
        value = [value]
    return value


ODD = [
    None,
    True,
    math.nan,
    -math.inf,
    10**400,
    10**5000,
    b"\xff\xfe",
    bytearray(b"x"),
    "\ud800",
    {"\udfff": "\ud800"},
    {1: 2, (3, 4): 5},
    {Broken(): Broken()},
    Broken(),
    Hostile(a=1),
    Closed(),
    Number(),
    object(),
    Step("a", [1, Broken()]),
    Path("a"),
    re.compile("x"),
    range(10**9),
    {1, "a", None},
    iter([1]),
    lambda: None,
    int,
    ValueError("x"),
    {"tool": "", "arguments": {}},
    {"tool": "\ud800", "arguments": {"a": math.nan}},
    {"tool": "x" * 10_000, "arguments": "{cut off"},
    {"name": "x", "args": Broken()},
]


@pytest.mark.parametrize("value", [*ODD, cyclic(), deep()], ids=lambda value: type(value).__name__)
def test_an_odd_value_is_taken_wherever_it_stands(value):
    monitor = Monitor()
    for given_ in (
        {"action": value},
        {"action": "a", "observation": value},
        {"action": "a", "state": value},
        {"action": "a", "metrics": value},
        {"action": "a", "metadata": value},
        {
            "action": "a",
            "metrics": {"failures": value, "exit_code": value, "score": value, "success": value, "x": value},
        },
        {"action": "a", "metadata": {"verifier": value, "verification_id": value, "error": value}},
    ):
        decision = monitor.observe(**given_)
        assert isinstance(decision, Decision)
        assert decision.unread != ("step",), given_
    assert monitor.latest.step == 7


@pytest.mark.parametrize(
    ("given_", "unread"),
    [
        ({"action": "a\ud800"}, ("action",)),
        ({"action": cyclic()}, ("action",)),
        ({"observation": "a\ud800"}, ("observation",)),
        ({"observation": deep()}, ("observation",)),
        ({"metrics": 7}, ("metrics",)),
        (
            {"metrics": {"failures": math.nan, "speed": "fast", 3: None}},
            ("metrics.failures", "metrics.speed", "metrics.3"),
        ),
        ({"metrics": Closed()}, ("metrics",)),
        ({"metrics": Hostile(a=1)}, ()),
        ({"metadata": "unit"}, ("metadata",)),
        ({"metadata": Closed()}, ("metadata",)),
        ({"metrics": {"failures": 10**400}, "metadata": {1: 2}}, ("metrics.failures",)),
        ({"metrics": {"1": 3, 1: 4}}, ()),
        ({"metrics": {"failures": Score(3)}}, ("metrics",)),
        ({"metrics": {"rows": decimal.Decimal("1.5"), "part": fractions.Fraction(1, 2)}}, ()),
        ({"metrics": {"failures": 3}, "metadata": {"verifier": 7}}, ()),
    ],
)
def test_what_could_not_be_read_as_it_is_is_named(given_, unread):
    assert Monitor().observe(**{"action": "a", "observation": "b", **given_}).unread == unread


def test_what_cannot_be_read_is_still_told_apart():
    monitor = Monitor()
    assert {str(monitor.observe({"n": n, "x": "\ud800"}, f"{n}").status) for n in range(9)} == {"healthy"}
    assert [str(monitor.observe({"x": "\ud800"}, "the same").status) for _ in range(9)][-1] == "stalled"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()) | st.integers(), inner) | st.tuples(inner),
    max_leaves=20,
)
texts = st.text(st.characters())
numbers = st.dictionaries(st.sampled_from(["failures", "exit_code", "score", "success", "rows"]), values)
about = st.dictionaries(st.sampled_from(["verifier", "verification_id", "error", "other"]), values)


@settings(deadline=None)
@given(st.lists(st.tuples(values, values, values, numbers | values, about | values), max_size=8))
def test_any_run_of_any_values_gets_a_decision_for_each_step(steps):
    monitor = Monitor()
    for number, (action, observation, state, metrics, metadata) in enumerate(steps, 1):
        decision = monitor.observe(action, observation, state=state, metrics=metrics, metadata=metadata)
        assert decision.step == number
        assert (decision.status is Status.HEALTHY) == (decision.feedback == "")


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.data())
def test_a_text_may_be_cut_anywhere_even_within_a_character(text, data):
    encoded = text.encode()
    end = data.draw(st.integers(0, len(encoded)))
    assert Monitor().observe("cat", encoded[:end]).step == 1
    assert Monitor().observe(encoded[:end], encoded[end:]).step == 1


@pytest.mark.parametrize("size", [100_000_000, 3])
def test_a_very_long_output_is_judged_as_a_whole(size):
    monitor, text = Monitor(), "é" * (size // 2)
    assert {str(monitor.observe("cat log", f"{text}{n}").status) for n in range(4)} == {"healthy"}
    assert [str(monitor.observe("cat log", text).status) for _ in range(3)] == ["healthy", "healthy", "warning"]


def test_a_very_long_action_is_compared_as_a_whole():
    monitor, text = Monitor(), "x" * 20_000_000
    assert {str(monitor.observe(f"{text}{n}", f"output {n}").status) for n in range(6)} == {"healthy"}


def test_tools_without_end_are_taken():
    monitor = Monitor()
    steps = [monitor.observe({"tool": f"tool_{n}", "arguments": {}}, f"output {n}") for n in range(5_000)]
    assert not any(step.unread for step in steps)
    assert monitor.latest.step == 5_000


def test_whole_numbers_of_other_kinds_keep_all_their_digits():
    monitor = Monitor()
    for number, failures in ((2**60 + 1, 5), (2**60 + 2, 3)):
        metadata = {"verifier": "unit", "verification_id": Whole(number)}
        decision = monitor.observe("make test", f"run {number}", metrics={"failures": failures}, metadata=metadata)
    assert decision.verified_progress

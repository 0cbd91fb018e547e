"""Random policies and random traces, for hypothesis.

Few tools, few arguments, few outcomes, so that they meet again; and the steps of a trace are drawn from a small pool of
its own, so that sequences come round.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from oracle.expectations import Trace

TOOLS = [
    {"match": "look", "effect": "read"},
    {"match": "put", "effect": "write"},
    {"match": "keep", "effect": "idempotent"},
    {"match": "mystery"},
    {"match": "poll", "effect": "read", "poll": {"deadline": "20s", "interval": "2s"}},
    {"match": "noisy", "effect": "read", "volatile": ["q"]},
    {"match": "keyed", "loop_key": ["n"]},
    {"match": "paged", "effect": "read", "cursor": ["ref"]},
    {"match": "form", "arguments": {"type": "object", "required": ["q"], "properties": {"q": {"type": "string"}}}},
    {"match": "ruled", "rules": [{"id": "no-two", "path": "n", "deny": {"equals": 2}}]},
    {"match": "asked", "rules": [{"id": "ask-two", "path": "n", "ask": {"equals": 2}}]},
]
NAMES = [tool["match"] for tool in TOOLS]

ARGUMENTS: list[Any] = [
    {},
    {"n": 1},
    {"n": 2},
    {"q": "red fox"},
    {"q": "fox red"},
    {"q": "the red fox"},
    {"q": "red fox", "n": 1},
    {"q": "red fox", "ref": "a"},
    {"q": "red fox", "ref": "b"},
    {"q": "fox red", "ref": "c"},
    '{"n": 1.0}',
    '{"n": ',
]

OUTCOMES: list[dict[str, Any]] = [
    {"result": "alpha"},
    {"result": "beta"},
    {"result": ""},
    {"result": "No results found."},
    {"result": True},
    {"result": []},
    {"error": "Broken: part 1"},
    {"error": "Broken: part 2"},
    {"error": "Lost: the way"},
]

SPEECH = ["", "so be it", "well then"]


@st.composite
def levels(draw: st.DrawFn, least: int = 2, names: tuple[str, ...] = ("warn", "block", "halt")) -> dict[str, int]:
    """Some of the levels, each higher than the one before."""
    chosen: dict[str, int] = {}
    for name in names:
        if draw(st.booleans()):
            least = chosen[name] = draw(st.integers(least, least + 3))
            least += 1
    return chosen


@st.composite
def loops(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {"scope": draw(st.sampled_from(["turn", "turn", "session"])), "learned": ["ref"]}
    for detector in ("repeat", "write", "cycle", "error", "retry", "near", "text"):
        if draw(st.booleans()):
            found[detector] = draw(levels(3 if detector in ("near", "cycle") else 2))
    for detector, one in (("stall", "warn"), ("recur", "warn"), ("refused", "halt")):
        if draw(st.booleans()):
            found[detector] = {one: draw(st.integers(2, 6))}
    if draw(st.booleans()):
        found["invalid"] = draw(levels(2, ("block", "halt")))
    if draw(st.booleans()):
        found.setdefault("retry", {})["backoff"] = {"base": "1s", "factor": 2, "max": "3s"}
    return found


@st.composite
def policies(draw: st.DrawFn) -> dict[str, Any]:
    """A resolved policy document."""
    policy: dict[str, Any] = {"version": 1, "name": "trace-random", "loops": draw(loops())}
    tools = [dict(tool) for tool in TOOLS]
    if draw(st.booleans()):
        tools[draw(st.integers(0, len(tools) - 1))]["limit"] = {"calls": draw(st.integers(1, 6))}
    if draw(st.booleans()):
        tools[draw(st.integers(0, len(tools) - 1))].setdefault("limit", {})["per_minute"] = draw(st.integers(1, 4))
    budgets = {"calls": st.integers(5, 30), "per_minute": st.integers(3, 15), "wall_time": st.just("90s")}
    if draw(st.integers(0, 3)) == 0:
        policy["budgets"] = {name: draw(values) for name, values in budgets.items() if draw(st.booleans())}
    return {**policy, "tools": tools}


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    step = {"tool": draw(st.sampled_from(NAMES)), "args": draw(st.sampled_from(ARGUMENTS))}
    return {**step, **draw(st.sampled_from(OUTCOMES))}


def turns() -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(st.just({"user": "go on"}), st.sampled_from([{"assistant": text} for text in SPEECH]))


@st.composite
def steps(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Steps out of a small pool, some with the time, an id, a batch, or another outcome."""
    pool = draw(st.lists(calls(), min_size=1, max_size=5))
    if draw(st.booleans()):
        pool += draw(st.lists(turns(), min_size=1, max_size=2))
    order = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=40))
    marks = draw(st.sampled_from(["none", "time", "ids", "batch", "outcome"]))
    return marked(order, marks, draw(st.lists(st.integers(0, 3), min_size=len(order), max_size=len(order))))


def marked(order: list[dict[str, Any]], marks: str, numbers: list[int]) -> list[dict[str, Any]]:
    """`numbers` says which time passes, which id, which batch, or which outcome."""
    now, found = 0, []
    for step, number in zip(order, numbers, strict=True):
        now += (0, 500, 2500, 31_000)[number]
        found.append(mark(step, marks, number, now))
    return found


def mark(step: dict[str, Any], marks: str, number: int, now: int) -> dict[str, Any]:
    if "tool" not in step or marks == "none":
        return {**step, **({"at": now} if marks == "time" else {})}
    if marks == "time":
        return {**step, "at": now}
    if marks == "ids":
        return {**step, "call_id": f"call-{number}"}
    if marks == "batch":
        return {**step, "batch": f"turn-{now // 1000}"}
    return {"tool": step["tool"], "args": step["args"], **OUTCOMES[number]} if number < 2 else step


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """A policy that names only the tools of the trace, so that a counterexample is short to read."""
    policy, order = draw(policies()), draw(steps())
    used = {step.get("tool") for step in order}
    tools = [tool for tool in policy["tools"] if tool["match"] in used]
    return {"name": "Random.", "source": "hypothesis", "policy": {**policy, "tools": tools}, "steps": order}

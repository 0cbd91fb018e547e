"""Random policies, for hypothesis: a fixed set of tools, and a few detectors with low levels."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

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
# The plain tools come up more often than the special ones.
NAMES = [tool["match"] for tool in TOOLS] + ["look", "look", "put", "mystery", "mystery"]
LEVELS = ("warn", "block", "halt")
DETECTORS = {
    "repeat": (2, LEVELS),
    "write": (2, LEVELS),
    "cycle": (3, LEVELS),
    "error": (2, LEVELS),
    "retry": (2, LEVELS),
    "near": (3, LEVELS),
    "text": (2, LEVELS),
    "stall": (2, ("warn",)),
    "recur": (2, ("warn",)),
    "refused": (2, ("halt",)),
    "invalid": (2, ("block", "halt")),
}
BUDGETS = {
    "calls": st.integers(5, 30),
    "per_minute": st.integers(3, 15),
    "wall_time": st.just("90s"),
    "tokens": st.integers(1, 60),
    "usd": st.sampled_from([0.01, 0.07, 0.29, 0.5]),
    "wrap_up": st.sampled_from([0, 0.07, 0.1, 0.29, 0.5]),
}


@st.composite
def levels(draw: st.DrawFn, least: int, names: tuple[str, ...]) -> dict[str, int]:
    """One or more of the levels, each higher than the one before."""
    chosen = draw(st.sets(st.sampled_from(names), min_size=1))
    found: dict[str, int] = {}
    for name in names:
        if name in chosen:
            found[name] = draw(st.integers(least, least + 2))
            least = found[name] + 1
    return found


@st.composite
def loops(draw: st.DrawFn, always: tuple[str, ...] = ()) -> dict[str, Any]:
    found: dict[str, Any] = {"scope": draw(st.sampled_from(["turn", "turn", "session"])), "learned": ["ref"]}
    some = st.lists(st.sampled_from(sorted(DETECTORS)), min_size=0 if always else 1, max_size=3, unique=True)
    for detector in dict.fromkeys([*always, *draw(some)]):
        found[detector] = draw(levels(*DETECTORS[detector]))
    if "retry" in found and draw(st.booleans()):
        found["retry"]["backoff"] = {"base": "1s", "factor": 2, "max": "3s"}
    return found


@st.composite
def policies(draw: st.DrawFn, always: tuple[str, ...] = (), budgets: tuple[str, ...] = ()) -> dict[str, Any]:
    """A resolved policy document, with the detectors and budgets that are always there and a few others."""
    policy: dict[str, Any] = {"version": 1, "name": "trace-random", "loops": draw(loops(always))}
    tools = [dict(tool) for tool in TOOLS]
    limits = {"calls": st.integers(1, 6), "per_minute": st.integers(1, 4)}
    if draw(st.integers(0, 3)) == 0:
        limit = draw(st.sampled_from(sorted(limits)))
        tools[draw(st.integers(0, len(tools) - 1))]["limit"] = {limit: draw(limits[limit])}
    if budgets or draw(st.integers(0, 3)) == 0:
        chosen = [name for name in BUDGETS if name in budgets or draw(st.booleans())]
        policy["budgets"] = {name: draw(BUDGETS[name]) for name in chosen}
    return {**policy, "tools": tools}

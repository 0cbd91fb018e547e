"""Random policies and random traces, for hypothesis.

Purely random steps never loop. So each trace has few tools, arguments of one family, few outcomes, and stretches of
steps that come round; and each policy has a few detectors only, so that one does not hide the others.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from oracle.expectations import Trace
from oracle.random_policies import NAMES, policies

Step = dict[str, Any]

FAMILIES: dict[str, list[Any]] = {
    "plain": [{}, {"n": 1}, {"n": 2}, '{"n": 1.0}', {"n": 3}],
    "reworded": [{"q": q} for q in ("red fox", "fox red", "the red fox", "fox the red", "a red fox", "blue whale")],
    "swept": [{"day": f"2024-05-0{day}", "of": "the same old month"} for day in range(1, 7)],
    "partly": [{"city": city, "of": "all that stays as it is"} for city in ("Oslo", "Rome", "Riga", "Bern", "Kyiv")],
    "volatile": [{"q": "red fox", "ref": ref} for ref in "abcd"] + [{"q": "red fox"}, {"q": "blue whale", "ref": "a"}],
    "broken": ['{"n": ', '{"n"', {"n": 1}, {"q": 5}, {"q": "red fox"}],
}
EVERY = [arguments for family in FAMILIES.values() for arguments in family]

OUTCOMES: list[Step] = [
    {"result": "alpha"},
    {"result": "beta"},
    {"result": ""},
    {"result": "No results found."},
    {"result": True},
    {"result": []},
    {"result": None},
    {"error": "Broken: part 1"},
    {"error": "Broken: part 2"},
    {"error": "Lost: the way"},
]
ERRORS = [outcome for outcome in OUTCOMES if "error" in outcome]
SPENDING = [
    {},
    *({"tokens": n} for n in (1, 4, 9, 20)),
    *({"usd": n} for n in (0.01, 0.035, 0.1)),
    {"tokens": 3, "usd": 0.02},
]
SPEECH = ["", "so be it", "well then"]
STRAY = {"tool": "mystery", "args": {"stray": True}, "result": "a stray"}
MOST_STEPS = 60


@st.composite
def pools(draw: st.DrawFn) -> list[Step]:
    """The few steps that a trace is made of."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2))
    family = draw(st.sampled_from([*FAMILIES.values(), EVERY]))
    kinds = draw(st.lists(st.sampled_from(draw(st.sampled_from([OUTCOMES, ERRORS]))), min_size=1, max_size=2))
    call = st.builds(
        lambda tool, args, outcome: {"tool": tool, "args": args, **outcome},
        st.sampled_from(names),
        st.sampled_from(family),
        st.sampled_from(kinds),
    )
    return draw(st.lists(call, min_size=1, max_size=6))


def turns() -> st.SearchStrategy[Step]:
    return st.sampled_from([{"user": "go on"}, *({"assistant": text} for text in SPEECH)])


@st.composite
def stretches(draw: st.DrawFn) -> list[Step]:
    """Some steps, several times over, again and again."""
    pool = draw(pools())
    if draw(st.integers(0, 3)) == 0:
        pool = [*pool, *draw(st.lists(turns(), min_size=1, max_size=2))]
    motif = st.lists(st.sampled_from(pool), min_size=1, max_size=4)
    order: list[Step] = []
    for steps, times in draw(st.lists(st.tuples(motif, st.integers(1, 6)), min_size=1, max_size=6)):
        order += steps * times
    return order[:MOST_STEPS]


@st.composite
def rounds(draw: st.DrawFn) -> list[Step]:
    """Different calls of one period, round after round."""
    period, tool = draw(st.integers(2, 17)), draw(st.sampled_from(["look", "mystery", "put"]))
    round_ = [{"tool": tool, "args": {"n": n}, "result": f"answer {'abcdefghijklmnopq'[n]}"} for n in range(period)]
    return (round_ * 8)[: draw(st.integers(2 * period, MOST_STEPS + 10))]


@st.composite
def rewordings(draw: st.DrawFn) -> list[Step]:
    """One tool, other arguments each time, one outcome or nearly so."""
    tool = draw(st.sampled_from(["look", "look", "mystery", "put", "paged"]))
    family = FAMILIES[draw(st.sampled_from(["reworded", "reworded", "swept", "partly", "volatile"]))]
    usual, steady = draw(st.sampled_from(OUTCOMES[:7])), draw(st.booleans())
    found = []
    for args in draw(st.lists(st.sampled_from(family), min_size=6, max_size=15)):
        outcome = usual if steady or draw(st.integers(0, 7)) else draw(st.sampled_from(OUTCOMES))
        found.append({"tool": tool, "args": args, **outcome})
    return found


@st.composite
def failures(draw: st.DrawFn) -> list[Step]:
    """Calls that fail in nearly the same way; now and then something new is done, or the call succeeds."""
    family = draw(st.sampled_from([[{"n": 1}], [{"n": 1}, {"n": 2}], FAMILIES["plain"]]))
    tool = draw(st.sampled_from(["look", "put", "mystery"]))
    found: list[Step] = []
    for k in range(draw(st.integers(4, 20))):
        kind = draw(st.sampled_from(["fail", "fail", "fail", "fail", "work", "succeed", "user"]))
        call = {"tool": tool, "args": draw(st.sampled_from(family))}
        found.append(
            {
                "fail": {**call, **draw(st.sampled_from(ERRORS))},
                "work": {"tool": "mystery", "args": {"work": k}, "result": f"piece {'abcdefghijklmnopqrst'[k]}"},
                "succeed": {**call, "result": "alpha"},
                "user": {"user": "go on"},
            }[kind]
        )
    return found


@st.composite
def returns(draw: st.DrawFn) -> list[Step]:
    """One call again and again; in between the world changes, or may have changed, or was meant to."""
    tool = draw(st.sampled_from(["look", "look", "mystery", "put", "poll"]))
    again = {"tool": tool, "args": {"n": 1}, **draw(st.sampled_from(OUTCOMES))}
    work = st.builds(
        lambda name, n, outcome: {"tool": name, "args": {"work": n}, **outcome},
        st.sampled_from(["put", "keep", "mystery"]),
        st.integers(0, 3),
        st.sampled_from([OUTCOMES[0], OUTCOMES[0], ERRORS[0]]),
    )
    motif = st.one_of(st.just([again]), st.just([again] * 3), work.map(lambda step: [step]))
    return [step for part in draw(st.lists(motif, min_size=3, max_size=16)) for step in part]


@st.composite
def mistakes(draw: st.DrawFn) -> list[Step]:
    """Arguments that do not fit the schema, in one way or another."""
    args = st.sampled_from(FAMILIES["broken"])
    return [{"tool": "form", "args": each, "result": "alpha"} for each in draw(st.lists(args, min_size=2, max_size=12))]


@st.composite
def talk(draw: st.DrawFn) -> list[Step]:
    """More turns than calls."""
    call = {"tool": "look", "args": {}, "result": "alpha"}
    said = st.sampled_from([*({"assistant": text} for text in SPEECH), *({"assistant": ""},) * 2, call])
    return draw(st.lists(said, min_size=2, max_size=15))


@st.composite
def expenses(draw: st.DrawFn) -> list[Step]:
    """Calls, and what they cost; more than one call is asked for at once."""
    pool = draw(pools())
    calls = st.lists(st.sampled_from([*pool, *pool, {"user": "go on"}]), min_size=1, max_size=4)
    spent = st.sampled_from(SPENDING).map(lambda amounts: {"spend": amounts})
    parts = draw(st.lists(st.tuples(spent, calls), min_size=3, max_size=15))
    return [step for cost, asked in parts for step in (cost, *asked)][:MOST_STEPS]


@st.composite
def steps(draw: st.DrawFn, order: list[Step]) -> list[Step]:
    """In one trace of three a few stray calls, other outcomes, or user turns fall in somewhere."""
    order = list(order)
    if draw(st.integers(0, 2)) == 0:
        other = st.sampled_from(OUTCOMES).map(lambda outcome: {"tool": "look", "args": {"n": 1}, **outcome})
        strays = st.one_of(st.just(STRAY), other, turns())
        for place, stray in draw(st.lists(st.tuples(st.integers(0, len(order)), strays), min_size=1, max_size=4)):
            order.insert(place, stray)
    marks = draw(st.sampled_from(["none", "none", "time", "time", "ids", "batch", "outcome"]))
    numbers = draw(st.lists(st.integers(0, 4), min_size=len(order), max_size=len(order)))
    return marked(order, marks, numbers)


def marked(order: list[Step], marks: str, numbers: list[int]) -> list[Step]:
    """`numbers` says how much time passes, or which id, which batch, which outcome a step has."""
    now, found = 0, []
    for step, number in zip(order, numbers, strict=True):
        now += (0, 500, 1500, 2500, 31_000)[number]
        found.append(mark(step, marks, number, now))
    return found


def mark(step: Step, marks: str, number: int, now: int) -> Step:
    if marks == "time":
        return {**step, "at": now}
    if "tool" not in step or marks == "none":
        return step
    if marks == "ids":
        return {**step, "call_id": f"call-{number}"}
    if marks == "batch":
        return {**step, "batch": f"turn-{now // 1000}"}
    return step if number else {"tool": step["tool"], "args": step["args"], **OUTCOMES[now % len(OUTCOMES)]}


# What a trace is about, and the detectors that must be there for it.
THEMES: list[tuple[st.SearchStrategy[list[Step]], tuple[str, ...]]] = [
    (stretches(), ()),
    (stretches(), ("repeat",)),
    (stretches(), ("write", "repeat")),
    (stretches(), ("near",)),
    (returns(), ("repeat",)),
    (returns(), ("repeat", "recur")),
    (returns(), ("retry", "error")),
    (rounds(), ("cycle",)),
    (rewordings(), ("near",)),
    (rewordings(), ("stall",)),
    (failures(), ("error",)),
    (failures(), ("retry",)),
    (mistakes(), ("invalid",)),
    (talk(), ("text",)),
    (expenses(), ("refused",)),
    (expenses(), ()),
]


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """A policy that names only the tools of the trace, so that a counterexample is short to read."""
    happenings, detectors = draw(st.sampled_from(THEMES))
    order = draw(steps(draw(happenings)))
    spends = any("spend" in step for step in order)
    limited = st.sampled_from([("tokens",), ("usd",), ("tokens", "usd")]) if spends else st.just(())
    policy = draw(policies(detectors, draw(limited)))
    used = {step.get("tool") for step in order}
    tools = [tool for tool in policy["tools"] if tool["match"] in used]
    return {"name": "Random.", "source": "hypothesis", "policy": {**policy, "tools": tools}, "steps": order}

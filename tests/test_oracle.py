"""The core against the slow oracle, on random traces."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from microloop import Guardrail, Policy
from oracle import Session, replay, through_python
from oracle.expectations import known_to_the_oracle, read_all
from oracle.random_policies import policies
from oracle.random_traces import SPENDING, pools, traces

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
many = settings(deadline=None, suppress_health_check=SLOW, max_examples=settings().max_examples * 4)
some = settings(deadline=None, suppress_health_check=SLOW)


def disagreement(core, oracle):
    """What differs, where the contract defines it: None on the oracle's side is left open."""
    fields = ("action", "reason", "limit", "seen", "evidence")
    pairs = {field: (getattr(core, field), getattr(oracle, field)) for field in fields}
    return {field: pair for field, pair in pairs.items() if pair[1] is not None and pair[0] != pair[1]}


def as_trace(trace, answers):
    """The trace with what the oracle says, to be pasted into tests/traces."""
    said = [
        {**step, **({"expect": answer.action, "reason": answer.reason} if answer is not None else {})}
        for step, answer in zip(trace["steps"], answers, strict=False)
    ]
    head = ",\n".join(f'  "{key}": {json.dumps(trace[key])}' for key in ("name", "source", "policy"))
    body = ",\n".join(f"    {json.dumps(step)}" for step in said)
    return f'{{\n{head},\n  "steps": [\n{body}\n  ]\n}}'


def first_difference(trace, core, oracle):
    for number, (mine, other) in enumerate(zip(core, oracle, strict=True), 1):
        different = {} if mine is None or other is None else disagreement(mine, other)
        if different:
            shown = {**trace, "steps": trace["steps"][:number]}
            return f"step {number}: (core, oracle) {different}\n{as_trace(shown, oracle)}"
    return None


@many
@given(traces())
def test_core_and_oracle_agree_on_random_traces(trace):
    core, oracle = through_python.play(trace), replay.play(trace, trace["policy"])
    difference = first_difference(trace, core, oracle)
    assert difference is None, difference


def test_core_and_oracle_agree_on_the_committed_traces():
    differences = []
    for name, trace in filter(lambda each: known_to_the_oracle(each[1]), read_all()):
        document = Policy.load(trace["policy"]).document
        difference = first_difference(trace, through_python.play(trace), replay.play(trace, document))
        differences += [f"{name}\n{difference}"] if difference else []
    assert not differences, "\n".join(differences)


ends = st.tuples(st.just("record"), st.integers(0, 5))
others = st.one_of(
    st.tuples(st.just("cancel"), st.integers(0, 5)),
    st.tuples(st.just("user"), st.just(0)),
    st.tuples(st.just("spend"), st.sampled_from(SPENDING)),
)


@st.composite
def overlapping(draw):
    """Calls that are under way at the same time, and come back in any order or not at all."""
    calls = st.tuples(st.just("check"), st.sampled_from(draw(pools())))
    rarely = st.integers(0, 9).flatmap(lambda n: others if n == 0 else ends)
    motif = st.lists(st.one_of(calls, calls, rarely), min_size=1, max_size=6)
    parts = draw(st.lists(st.tuples(motif, st.integers(1, 5)), max_size=5))
    return [each for part, times in parts for each in part * times]


@some
@given(policies(), overlapping())
def test_core_and_oracle_agree_on_calls_that_overlap(policy, happenings):
    core, oracle = Guardrail(policy=policy).session(), Session(policy)
    core.set_time(0)
    under_way, said = [], []
    for what, more in happenings:
        if what == "check":
            mine, other = core.check(more["tool"], more["args"]), oracle.check(more["tool"], more["args"])
            said.append(("check", more, other.action, other.reason))
            different = disagreement(mine, other)
            assert not different, f"(core, oracle) {different} after {said}"
            under_way += [(mine, other.step, more)] if other.runs else []
        elif what == "spend":
            said.append((what, more))
            different = disagreement(core.spend(**more), oracle.spend(**more))
            assert not different, f"(core, oracle) {different} after {said}"
        elif what == "user":
            said.append(("user",))
            core.user_turn()
            oracle.user_turn()
        elif under_way:
            said.append((what, more % len(under_way)))
            finish(core, oracle, what, *under_way.pop(more % len(under_way)))
    core.close()


def finish(core, oracle, what, verdict, step, outcome):
    if what == "cancel":
        core.cancel(verdict)
        oracle.cancel(step)
    elif "error" in outcome:
        core.record(verdict, error=outcome["error"])
        oracle.record(step, outcome["error"], failed=True)
    else:
        core.record(verdict, outcome["result"])
        oracle.record(step, replay.text_of(outcome["result"]))

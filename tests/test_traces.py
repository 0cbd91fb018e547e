"""The committed traces, through the Python package and through the oracle."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import jsonschema
import pytest

import microloop.traces
from oracle import replay
from oracle.expectations import known_to_the_oracle, problems, read_all
from oracle.through_python import play
from traces.resolve_policies import POLICIES, file_name, resolved

ALL = read_all()
every_trace = pytest.mark.parametrize("trace", [pytest.param(trace, id=name) for name, trace in ALL])
of_the_oracle = pytest.mark.parametrize(
    "trace", [pytest.param(trace, id=name) for name, trace in ALL if known_to_the_oracle(trace)]
)
with_status = pytest.mark.parametrize(
    "trace", [pytest.param(trace, id=name) for name, trace in ALL if any("status" in step for step in trace["steps"])]
)
LONGEST_FEEDBACK = 600
SHORTEST_SECRET = 6


@every_trace
def test_python_says_what_the_trace_expects(trace):
    assert problems(trace, play(trace)) == []


@with_status
def test_the_run_stands_where_the_trace_expects(trace):
    assert microloop.traces.play(microloop.traces.Trace(**trace), trace["policy"]).problems == ()


@of_the_oracle
def test_the_oracle_says_what_the_trace_expects(trace):
    document = json.loads((POLICIES / file_name(trace["policy"])).read_text(encoding="utf-8"))
    assert problems(trace, replay.play(trace, document)) == []


@every_trace
def test_refusals_are_short_and_never_worded_the_same_twice(trace):
    told = [verdict.feedback for verdict in play(trace) if verdict is not None and verdict.action in ("block", "halt")]
    feedback = list(dict.fromkeys(told)) if repeats_call_ids(trace) else told
    assert all(0 < len(text) <= LONGEST_FEEDBACK for text in feedback)
    assert len(set(feedback)) == len(feedback)


@every_trace
def test_feedback_does_not_echo_the_arguments(trace):
    for step, verdict in zip(trace["steps"], play(trace), strict=True):
        if verdict is not None and "tool" in step:
            echoed = [text for text in texts(step["args"]) if text in verdict.feedback.replace(step["tool"], "")]
            assert echoed == []


def repeats_call_ids(trace):
    ids = [step["call_id"] for step in trace["steps"] if "call_id" in step]
    return len(set(ids)) < len(ids)


def texts(args):
    """Texts in the arguments that are long enough not to stand in the feedback by chance."""
    if isinstance(args, str):
        return [args] if len(args) >= SHORTEST_SECRET else []
    members = args.values() if isinstance(args, dict) else args if isinstance(args, list) else []
    return [text for member in members for text in texts(member)]


def test_the_files_have_the_published_form():
    schema = json.loads((Path(microloop.__file__).parent / "trace.schema.json").read_text(encoding="utf-8"))
    checker = jsonschema.Draft202012Validator(schema)
    for path in sorted(Path(__file__).parent.glob("traces/*.json")):
        assert list(checker.iter_errors(json.loads(path.read_text(encoding="utf-8")))) == [], path.name


def test_names_are_unique():
    names = [name for name, _ in ALL]
    assert len(set(names)) == len(names)


def test_resolved_policies_are_current():
    """`python tests/traces/resolve_policies.py` writes them."""
    for name, text in resolved().items():
        assert (POLICIES / name).read_text(encoding="utf-8") == text, name
    assert {path.name for path in POLICIES.glob("trace-*.json")} == {name for name in resolved() if "trace-" in name}


def test_of_the_fine_shapes_at_most_one_is_warned():
    """The first trace of a shape is the shape itself; the others are variations."""
    plain = {}
    for name, trace in ALL:
        if name.startswith("fine_"):
            plain.setdefault(trace["source"], trace)
    warned = [source for source, trace in plain.items() if any(v and v.action != "allow" for v in play(trace))]
    assert len(plain) >= 10
    assert len(warned) <= 1, warned


def test_every_listed_shape_has_several_traces():
    counted = defaultdict(int)
    for _, trace in ALL:
        counted[trace["source"]] += 1
    few = {source for source, n in counted.items() if n < 3}
    assert few == set()

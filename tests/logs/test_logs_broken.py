"""What is broken is reported in its place, and all else goes on."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_logs_formats import FIXTURES, NAMES, documents

import shared_data
from microloop.logs import FORMATS, detect, read
from microloop.logs.values import Value, read_values
from microloop.recorded import BrokenLine, Step

JSON_LINES = [name for name in NAMES if name.endswith(".jsonl")]


def inside(value):
    """All keys, and all short texts, of a value."""
    if isinstance(value, dict):
        yield from value
    elif isinstance(value, str) and len(value) < 30:
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from inside(each)


WORDS = st.sampled_from(sorted({*inside([documents(name) for name in NAMES]), "", "{", "\ud800", "99999-01-01"}))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | WORDS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=7),
    max_leaves=40,
)


@pytest.mark.parametrize("name", JSON_LINES)
def test_a_broken_line_is_reported_with_its_number_and_skipped(name):
    lines = (FIXTURES / name).read_bytes().splitlines(keepends=True)
    whole = steps(lines, NAMES[name])
    held = [lines[0], b"\n", b'{"half": \n', *lines[1:], b"[7]\n", b"\xff\n", lines[-1][: len(lines[-1]) // 2]]
    read_now = list(read(held))
    assert [step for step in read_now if isinstance(step, Step)] == renumbered(whole, read_now)
    broken = [line.line for line in read_now if isinstance(line, BrokenLine)]
    assert broken == sorted(broken)
    assert {3, len(lines) + 3, len(lines) + 4, len(lines) + 5} <= set(broken)


def steps(lines, name=None):
    return [line for line in read(lines, name) if isinstance(line, Step)]


def renumbered(whole, read_now):
    """Batches that are named after lines are two lines further down."""
    batches = {step.played.get("batch") for step in read_now if isinstance(step, Step)}
    return [Step(step.run_id, step.number, step.tool, moved(step.played, batches)) for step in whole]


def moved(played, batches):
    batch = played.get("batch")
    if batch is None or batch in batches:
        return played
    line, mark, rest = batch.partition("." if "." in batch else "/")
    shifted = f"{int(line) + 2}{mark}{rest}" if mark == "." else f"{line}{mark}{int(rest) + 2}"
    assert shifted in batches
    return {**played, "batch": shifted}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_cut_off_anywhere_is_read_up_to_there(name):
    data = (FIXTURES / name).read_bytes()
    whole = steps(data.splitlines(keepends=True))
    for cut in range(0, len(data), 37):
        found = list(read(data[:cut].splitlines(keepends=True), NAMES[name]))
        assert len([each for each in found if isinstance(each, Step)]) <= len(whole) + 1


@pytest.mark.parametrize(
    ("lines", "reasons"),
    [
        ([b"{\n", b'"a": 1\n'], {1: "the document that begins here is cut off"}),
        (
            [b"{\n", b'"a" 1\n', b"}\n", b"{\n", b"}\n"],
            {1: "line 2, column 5", 4: "exactly one of tool, user, assistant"},
        ),
        ([b'[{"tool": "a"},\n', b'{"tool": "b"}]\n'], {1: "expected an object, found list"}),
        ([b'{"tool": "a"} x\n'], {1: "Extra data"}),
        ([b'{"tool": "a"}{"tool": \n'], {1: "Extra data"}),
        ([b"[" * 100_000], {1: "cut off"}),
        ([b'{"tool": "a"}\n', b"[" * 100_000], {2: "nested too deeply"}),
        ([b'{"tool": "a", "at": 1e999}\n'], {1: '"at" must be milliseconds'}),
        ([b'{"tool": "a", "usd": 1%b}\n' % (b"0" * 400)], {1: "too large"}),
        ([b"9" * 5000], {1: "4300 digits"}),
        ([b"\xef\xbb\xbf{}\n"], {1: "exactly one of"}),
    ],
)
def test_the_reason_says_what_is_wrong_and_where(lines, reasons):
    broken = {line.line: line.reason for line in read(lines) if isinstance(line, BrokenLine)}
    assert list(broken) == list(reasons)
    assert all(reasons[number] in reason for number, reason in broken.items())


@pytest.mark.parametrize(
    ("name", "line", "reason"),
    [
        ("openai", {"role": "tool", "tool_call_id": "x", "content": "y"}, 'a call that is not in the log: "x"'),
        ("openai", {"role": "tool", "content": "y"}, "a call that is not in the log: without an id"),
        ("openai", {"role": "assistant", "tool_calls": [{"id": "x", "function": {}}]}, "a call without a name"),
        ("anthropic", {"role": "assistant", "content": [{"type": "tool_use"}]}, "a call without a name"),
        ("anthropic", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x"}]}, 'in the log: "x"'),
        ("openai-responses", {"type": "function_call", "call_id": "x"}, "a call without a name"),
        ("openai-responses", {"type": "function_call_output", "call_id": "x"}, 'in the log: "x"'),
        ("langchain", {"type": "ai", "content": "", "tool_calls": [{"args": {}}]}, "a call without a name"),
        ("langsmith", {"run_type": "tool", "start_time": "x"}, "a tool's run without a name"),
        ("otel", {"spanId": "x", "attributes": {"gen_ai.operation.name": "execute_tool"}}, "without gen_ai.tool.name"),
        ("openhands", {"kind": "ActionEvent"}, "an action without a tool_name"),
        ("openhands", {"kind": "ObservationEvent", "tool_name": "x"}, 'in the log: "x"'),
        ("gemini-cli", {"type": "gemini", "content": "", "toolCalls": [{}]}, "a call without a name"),
        *((name, 7, "expected an object, found int") for name in FORMATS),
    ],
)
def test_what_makes_no_step_is_said(name, line, reason):
    (broken,) = read([b"\n", json.dumps(line).encode()], name)
    assert broken.line == 2
    assert reason in broken.reason


@given(st.lists(VALUES, max_size=4), st.sampled_from([None, *FORMATS]))
@settings(max_examples=400, deadline=None)
def test_no_json_value_raises(values, name):
    lines = [json.dumps(value).encode() for value in values]
    told = list(read(lines, name))
    assert all(isinstance(each, (Step, BrokenLine)) for each in told)
    assert all(1 <= each.line <= len(lines) for each in told if isinstance(each, BrokenLine))
    assert detect(values) in FORMATS


@given(st.lists(st.binary(max_size=20) | st.sampled_from([b"{", b"}", b"[", b"]", b'{"a": [', b'"x"', b"{}{}", b","])))
@settings(deadline=None)
def test_no_bytes_raise(lines):
    assert all(isinstance(each, (Value, BrokenLine)) for each in read_values(lines))
    assert all(isinstance(each, (Step, BrokenLine)) for each in read(lines))


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_no_damage_to_a_real_log_raises(data):
    name = data.draw(st.sampled_from(list(NAMES)))
    held = documents(name)
    for _ in range(data.draw(st.integers(1, 4))):
        damage(held, data)
    lines = [json.dumps(each).encode() for each in held]
    assert all(isinstance(each, (Step, BrokenLine)) for each in read(lines, NAMES[name]))


def damage(document, data):
    """Puts another value somewhere."""
    while True:
        places = list(document) if isinstance(document, dict) else list(range(len(document)))
        if not places:
            return
        place = data.draw(st.sampled_from(places))
        inner = document[place]
        if not isinstance(inner, (dict, list)) or not inner or data.draw(st.integers(0, 4)) == 0:
            document[place] = data.draw(SCALARS)
            return
        document = inner


def test_half_a_character_is_no_reason_to_fail():
    """Texts that JavaScript has cut end in one; what the guard takes must be Unicode."""
    call = rb'{"id": "a", "function": {"name": "x\ud83d", "arguments": "{\"a\": \"\\\\ \\uD83D\"}"}}'
    lines = [
        rb'{"role": "assistant", "tool_calls": [%b]}' % call,
        rb'{"role": "tool", "tool_call_id": "a", "content": "\ud83d\ude00\udE00"}',
    ]
    (step,) = read(lines)
    assert (step.tool, step.played["args"], step.played["result"]) == (
        "x\ufffd",
        {"a": "\\ \ufffd"},
        "\U0001f600\ufffd",
    )


@pytest.mark.shared
def test_recordings_beside_the_checkout_are_read_without_a_broken_line():
    rows = shared_data.rows("steps.jsonl.xz")
    lines = (json.dumps(row).encode() for row, _ in zip(rows, range(5000), strict=False))
    assert all(isinstance(line, Step) for line in read(lines))

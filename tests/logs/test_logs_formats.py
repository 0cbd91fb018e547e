"""Each format: from a file in its real form to the exact steps, and never taken for another."""

from __future__ import annotations

import gzip
import json
import lzma
from itertools import permutations
from pathlib import Path

import pytest
from log_expectations import EXPECTED

from docs_pages import DOCS, first_column, sections
from microloop.logs import FORMATS, detect, read
from microloop.logs.files import lines_of
from microloop.logs.values import Value, read_values
from microloop.policy import Policy
from microloop.recheck import Recheck
from microloop.recorded import BrokenLine

FIXTURES = Path(__file__).parent / "fixtures"
NAMES = {
    "anthropic.json": "anthropic",
    "claude_code.jsonl": "claude-code",
    "codex.jsonl": "codex",
    "gemini_cli.json": "gemini-cli",
    "gemini_cli.jsonl": "gemini-cli",
    "langchain_dict.json": "langchain",
    "langchain_dumpd.json": "langchain",
    "langchain_model_dump.jsonl": "langchain",
    "langsmith.jsonl": "langsmith",
    "microloop.jsonl": "microloop",
    "mini_swe_agent_1.1.traj.json": "mini-swe-agent",
    "mini_swe_agent_1.traj.json": "mini-swe-agent",
    "openai_chat.json": "openai",
    "openai_chat.jsonl": "openai",
    "openai_responses.json": "openai-responses",
    "openai_responses.jsonl": "openai-responses",
    "openhands_sdk.jsonl": "openhands",
    "openhands_v0.json": "openhands",
    "otel_console.txt": "otel",
    "otel_otlp.jsonl": "otel",
    "swe_agent.traj": "swe-agent",
}


def told(source, name=None):
    return [line if isinstance(line, BrokenLine) else as_row(line) for line in read(source, name)]


def as_row(step):
    return (step.run_id, step.number, step.tool, dict(step.played))


def documents(name):
    return [value.data for value in read_values(lines_of(FIXTURES / name)) if isinstance(value, Value)]


def test_each_format_has_a_fixture_and_each_fixture_a_format():
    assert set(NAMES.values()) == set(FORMATS)
    assert set(NAMES) == set(EXPECTED) == {each.name for each in FIXTURES.iterdir()} - {"README.md"}


@pytest.mark.parametrize("name", NAMES)
def test_a_fixture_holds_exactly_these_steps(name):
    assert told(FIXTURES / name) == EXPECTED[name]
    assert told(str(FIXTURES / name), NAMES[name]) == EXPECTED[name]


@pytest.mark.parametrize("name", NAMES)
def test_the_format_of_a_fixture_is_found(name):
    assert detect(documents(name)) == NAMES[name]


@pytest.mark.parametrize(("first", "second"), list(permutations(NAMES, 2)))
def test_what_comes_later_in_a_file_does_not_change_its_format(first, second):
    assert detect([*documents(first), *documents(second)]) == NAMES[first]


@pytest.mark.parametrize("name", [each for each in NAMES if each != "mini_swe_agent_1.1.traj.json"])
def test_only_its_own_importer_recognises_a_fixture(name):
    """mini-swe-agent's messages are OpenAI's, which is why its importer is asked before."""
    held = documents(name)
    assert [each for each in FORMATS if any(map(FORMATS[each].recognises, held))] == [NAMES[name]]


@pytest.mark.parametrize("name", [each for each in NAMES if each.endswith(".jsonl")])
def test_json_lines_are_the_same_gathered_in_a_list(name):
    rows = documents(name)
    steps = [line for line in told([json.dumps(rows).encode()], NAMES[name]) if not isinstance(line, BrokenLine)]
    if NAMES[name] == "microloop":
        assert steps == []
    else:
        assert [(tool, unplaced(played)) for _, _, tool, played in steps] == [
            (tool, unplaced(played)) for _, _, tool, played in EXPECTED[name]
        ]


def unplaced(played):
    """Where no id says what a turn is, its place in the file does."""
    return {key: value for key, value in played.items() if key != "batch"}


@pytest.mark.parametrize("name", NAMES)
def test_a_document_is_the_same_indented(name):
    indented = "\n".join(json.dumps(each, indent=2) for each in documents(name)).encode().splitlines(keepends=True)
    assert [(run, number, tool, unplaced(played)) for run, number, tool, played in told(indented)] == [
        (run, number, tool, unplaced(played)) for run, number, tool, played in EXPECTED[name]
    ]


@pytest.mark.parametrize("name", NAMES)
def test_files_put_together_without_line_ends_are_the_same(name):
    line = b"".join(json.dumps(each).encode() for each in documents(name))
    assert [(run, number, tool) for run, number, tool, _ in told([line])] == [row[:3] for row in EXPECTED[name]]


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".xz", lzma.open)])
def test_packed_files_are_read(tmp_path, suffix, opener):
    path = tmp_path / f"codex.jsonl{suffix}"
    with opener(path, "wb") as file:
        file.write((FIXTURES / "codex.jsonl").read_bytes())
    assert told(path) == EXPECTED["codex.jsonl"]


@pytest.mark.parametrize("name", NAMES)
def test_a_guard_takes_what_importers_give(name):
    recheck = Recheck(Policy.load("balanced"))
    judged = list(recheck.judge(lines_of(FIXTURES / name)))
    assert [each.step.tool for each in judged] == [row[2] for row in EXPECTED[name]]


def test_an_unknown_format_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match='no format "openapi"; known are microloop, claude-code'):
        read([], "openapi")


@pytest.mark.parametrize("heading", ["Formats", "What is read"])
def test_each_format_is_described(heading):
    described = first_column(sections(DOCS / "reference" / "recorded-runs.md")[heading])
    assert described == [name for name in FORMATS if heading == "Formats" or name != "microloop"]


def test_plain_messages_are_taken_for_openais():
    said = [b'{"role": "user", "content": "Hello."}', b'{"role": "assistant", "content": "Good day."}']
    assert [row[2:] for row in told(said)] == [
        ("user", {"user": "Hello."}),
        ("assistant", {"assistant": "Good day."}),
    ]


def test_no_more_is_read_ahead_than_is_needed_to_tell():
    """So that a log can be followed while it is written."""
    taken = []
    lines = (taken.append(line) or line for line in (FIXTURES / "codex.jsonl").read_bytes().splitlines())
    next(read(lines))
    assert len(taken) == 6

"""Logs that are not plain UTF-8: PowerShell's `>` writes UTF-16, and editors of Windows put a mark before UTF-8."""

from __future__ import annotations

import codecs
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_expectations import EXPECTED
from test_logs_formats import FIXTURES, NAMES, told

from microloop.backtest import read_file
from microloop.backtest.outcomes import Outcomes
from microloop.logs.utf8 import in_utf8, lines_in_utf8
from microloop.recorded import BrokenLine

ENCODINGS = {
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-8": codecs.BOM_UTF8,
}


def encoded(text, encoding):
    return ENCODINGS[encoding] + text.replace("\n", "\r\n").encode(encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", NAMES)
def test_a_fixture_holds_the_same_steps_in_every_encoding(tmp_path, name, encoding):
    path = tmp_path / name
    path.write_bytes(encoded((FIXTURES / name).read_text(encoding="utf-8"), encoding))
    assert told(path) == EXPECTED[name]
    with path.open("rb") as file:
        assert told(file) == EXPECTED[name]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_packed_files_are_read_in_every_encoding(tmp_path, encoding):
    path = tmp_path / "codex.jsonl.gz"
    path.write_bytes(gzip.compress(encoded((FIXTURES / "codex.jsonl").read_text(encoding="utf-8"), encoding)))
    assert told(path) == EXPECTED["codex.jsonl"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_backtest_finds_outcomes_in_every_encoding(tmp_path, encoding):
    (tmp_path / "run.jsonl").write_bytes(encoded('{"outcome": "solved"}\n{"tool": "ls", "result": "a"}\n', encoding))
    [run] = read_file(tmp_path / "run.jsonl", Outcomes())
    assert (run.succeeded, len(run.steps)) == (True, 1)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_letters_whose_bytes_look_like_line_ends_do_not_end_a_line(encoding):
    line = '{"tool": "ls", "result": "\u0a0a\u0a0a \u010a"}\n'
    data = encoded(line * 2, encoding)
    assert list(lines_in_utf8(data.splitlines(keepends=True))) == [line.replace("\n", "\r\n").encode()] * 2


def test_a_log_in_utf_16_that_is_cut_off_is_broken_where_it_ends():
    data = encoded('{"tool": "ls", "result": "a"}\n' * 2, "utf-16-le")[:-7]
    first, broken = told(data.splitlines(keepends=True))
    assert (first[2], isinstance(broken, BrokenLine), broken.line) == ("ls", True, 2)


def test_without_a_mark_bytes_stay_as_they_are():
    lines = [b"\xff\n", b"\xef\xbb", b"\n", "ä\n".encode("utf-16-le")]
    assert b"".join(lines_in_utf8(lines)) == b"".join(lines)
    assert b"".join(lines_in_utf8([])) == b""


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"))),
    st.sampled_from(sorted(ENCODINGS)),
    st.data(),
)
def test_it_does_not_matter_where_the_pieces_of_a_file_are_cut(lines, encoding, data):
    text = "[\n" + "".join(f"{line}\n" for line in lines)
    whole = ENCODINGS[encoding] + text.encode(encoding)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert b"".join(in_utf8(pieces)) == text.encode()

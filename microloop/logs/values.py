"""The JSON values of a file: one a line, or documents over many lines, one after the other.

A file whose first value stands on one line is JSON lines, and is read line by line. Otherwise a line that only opens
brackets begins a document, which ends with the line that closes them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from microloop.recorded import BrokenLine, decode, mended

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


@dataclass(frozen=True, slots=True)
class Value:
    """A JSON value, and the line on which it begins."""

    line: int
    data: Any


Read: TypeAlias = "Value | BrokenLine"


def read_values(lines: Iterable[bytes]) -> Iterator[Read]:
    """Each value, in order; empty lines are left out.

    >>> [value.data for value in read_values([b"{", b'"a": 1', b"}", b"{", b"}"])]
    [{'a': 1}, {}]
    """
    one_a_line = False
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        if not line.strip():
            continue
        if not one_a_line and _begins_document(line):
            yield _document(number, line, numbered)
            continue
        for read in _values(number, line):
            one_a_line = one_a_line or (isinstance(read, Value) and isinstance(read.data, (dict, list)))
            yield read


def _begins_document(line: bytes) -> bool:
    """Printers break lines after an opening bracket; people also give each row of a list a line."""
    bare = line.strip()
    opens = bare.endswith((b"{", b"[")) or (bare.startswith(b"[") and bare.endswith(b","))
    return opens and _depth(line) > 0


def _depth(line: bytes) -> int:
    """How many more brackets a line opens than it closes. No string of JSON goes over the end of a line."""
    bare = _STRING.sub(b"", line)
    return bare.count(b"{") + bare.count(b"[") - bare.count(b"}") - bare.count(b"]")


def _document(number: int, first: bytes, rest: Iterator[tuple[int, bytes]]) -> Read:
    held = [first]
    depth = _depth(first)
    while depth > 0:
        _, line = next(rest, (0, None))
        if line is None:
            return BrokenLine(number, "the document that begins here is cut off")
        held.append(line)
        depth += _depth(line)
    try:
        return Value(number, decode(b"\n".join(each.rstrip(b"\r\n") for each in held)))
    except ValueError as error:
        return BrokenLine(number, f"the document that begins here is {error}")


def _values(number: int, line: bytes) -> list[Read]:
    try:
        return [Value(number, decode(line))]
    except ValueError as error:
        several = _side_by_side(line)
        return [Value(number, data) for data in several] if several else [BrokenLine(number, str(error))]


def _side_by_side(line: bytes) -> list[Any]:
    """Files without a last line end, put together, have several values on a line; empty if that is not what it is."""
    if b"}{" not in line:
        return []
    found: list[Any] = []
    decoder = json.JSONDecoder()
    try:
        text = mended(line).decode().strip()
        at = 0
        while at < len(text):
            data, at = decoder.raw_decode(text, at)
            found.append(data)
    except (ValueError, RecursionError):
        return []
    return found

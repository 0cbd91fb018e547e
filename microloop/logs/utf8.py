"""Logs in UTF-16, as some shells write what they redirect, or behind a byte order mark: all as plain UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain

from microloop.given import wrong_type
from microloop.logs.lines import whole_lines

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MARKS = (*_UTF_16, codecs.BOM_UTF8)


def lines_in_utf8(lines: Iterable[bytes]) -> Iterator[bytes]:
    r"""The lines of a file. Those of UTF-16 are cut anew: not each byte that looks like a line's end is one.

    >>> "1\n2".encode("utf-16").split(b"\n")
    [b'\xff\xfe1\x00', b'\x002\x00']
    >>> list(lines_in_utf8([b"\xff\xfe1\x00\n", b"\x002\x00"]))
    [b'1\n', b'2']
    """
    rest = iter(lines)
    first = next(rest, b"")
    if not isinstance(first, bytes):
        raise wrong_type("each line", first, "bytes", 'open the file with "rb"')
    decoded = in_utf8(chain([first], rest))
    yield from whole_lines(filter(None, decoded)) if first.startswith(_UTF_16) else decoded


def in_utf8(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces of a file, cut wherever; one without a byte order mark stays as it is. An empty piece is a pause."""
    rest = iter(pieces)
    head = b""
    for piece in rest:
        head += piece
        if head and not _may_become_a_mark(head):
            break
        yield b""
    if head.startswith(_UTF_16):
        yield from _decoded(chain([head], rest))
    else:
        yield head.removeprefix(codecs.BOM_UTF8)
        yield from rest


def _may_become_a_mark(head: bytes) -> bool:
    return any(head != mark and mark.startswith(head) for mark in _MARKS)


def _decoded(pieces: Iterable[bytes]) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
    for piece in pieces:
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()

"""Where commands read from: a file, a compressed file, or standard input; with a progress bar where it takes long."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, BinaryIO, TypeVar

import click

from microloop.cli.style import complain
from microloop.logs.files import UNREADABLE, unpacked

T = TypeVar("T")

_LONG = 1 << 20


@contextmanager
def open_lines(name: str) -> Iterator[Iterator[bytes]]:
    """The lines of a file; `-` is standard input, .gz and .xz are unpacked."""
    with closing(readable(name, _lines(name))) as lines:
        yield lines


def readable(name: str, read: Iterable[T]) -> Generator[T, None, None]:
    """What is read; a fault of reading ends the command with code 2, one of what is done with it stays what it is."""
    try:
        yield from read
    except UNREADABLE as error:
        complain(f"{name}: cannot be read: {error}")
        raise SystemExit(2) from None


def _lines(name: str) -> Iterator[bytes]:
    if name == "-":
        yield from sys.stdin.buffer
        return
    path = Path(name)
    with path.open("rb") as raw, unpacked(path, raw) as lines:
        yield from _watched(lines, raw, path.stat().st_size)


def _watched(lines: IO[bytes], raw: BinaryIO, size: int) -> Iterator[bytes]:
    """The bar follows the packed bytes that have been read: how many lines there will be is not known."""
    if size < _LONG or not sys.stderr.isatty() or sys.stdout.isatty():
        yield from lines
        return
    with click.progressbar(length=size, label="replaying", file=sys.stderr) as bar:
        for line in lines:
            yield line
            bar.update(raw.tell() - bar.pos)

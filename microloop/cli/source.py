"""Where commands read from: a file, a compressed file, or standard input; with a progress bar where it takes long."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

import click

from microloop.logs.files import unpacked

_LONG = 1 << 20


@contextmanager
def open_lines(name: str) -> Iterator[Iterator[bytes]]:
    """The lines of a file; `-` is standard input, .gz and .xz are unpacked."""
    if name == "-":
        yield iter(sys.stdin.buffer)
        return
    path = Path(name)
    with path.open("rb") as raw, unpacked(path, raw) as lines:
        yield _watched(lines, raw, path.stat().st_size)


def _watched(lines: IO[bytes], raw: BinaryIO, size: int) -> Iterator[bytes]:
    """The bar follows the packed bytes that have been read: how many lines there will be is not known."""
    if size < _LONG or not sys.stderr.isatty() or sys.stdout.isatty():
        yield from lines
        return
    with click.progressbar(length=size, label="replaying", file=sys.stderr) as bar:
        for line in lines:
            yield line
            bar.update(raw.tell() - bar.pos)

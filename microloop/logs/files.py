"""Log files, unpacked where their name says that they are packed."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, cast

from microloop.logs.utf8 import lines_in_utf8

UNREADABLE = (OSError, EOFError, zlib.error, lzma.LZMAError)
"""What reading a file can raise; what is in it raises nothing."""


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file, in UTF-8; .gz and .xz are unpacked."""
    with path.open("rb") as raw, unpacked(path, raw) as lines:
        yield from lines_in_utf8(lines)


def unpacked(path: Path, raw: BinaryIO) -> IO[bytes]:
    """What is in an open file of this name."""
    if path.suffix == ".gz":
        import gzip

        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
    if path.suffix == ".xz":
        return lzma.LZMAFile(raw)
    return raw

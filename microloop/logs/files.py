"""Log files, unpacked where their name says that they are packed."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, cast

UNREADABLE = (OSError, EOFError, zlib.error, lzma.LZMAError)
"""What reading a file can raise; what is in it raises nothing."""


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file; .gz and .xz are unpacked."""
    with path.open("rb") as raw, unpacked(path, raw) as lines:
        yield from lines


def unpacked(path: Path, raw: BinaryIO) -> IO[bytes]:
    """What is in an open file of this name."""
    if path.suffix == ".gz":
        import gzip

        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
    if path.suffix == ".xz":
        return lzma.LZMAFile(raw)
    return raw

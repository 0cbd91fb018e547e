"""Files and pipes that somebody is still writing: their lines, as they come."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from threading import Event
from typing import Any

PACE = 0.2
"""Seconds between two looks: soon enough for people, and nothing that a machine would notice."""
_CHUNK = 1 << 16


@contextmanager
def until_interrupted() -> Iterator[Event]:
    """An event that Ctrl-C sets, or who ends the process. The second time, it ends as it ever does."""
    over = Event()
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {each: signal.getsignal(each) for each in signals}

    def end(number: int, _frame: Any) -> None:
        signal.signal(number, before[signal.Signals(number)])
        over.set()

    for each in signals:
        signal.signal(each, end)
    try:
        yield over
    finally:
        for each in signals:
            signal.signal(each, before[each])


class Follower:
    """Follows a file or a pipe (`-` is standard input) until `over`, or until nothing came for `idle` seconds.

    A line is whole when its end comes. A file that is replaced or cut is said with `notice`, and read from its start.
    """

    def __init__(self, name: str, over: Event, notice: Callable[[str], object], idle: float | None = None) -> None:
        self._name = name
        self._over = over
        self._notice = notice
        self._idle = idle
        self._latest = time.monotonic()
        self._replacement = ""

    def files(self) -> Iterator[Iterator[bytes]]:
        """The lines of the file, then those of each file that takes its place."""
        if self._name == "-":
            yield whole_lines(self._of_pipe(sys.stdin.fileno()))
            return
        path = Path(self._name)
        while True:
            self._replacement = ""
            with path.open("rb", buffering=0) as file:
                yield whole_lines(self._of_file(file) if path.is_file() else self._of_pipe(file.fileno()))
            if not self._replacement:
                return
            self._notice(f"{self._name} was {self._replacement}; it is read from its start")

    def _of_pipe(self, pipe: int) -> Iterator[bytes]:
        while not self._at_end():
            if select.select([pipe], [], [], PACE)[0]:
                chunk = os.read(pipe, _CHUNK)
                if not chunk:
                    return
                yield self._seen(chunk)

    def _of_file(self, file: FileIO) -> Iterator[bytes]:
        """What was written before a file was replaced is read to its end first."""
        while not self._over.is_set():
            chunk = file.read(_CHUNK)
            if chunk:
                yield self._seen(chunk)
            elif self._replacement or self._at_end():
                return
            else:
                self._replacement = _replacement(Path(self._name), file)
                if not self._replacement:
                    self._over.wait(PACE)

    def _seen(self, chunk: bytes) -> bytes:
        self._latest = time.monotonic()
        return chunk

    def _at_end(self) -> bool:
        idle = self._idle is not None and time.monotonic() - self._latest >= self._idle
        return idle or self._over.is_set()


def whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    r"""The lines of what comes in pieces; what is left at the end is a line, too.

    >>> list(whole_lines([b'{"a"', b': 1}\n{', b"}"]))
    [b'{"a": 1}\n', b'{}']
    """
    held: list[bytes] = []
    for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for each in ended:
            yield b"".join((*held, each, b"\n"))
            held.clear()
        held.append(rest)
    if any(held):
        yield b"".join(held)


def _replacement(path: Path, file: FileIO) -> str:
    """How a file is no longer the one that is open; empty if it is, and while there is no other."""
    try:
        now = path.stat()
    except FileNotFoundError:
        return ""
    opened = os.fstat(file.fileno())
    if (now.st_dev, now.st_ino) != (opened.st_dev, opened.st_ino):
        return "replaced"
    return "cut" if now.st_size < file.tell() else ""

"""Files and pipes that somebody is still writing: their lines, as they come."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

from microloop.logs.lines import whole_lines
from microloop.logs.utf8 import in_utf8

PACE = 0.2
"""Seconds between two looks: soon enough for people, and nothing that a machine would notice."""
_CHUNK = 1 << 16
_TAIL = 64


class Ending:
    """Whether somebody has asked for the end.

    Not an `Event`: a signal may come while its only thread holds the event's lock, and would wait for itself.
    """

    def __init__(self) -> None:
        self._asked = False

    def set(self) -> None:
        """Ask for the end."""
        self._asked = True

    def is_set(self) -> bool:
        """Whether it was asked for."""
        return self._asked

    def wait(self, seconds: float) -> None:
        """Do nothing for a while."""
        if not self._asked:
            time.sleep(seconds)


@contextmanager
def until_interrupted() -> Iterator[Ending]:
    """Set by Ctrl-C, or by who ends the process. The second time, it ends as it ever does."""
    over = Ending()
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

    A file that is replaced or rewritten is said with `notice`, and read from its start.
    """

    def __init__(self, name: str, over: Ending, notice: Callable[[str], object], idle: float | None = None) -> None:
        self._name = name
        self._over = over
        self._notice = notice
        self._idle = idle
        self._latest = time.monotonic()
        self._change = ""

    def files(self) -> Iterator[Iterator[bytes]]:
        """The lines of the file, then those of each file that takes its place."""
        if self._name == "-":
            yield whole_lines(in_utf8(self._of_pipe(sys.stdin.fileno())))
            return
        path = Path(self._name)
        while True:
            self._change = ""
            with path.open("rb", buffering=0) as file:
                pieces = self._of_file(file) if path.is_file() else self._of_pipe(file.fileno())
                yield whole_lines(in_utf8(pieces))
            if not self._change:
                return
            self._notice(f"{self._name} was {self._change}; it is read from its start")

    def _of_pipe(self, pipe: int) -> Iterator[bytes]:
        while not self._over.is_set():
            if select.select([pipe], [], [], PACE)[0]:
                chunk = os.read(pipe, _CHUNK)
                if not chunk:
                    return
                yield self._seen(chunk)
            elif self._is_idle():
                return
            else:
                yield b""

    def _of_file(self, file: FileIO) -> Iterator[bytes]:
        """Whoever rewrites a file has other bytes where it ended; one that is replaced is read to its end first."""
        tail = b""
        while not self._over.is_set():
            if os.pread(file.fileno(), len(tail), file.tell() - len(tail)) != tail:
                self._change = "rewritten"
                return
            chunk = file.read(_CHUNK)
            if chunk:
                tail = (tail + chunk)[-_TAIL:]
                yield self._seen(chunk)
            elif self._change or self._is_idle():
                return
            else:
                yield from self._pause(file)

    def _pause(self, file: FileIO) -> Iterator[bytes]:
        if _is_replaced(Path(self._name), file):
            self._change = "replaced"
            return
        yield b""
        self._over.wait(PACE)

    def _seen(self, chunk: bytes) -> bytes:
        self._latest = time.monotonic()
        return chunk

    def _is_idle(self) -> bool:
        return self._idle is not None and time.monotonic() - self._latest >= self._idle


def _is_replaced(path: Path, file: FileIO) -> bool:
    """Whether another file has the name now; one that is gone may still come back."""
    try:
        now = path.stat()
    except FileNotFoundError:
        return False
    opened = os.fstat(file.fileno())
    return (now.st_dev, now.st_ino) != (opened.st_dev, opened.st_ino)

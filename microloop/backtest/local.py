"""On this machine: a file at a time in each of some processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from multiprocessing.pool import Pool

from microloop.backtest.work import Judged, Work


def judged(work: Work, files: Sequence[str], jobs: int | None = None) -> Iterator[list[Judged]]:
    """The results file by file, in order. Reading takes as long as judging, so that both are shared out."""
    processes = min(jobs or os.cpu_count() or 1, len(files))
    if processes <= 1:
        yield from map(work.judge_file, files)
        return
    # Not by fork: a copy of a process with threads of its own may hang.
    with _pool(processes) as pool:
        yield from pool.imap(work.judge_file, files)


def _pool(processes: int) -> Pool:
    """Its processes begin without an ear for Ctrl-C, and never get one: who has begun them ends them."""
    if threading.current_thread() is not threading.main_thread():
        return multiprocessing.get_context("spawn").Pool(processes)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return multiprocessing.get_context("spawn").Pool(processes)
    finally:
        # None: whoever set it was no Python code, and Python cannot put it back.
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)

"""On this machine: a file at a time in each of some processes."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence

from microloop.backtest.work import Judged, Work


def judged(work: Work, files: Sequence[str], jobs: int | None = None) -> Iterator[list[Judged]]:
    """The results file by file, in order. Reading takes as long as judging, so that both are shared out."""
    processes = min(jobs or os.cpu_count() or 1, len(files))
    if processes <= 1:
        yield from map(work.judge_file, files)
        return
    # Not by fork: a copy of a process with threads of its own may hang.
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap(work.judge_file, files)

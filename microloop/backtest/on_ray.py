"""On a Ray cluster, or on one that Ray starts here: files are read as they come, and each run is judged by itself."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

from microloop.backtest.work import Judged, Work


def judged(work: Work, files: Sequence[str], jobs: int | None = None) -> Iterator[list[Judged]]:
    """The results, run by run, as they become ready. The files must be where every worker can read them."""
    ray = _ray()
    if not ray.is_initialized():
        ray.init(num_cpus=jobs, log_to_driver=False, include_dashboard=False, logging_level=logging.WARNING)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    runs = ray.data.from_items([{"file": file} for file in files]).flat_map(_reader(work))
    for row in runs.map(_judge(work)).iter_rows():
        yield [pickle.loads(row["judged"])]  # noqa: S301 - what this program's own workers wrote


def _reader(work: Work) -> Any:
    # Rows are columns of Arrow, which has no type for a run.
    return lambda row: [{"found": pickle.dumps(found)} for found in work.read(row["file"])]


def _judge(work: Work) -> Any:
    return lambda row: {"judged": pickle.dumps(work.judge(pickle.loads(row["found"])))}  # noqa: S301 - as above


def _ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError as error:
        told = f'the engine needs ray with its data library ({error}): pip install "microloop[ray]"'
        raise ImportError(told) from None
    return ray

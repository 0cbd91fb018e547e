"""A plain limit on the number of steps: what everybody has who has nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from evaluate.corpus import Step


def stop(steps: Sequence[Step], threshold: int) -> int | None:
    """The first call beyond the limit."""
    return threshold if len(steps) > threshold else None

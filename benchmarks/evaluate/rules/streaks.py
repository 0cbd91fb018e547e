"""What most of these rules share: the same call so many times in a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluate.corpus import Step


def first_streak(calls: Iterable[object], length: int) -> int | None:
    """The place of the call that is the so-manieth of its kind in a row.

    >>> first_streak("abbb", 3)
    3
    """
    previous, streak = object(), 0
    for place, call in enumerate(calls):
        streak = streak + 1 if call == previous else 1
        if streak >= length:
            return place
        previous = call
    return None


def after(place: int | None, steps: Sequence[Step]) -> int | None:
    """The call after this one, for rules that look when a call has been made; None if it was the last."""
    return None if place is None or place + 1 >= len(steps) else place + 1

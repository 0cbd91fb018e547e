"""Numbers of things, in words."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "step"), counted(1200, "step")
    ('1 step', '1,200 steps')
    """
    return f"{number:,} {as_many(number, noun)}"


def as_many(number: int, noun: str) -> str:
    """The word for so many things.

    >>> as_many(1, "step"), as_many(0, "step")
    ('step', 'steps')
    """
    return noun if number == 1 else f"{noun}s"

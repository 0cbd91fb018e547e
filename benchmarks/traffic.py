"""The runs that the rows `observe` watch. Each is named after what a monitor must say of it."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

Step = tuple[str, str, dict[str, Any]]

LONG = "The quick brown fox jumps over the lazy dog and back again. " * 273
NOTHING: dict[str, Any] = {}
TESTS = {"verifier": "tests"}


def healthy() -> Iterator[Step]:
    """Return steps that each bring something new."""
    return (
        (f"cat module_{number}.py", f"module {number} has functions f and g", NOTHING) for number in itertools.count()
    )


def repeating() -> Iterator[Step]:
    """Return the same step again and again."""
    return itertools.repeat(("ls src", "app.py and nothing else", NOTHING))


def improving() -> Iterator[Step]:
    """Return runs of one check, each with a failure less."""
    return (
        ("make test", f"run {number}", {"metrics": {"failures": float(10**12 - number)}, "metadata": TESTS})
        for number in itertools.count()
    )


def long_outputs() -> Iterator[Step]:
    """Return steps whose outputs have 16 KiB, and differ only at the end."""
    return ((f"cat log_{number}", f"{LONG}{number}", NOTHING) for number in itertools.count())


TRAFFIC: dict[str, Callable[[], Iterator[Step]]] = {
    "healthy": healthy,
    "repeating": repeating,
    "improving": improving,
    "16 KiB": long_outputs,
}
# What a monitor must say of each in the end: the status, and whether a check says "better".
EXPECTED = {
    "healthy": ({"healthy"}, False),
    "repeating": ({"warning", "stalled"}, False),
    "improving": ({"healthy"}, True),
    "16 KiB": ({"healthy"}, False),
}

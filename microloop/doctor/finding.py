"""`Finding`: what an examination has found, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from microloop.errors import MicroloopError


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. What is absent is nothing wrong: not everybody needs it."""

    area: str
    name: str
    state: Literal["ok", "absent", "wrong"]
    detail: str
    remedy: str = ""


def ok(area: str, name: str, detail: str) -> Finding:
    """All is well."""
    return Finding(area, name, "ok", detail)


def wrong(area: str, name: str, detail: str, remedy: str) -> Finding:
    """Something does not work, and what makes it work."""
    return Finding(area, name, "wrong", detail, remedy)


def guarded(area: str, examine: Callable[[], Iterable[Finding]], remedy: str) -> Iterator[Finding]:
    """What an examination finds; that it fails is a finding too.

    >>> def examine():
    ...     raise OSError("disk full")
    >>> [str(each.detail) for each in guarded("store", examine, "make room")]
    ['OSError: disk full']
    """
    try:
        yield from examine()
    except MicroloopError as error:
        yield wrong(area, area, str(error), remedy)
    except Exception as error:  # noqa: BLE001 - whatever is broken here, the other examinations go on
        yield wrong(area, area, f"{type(error).__name__}: {error}", remedy)

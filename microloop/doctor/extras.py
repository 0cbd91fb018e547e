"""Which packages each extra of microloop needs, and in which versions, as the installed package declares it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata

_REQUIREMENT = re.compile(r"""(?P<package>[\w.-]+)(?:\[.*?\])?(?P<range>[^;]*);.*extra\s*==\s*["'](?P<extra>[^"']+)""")


@dataclass(frozen=True, slots=True)
class Need:
    """A package that an extra needs."""

    extra: str
    package: str
    floor: tuple[int, ...]
    ceiling: tuple[int, ...]
    """The first version that is too new; empty if none is."""

    def fits(self, version: str) -> bool:
        """Whether a version is in the range."""
        return self.floor <= numbers(version) and (not self.ceiling or numbers(version) < self.ceiling)


def needs(requirements: Iterable[str] | None = None) -> list[Need]:
    """All of them.

    >>> [need] = needs(["ag2>=0.14,<1 ; extra == 'ag2-classic'"])
    >>> need.extra, need.package, need.fits("0.14.2"), need.fits("1.2.1")
    ('ag2-classic', 'ag2', True, False)
    """
    declared = requirements if requirements is not None else metadata.requires("microloop") or ()
    return [_need(found) for found in map(_REQUIREMENT.match, declared) if found is not None]


def _need(found: re.Match[str]) -> Need:
    bounds = dict(re.findall(r"(>=|<)\s*([\d.]+)", found["range"]))
    return Need(found["extra"], found["package"], numbers(bounds.get(">=", "")), numbers(bounds.get("<", "")))


def numbers(version: str) -> tuple[int, ...]:
    """A version, to compare it."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def installed(package: str) -> str | None:
    """The version of a package, if it is here."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None

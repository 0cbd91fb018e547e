"""The options of the hook, read without `click`, which takes as long to import as the hook takes to answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from microloop.hook.dialects import NAMES

DEFAULT_POLICY = "coding_agent"


class Options(NamedTuple):
    """What `microloop hook` was called with."""

    policy: str = DEFAULT_POLICY
    store: str | None = None
    dialect: str | None = None


def quick(arguments: Sequence[str]) -> Options | None:
    """The options of a command line as agents have it; None for any other, which `click` reads and explains.

    >>> quick(["--policy", "balanced"]), quick(["--help"])
    (Options(policy='balanced', store=None, dialect=None), None)
    """
    names, values = arguments[::2], arguments[1::2]
    given = {name[2:]: value for name, value in zip(names, values, strict=False) if name.startswith("--")}
    whole = len(given) == len(names) == len(values) and given.keys() <= set(Options._fields)
    return Options(**given) if whole and given.get("dialect", NAMES[0]) in NAMES else None

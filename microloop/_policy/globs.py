"""Patterns for names: `*` stands for any characters, `?` for one; case does not matter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any


def matches_any(patterns: Iterable[str], name: str) -> bool:
    """Whether a name fits one of the patterns.

    >>> matches_any(["search_*"], "Search_Web")
    True
    """
    folded = _fold(name)
    return any(_compiled(pattern).fullmatch(folded) for pattern in patterns)


def names_of_entry(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The `match` of an entry of `tools`, which may be one name or a list."""
    match = entry["match"]
    return (match,) if isinstance(match, str) else tuple(match)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Runs of stars are one star, or matching them could take time beyond all bounds."""
    pieces = re.sub(r"\*+", "*", _fold(pattern))
    return re.compile("".join({"*": ".*", "?": "."}.get(char, re.escape(char)) for char in pieces), re.DOTALL)


def _fold(text: str) -> str:
    """Lower case, but one character for one, as in the core."""
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)

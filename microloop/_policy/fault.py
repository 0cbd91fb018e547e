"""How the loader words its errors: position, what, and the nearest thing that was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from microloop._policy.nodes import Mark
from microloop.errors import PolicyError


def fault(message: str, mark: Mark, *, key: str | None = None) -> PolicyError:
    """A `PolicyError` that begins with `file:line:column:`."""
    return PolicyError(f"{mark}: {message}", line=mark.line, column=mark.column, key=key, path=mark.file)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word closest to `word`, or None where none is close.

    >>> nearest("repat", ["repeat", "write"])
    'repeat'
    """
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The second half of an error about an unknown word."""
    words = sorted(known)
    close = nearest(word, words)
    if close is not None:
        return f'the nearest known one is "{close}"'
    return f"known are: {', '.join(words)}" if words else "none is known here"

"""Which frameworks this environment has: they are extras, and what needs one that is missing is skipped, saying so."""

from __future__ import annotations

from importlib.util import find_spec


def installed(module: str) -> bool:
    """Whether a module can be imported; without importing it, for some take seconds."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package above it
        return False

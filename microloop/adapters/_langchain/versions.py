"""Whether the installed packages have the hooks that the adapters stand on."""

from __future__ import annotations

import re
from importlib import metadata

from microloop.errors import AdapterError

# langgraph 1.2.12 and langgraph-prebuilt 1.1.1 let a halt pass through `ToolNode`'s error handling and end a run
# between two steps; earlier ones turn it into one more tool message.
FLOORS = {
    "langchain": "1.5.0",
    "langchain-core": "1.4.7",
    "langgraph": "1.2.12",
    "langgraph-prebuilt": "1.1.1",
}


def require(*packages: str) -> None:
    """Raise AdapterError for the first package that is missing or too old."""
    for package in packages:
        needed, found = FLOORS[package], _installed(package)
        if found is None:
            raise AdapterError(f"{package} is not installed; {needed} or newer is needed: {_command(package)}")
        if _numbers(found) < _numbers(needed):
            raise AdapterError(f"{package} is {found}; {needed} or newer is needed: {_command(package)}")


def _command(package: str) -> str:
    return f"pip install --upgrade '{package}>={FLOORS[package]}'"


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])

"""What a resolved policy document says about one tool."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


def milliseconds(duration: str | float) -> int:
    """`"500ms"`, `"30s"`, `"10m"`, `"2h"`, or a number of seconds."""
    if isinstance(duration, int | float):
        return int(duration * 1000)
    for unit in ("ms", "s", "m", "h"):
        number = duration.removesuffix(unit)
        if number != duration and number.replace(".", "", 1).isdigit():
            return int(float(number) * UNITS[unit])
    raise ValueError(duration)


def matches(patterns: list[str] | str, name: str) -> bool:
    """Whether a glob names this; names match case-insensitively."""
    listed = [patterns] if isinstance(patterns, str) else patterns
    return any(fnmatchcase(name.lower(), pattern.lower()) for pattern in listed)


class Tool:
    """The entries of `tools` that match a name, laid over each other in order."""

    def __init__(self, policy: dict[str, Any], name: str, schema: dict[str, Any] | None = None) -> None:
        self.name = name
        self.loops: dict[str, dict[str, Any]] = {}
        self.fields: dict[str, Any] = {}
        for detector, levels in policy.get("loops", {}).items():
            if isinstance(levels, dict):
                self.loops[detector] = dict(levels)
        self.learned = policy.get("loops", {}).get("learned", [])
        for entry in policy.get("tools", []):
            if matches(entry["match"], name):
                self.lay_over(entry)
        self.schema = self.fields.get("arguments", schema)

    def lay_over(self, entry: dict[str, Any]) -> None:
        for key, value in entry.items():
            if key == "loops":
                for detector, levels in value.items():
                    self.loops[detector] = {} if levels is None else {**self.loops.get(detector, {}), **levels}
            elif key != "match":
                self.fields[key] = value

    def levels(self, detector: str) -> dict[str, Any]:
        return self.loops.get(detector, {})

    @property
    def effect(self) -> str | None:
        effect: str | None = self.fields.get("effect")
        return effect

    @property
    def poll(self) -> dict[str, Any] | None:
        poll: dict[str, Any] | None = self.fields.get("poll")
        return poll

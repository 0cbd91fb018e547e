"""When two calls are the same call, and when one is another one reworded."""

from __future__ import annotations

import json
import re
from typing import Any

from oracle.policy import Tool, matches


def plain(value: Any) -> Any:
    """Numbers that are equal are written alike: 1.0 is 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def canonical(value: Any) -> str:
    """RFC 8785, for the values that traces use."""
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def counting(tool: Tool, args: Any) -> Any:
    """The arguments without the keys that are declared not to matter."""
    if not isinstance(args, dict):
        return args
    volatile = tool.fields.get("volatile", [])
    loop_key = tool.fields.get("loop_key")
    kept = {key: value for key, value in args.items() if not matches(volatile, key)}
    return kept if loop_key is None else {key: value for key, value in kept.items() if matches(loop_key, key)}


def call_identity(tool: Tool, args: Any) -> str:
    return f"{tool.name} {canonical(counting(tool, args))}"


def learned_identity(tool: Tool, args: Any) -> str | None:
    """The same without the keys whose names look volatile; None if there are none. Cursors are never volatile."""
    counts = counting(tool, args)
    if not isinstance(counts, dict):
        return None
    cursor = tool.fields.get("cursor", [])
    kept = {key: value for key, value in counts.items() if matches(cursor, key) or not matches(tool.learned, key)}
    return None if len(kept) == len(counts) else f"{tool.name} but for volatile keys {canonical(kept)}"


def strings(value: Any, path: str = "") -> dict[str, str]:
    """Every string in the arguments, by where it stands."""
    if isinstance(value, str):
        return {path: value}
    members: dict[str, Any] = {}
    if isinstance(value, dict):
        members = {f"{path}.{key}": item for key, item in value.items()}
    if isinstance(value, list):
        members = {f"{path}[{at}]": item for at, item in enumerate(value)}
    found: dict[str, str] = {}
    for where, item in members.items():
        found.update(strings(item, where))
    return found


def words(texts: list[str]) -> set[str]:
    found: set[str] = set()
    for text in texts:
        found.update(re.findall(r"\w+", text.lower()))
    return found


def masked(args: Any) -> str:
    return re.sub(r"[0-9]+", "0", canonical(args))


def reworded(first: Any, second: Any) -> bool:
    """Not a sweep, and at least half of the words of the texts that differ, taken together, are in both."""
    if masked(first) == masked(second):
        return False
    left, right = strings(first), strings(second)
    changed = [path for path in left.keys() | right.keys() if left.get(path) != right.get(path)]
    mine = words([left[path] for path in changed if path in left])
    other = words([right[path] for path in changed if path in right])
    together = mine | other
    return bool(together) and 2 * len(mine & other) >= len(together)

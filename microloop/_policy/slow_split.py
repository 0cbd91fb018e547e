"""Takes the rules out of a document that the core's linear-time patterns cannot express."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from microloop._policy.fault import fault
from microloop._policy.globs import names_of_entry
from microloop._policy.nodes import Node, Path, find
from microloop._policy.slow_rule import SlowRule, compiled
from microloop.errors import PolicyError

KINDS = ("deny", "require", "ask")
# Holds for no value, so it never fires; in the core it takes the place of an earlier rule with the same id.
_NEVER = {"equals": 0, "one_of": [1]}


def split(document: dict[str, Any], root: Node) -> tuple[dict[str, Any], tuple[SlowRule, ...]]:
    """The document for the core, and the rules that stay in Python."""
    native = copy.deepcopy(document)
    slow: list[SlowRule] = []
    entries = native.get("tools") or []
    for index, entry in enumerate(entries):
        if entry.get("rules"):
            entry["rules"] = list(_kept(document["tools"], index, root, slow))
    return native, tuple(slow)


def _kept(entries: list[dict[str, Any]], index: int, root: Node, slow: list[SlowRule]) -> Iterator[dict[str, Any]]:
    for number, rule in enumerate(entries[index]["rules"]):
        if not is_slow(rule, root, ("tools", index, "rules", number)):
            yield rule
            continue
        slow.append(_slow_rule(rule, names_of_entry(entries[index]), _overriders(entries[index + 1 :], rule["id"])))
        if _overriders(entries[:index], rule["id"]):
            yield {"id": rule["id"], "deny": _NEVER, "path": rule["path"]}


def is_slow(rule: dict[str, Any], root: Node, path: Path) -> bool:
    """Whether a rule's pattern needs the `regex` package; a pattern that no one understands is an error."""
    from microloop._native import regex_supported

    kind = kind_of(rule)
    pattern = rule[kind].get("regex")
    if pattern is None:
        return False
    node = find(root, (*path, kind, "regex"))
    try:
        if regex_supported(pattern):
            return False
    except PolicyError as error:
        raise fault(f"rule {rule['id']}: not a regular expression: {error}", node.mark, key="regex") from None
    if "when" in rule:
        message = f"rule {rule['id']}: a pattern that looks around or back cannot stand beside `when`; write it without"
        raise fault(message, node.mark, key="regex")
    return _compiles(rule, pattern, node)


def _compiles(rule: dict[str, Any], pattern: str, node: Node) -> bool:
    import regex

    try:
        compiled(pattern)
    except regex.error as error:
        raise fault(f"rule {rule['id']}: not a regular expression: {error}", node.mark, key="regex") from None
    return True


def _slow_rule(rule: dict[str, Any], tools: tuple[str, ...], unless: tuple[str, ...]) -> SlowRule:
    kind = kind_of(rule)
    conditions = rule[kind]
    return SlowRule(tools, rule["id"], kind, rule["path"], conditions["regex"], conditions, rule.get("message"), unless)


def _overriders(entries: list[dict[str, Any]], rule_id: str) -> tuple[str, ...]:
    """The tools for which one of these entries has a rule of this id."""
    return tuple(
        name
        for entry in entries
        if any(rule["id"] == rule_id for rule in entry.get("rules") or [])
        for name in names_of_entry(entry)
    )


def kind_of(rule: dict[str, Any]) -> Any:
    """deny, require or ask: the schema has made sure that it is exactly one."""
    return next(kind for kind in KINDS if kind in rule)

"""Roles, and rules on top-level arguments: as much of both as the traces use."""

from __future__ import annotations

import re
from typing import Any

from oracle.identity import canonical
from oracle.policy import Tool, matches
from oracle.verdict import Finding

ACTIONS = {"deny": "block", "require": "block", "ask": "ask"}


def role_refuses(policy: dict[str, Any], role: str | None, tool: Tool) -> bool:
    """Deny wins over allow; what is listed in neither is as `otherwise` says."""
    roles = policy.get("roles")
    if roles is None:
        return False
    grants = roles.get("grants", {}).get(role or roles.get("default"))
    if grants is None or matches(grants.get("deny", []), tool.name):
        return True
    return not matches(grants.get("allow", []), tool.name) and roles.get("otherwise", "deny") == "deny"


def broken(tool: Tool, args: Any) -> list[Finding]:
    """What each rule says that has something to say, the refusals first."""
    found = [rule_says(rule, args) for rule in tool.fields.get("rules", [])]
    said = [finding for finding in found if finding is not None]
    return sorted(said, key=lambda finding: finding.action == "ask")


def rule_says(rule: dict[str, Any], args: Any) -> Finding | None:
    kind = next(kind for kind in ACTIONS if kind in rule)
    present = isinstance(args, dict) and rule["path"] in args
    holds = present and all_hold(rule[kind], args[rule["path"]])
    if holds == (kind == "require"):
        return None
    return Finding(ACTIONS[kind], f"rule.{kind}")


def all_hold(conditions: dict[str, Any], value: Any) -> bool:
    checks = {
        "regex": lambda wanted: isinstance(value, str) and re.search(wanted, value) is not None,
        "equals": lambda wanted: canonical(value) == canonical(wanted),
        "one_of": lambda wanted: canonical(value) in [canonical(item) for item in wanted],
        "max_length": lambda wanted: isinstance(value, str | list | dict) and len(value) <= wanted,
    }
    return all(checks[name](wanted) for name, wanted in conditions.items())

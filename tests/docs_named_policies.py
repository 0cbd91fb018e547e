"""Writes the tables of docs/reference/named-policies.md from the policies: `python tests/docs_named_policies.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from microloop import Policy
from microloop._policy.names import policy_names

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "named-policies.md"
BEGIN, END = "<!-- made by tests/docs_named_policies.py -->\n", "<!-- end -->\n"
_DETECTORS = ("repeat", "write", "cycle", "error", "retry", "near", "stall", "recur", "text", "invalid", "refused")
_KINDS = ("deny", "require", "ask")


def rendered() -> str:
    """The page with its tables made anew."""
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    tables = "\n".join(_tables())
    return f"{head}{BEGIN}\n{tables}\n\n{END}{rest.partition(END)[2]}"


def _tables() -> Iterator[str]:
    policies = [Policy.load(name).document for name in policy_names()]
    yield "## Limits"
    yield ""
    yield "`warn / block / halt`; a dash is never."
    yield ""
    yield _row("", *(_code(policy["name"]) for policy in policies))
    yield "|---" * (len(policies) + 1) + "|"
    for detector in _DETECTORS:
        yield _row(_code(detector), *(_levels(policy, detector) for policy in policies))
    yield _row("mode", *(policy.get("mode", "enforce") for policy in policies))
    yield _row("on_error", *(policy.get("on_error", "block") for policy in policies))
    yield _row("budgets", *(_pairs(policy.get("budgets", {})) for policy in policies))
    yield _row("roles", *(_roles(policy) for policy in policies))
    yield ""
    yield "## Rules"
    yield ""
    yield "| policy | rule | kind | argument |"
    yield "|---|---|---|---|"
    for policy in policies:
        yield from _rules(policy)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    return f"`{text}`"


def _levels(policy: dict[str, Any], detector: str) -> str:
    levels = policy.get("loops", {}).get(detector, {})
    return " / ".join(str(levels.get(level) or "–") for level in ("warn", "block", "halt")) if levels else "off"


def _pairs(section: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in section.items()) or "none"


def _roles(policy: dict[str, Any]) -> str:
    return ", ".join(map(_code, policy.get("roles", {}).get("grants", {}))) or "none"


def _rules(policy: dict[str, Any]) -> Iterator[str]:
    for entry in policy.get("tools", ()):
        for rule in entry.get("rules", ()):
            kind = next(kind for kind in _KINDS if kind in rule)
            path = _code(rule["path"]) if "path" in rule else "all"
            yield _row(_code(policy["name"]), _code(rule["id"]), kind, path)


if __name__ == "__main__":
    PAGE.write_text(rendered(), encoding="utf-8")

"""Rules that the core cannot express, for the hook. Few policies have any, and only they pay for what runs them."""

from __future__ import annotations

from typing import Any

from microloop._policy.slow_rule import SlowRule
from microloop.hook.event import Decision
from microloop.hook.policies import Compiled
from microloop.patterns import first_finding
from microloop.tools import Tool


def judged(policy: Compiled, tool: str, arguments: bytes, step: int, decision: Decision) -> Decision:
    """The core's decision, or that of a slow rule that fires."""
    rules = tuple(rule for rule in map(_rule, policy.slow) if rule.applies_to(tool))
    finding = first_finding(Tool(tool, 0, "block", rules), arguments, step) if rules else None
    if finding is None or finding["action"] == decision.action or policy.mode == "observe":
        return decision
    return Decision(str(finding["action"]), finding["feedback"])


def _rule(fields: dict[str, Any]) -> SlowRule:
    return SlowRule(**{**fields, "tools": tuple(fields["tools"]), "unless": tuple(fields["unless"])})

"""Rules whose patterns the core's linear-time engine cannot express: run here, with a time limit, after the core's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from microloop.verdict import Action

if TYPE_CHECKING:
    from microloop._policy.slow_rule import SlowRule
    from microloop.tools import Tool

_HEADLINES = {"deny": "was refused", "require": "was refused", "ask": "needs approval"}
_REASONS = {
    "deny": "the arguments match what rule {rule} forbids. Do it in a way that the rule allows, or leave it out.",
    "require": "the arguments lack what rule {rule} requires. Add it and send the call again.",
    "ask": "rule {rule} asks for a person's consent.",
}
_TOO_SLOW = "rule {rule} could not be decided in time (timeout of its pattern). Send a shorter text."


def first_finding(tool: Tool, arguments: bytes, step: int) -> dict[str, Any] | None:
    """The fields of a verdict for the most severe rule that fires; None if none does.

    A pattern that takes too long has not cleared the call, so it counts as one that forbids it.
    """
    decoded = msgspec.json.decode(arguments)
    findings = [found for rule in tool.slow_rules if (found := _finding(rule, tool.name, decoded, step)) is not None]
    return next((found for found in findings if found["action"] is Action.BLOCK), next(iter(findings), None))


def _finding(rule: SlowRule, tool: str, arguments: Any, step: int) -> dict[str, Any] | None:
    action = Action.ASK if rule.kind == "ask" else Action.BLOCK
    headline = _HEADLINES[rule.kind]
    text = (rule.message or _REASONS[rule.kind].format(rule=rule.id)).replace("{tool}", tool)
    try:
        if not rule.fires(arguments):
            return None
    except TimeoutError:
        action, headline, text = Action.BLOCK, _HEADLINES["deny"], _TOO_SLOW.format(rule=rule.id)
    return {
        "action": action,
        "reason": f"rule.{rule.kind}",
        "rule": rule.id,
        # The step is there so that no two refusals read the same.
        "feedback": f"[microloop, step {step}] {tool} {headline}: {text}",
    }

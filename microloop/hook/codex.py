"""Codex CLI: https://developers.openai.com/codex/hooks. It speaks as Claude Code does, and understands less."""

from __future__ import annotations

from microloop.hook import claude_code
from microloop.hook.claude_code import read
from microloop.hook.event import Answer, Decision, Event

__all__ = ["answer", "read"]

_CANNOT_ASK = " Codex cannot ask from a hook, so the call was refused: ask the person to run it."


def answer(event: Event, decision: Decision) -> Answer:
    """As for Claude Code, but consent and the end of a run are refusals here.

    Before a call Codex takes either for an invalid answer, and would let the call through. A run that is halted stays
    so all the same: each further call is refused.
    """
    action, feedback = decision
    if event.kind == "before" and action == "ask":
        return claude_code.denied(event, feedback + _CANNOT_ASK)
    if event.kind == "before" and action == "halt":
        return claude_code.denied(event, feedback)
    return claude_code.answer(event, decision)

"""`charged`: what the model's messages cost. The hooks do not say it."""

from __future__ import annotations

import functools
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from claude_agent_sdk import AssistantMessage

from microloop.adapters._claude.gate import ClaudeGate
from microloop.adapters._gate.sessions import session_of
from microloop.adapters._gate.usage import Usage, spend

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator

    from microloop.guardrail import Guardrail


# Answers that may still go on: one for each agent that is at work.
_ANSWERS = 256


async def charged(guard: Guardrail, messages: AsyncIterable[Any]) -> AsyncIterator[Any]:
    """The same messages, with the tokens of the model charged to the budgets of the run.

    async for message in charged(guard, query(prompt="Find cats.", options=options)): ...
    """
    gate = ClaudeGate(guard, "charged", on_verdict=None)
    known: OrderedDict[str | None, Usage] = OrderedDict()
    async for message in messages:
        if isinstance(message, AssistantMessage) and message.usage is not None:
            # One answer comes as several messages, each with what was used so far; those of sub-agents come in between.
            usage, before = _usage(message.usage), known.pop(message.message_id, Usage())
            known[message.message_id] = usage
            if len(known) > _ANSWERS:
                known.popitem(last=False)
            gate.unless_faulty(functools.partial(_charge, guard, message, usage - before))
        yield message


def _charge(guard: Guardrail, message: AssistantMessage, used: Usage) -> None:
    spend(session_of(guard, message.session_id), used, model=message.model, provider="anthropic")


def _usage(used: dict[str, Any]) -> Usage:
    cached = used.get("cache_read_input_tokens") or 0
    fresh = (used.get("input_tokens") or 0) + (used.get("cache_creation_input_tokens") or 0)
    return Usage(fresh + cached, used.get("output_tokens") or 0, cached)

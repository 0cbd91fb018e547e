"""Calls that need consent: `Guardrail(ask=…)` gives it, and without anybody to ask they are refused."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from microloop.given import no_verdict
from microloop.log import logger
from microloop.verdict import ASK, Verdict

if TYPE_CHECKING:
    from microloop.guardrail import Guardrail


def permits(guard: Guardrail, verdict: Verdict) -> bool:
    """Whether the call may run. What `ask` raises is the host's own and goes to the host; the call does not run."""
    if not _must_ask(verdict):
        return verdict.allowed
    agreed: object = False
    try:
        agreed = guard.ask(verdict) if guard.ask is not None else False
        if inspect.iscoroutine(agreed):
            agreed.close()
            agreed = False
            logger().error("ask is a coroutine function and %s is not: the call is refused", verdict.tool)
    finally:
        _close(guard, verdict, agreed)
    return bool(agreed)


async def apermits(guard: Guardrail, verdict: Verdict) -> bool:
    """`permits`, for an `ask` of either kind."""
    if not _must_ask(verdict):
        return verdict.allowed
    agreed: object = False
    try:
        agreed = guard.ask(verdict) if guard.ask is not None else False
        if inspect.isawaitable(agreed):
            awaiting, agreed = agreed, False
            agreed = await awaiting
    finally:
        _close(guard, verdict, agreed)
    return bool(agreed)


def _must_ask(verdict: Verdict) -> bool:
    if not isinstance(verdict, Verdict):
        raise no_verdict(verdict)
    return verdict.action is ASK


def _close(guard: Guardrail, verdict: Verdict, agreed: object) -> None:
    if not agreed:
        guard.cancel(verdict)

"""`ask` verdicts: who decides, and how the answer is read.

With a checkpointer the run pauses in LangGraph's own way and a person answers whenever they like. Question and answer
have the form of LangChain's human-in-the-loop middleware, so that its clients can show the one and send the other.
Without one, `Guardrail(ask=…)` decides; and without that, the answer is no.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from microloop.adapters._gate.calls import Decision
from microloop.verdict import Action

if TYPE_CHECKING:
    from microloop.guardrail import Guardrail
    from microloop.verdict import Verdict

_YES = frozenset({"accept", "allow", "approve", "approved", "ok", "true", "y", "yes"})
# LangGraph has no public way to learn whether a pause can ever be resumed. If this name changes, nobody is asked by a
# pause any more; nothing is let through by it.
_CHECKPOINTER = "__pregel_checkpointer"


def decide(guard: Guardrail, verdict: Verdict, arguments: Any) -> Decision:
    """Whether a call may run, asking where somebody is to be asked."""
    if verdict.action is Action.ASK and can_pause():
        return _ask_person(guard, verdict, arguments)
    return Decision(guard.permits(verdict))


async def adecide(guard: Guardrail, verdict: Verdict, arguments: Any) -> Decision:
    """`decide` for a `Guardrail(ask=…)` that is a coroutine function."""
    if verdict.action is Action.ASK and can_pause():
        return _ask_person(guard, verdict, arguments)
    return Decision(await guard.apermits(verdict))


def can_pause() -> bool:
    """Whether the run can be paused and taken up again."""
    module = sys.modules.get("langchain_core.runnables.config")
    variable = getattr(module, "var_child_runnable_config", None)
    config = variable.get() if variable is not None else None
    return bool(config and (config.get("configurable") or {}).get(_CHECKPOINTER))


def _ask_person(guard: Guardrail, verdict: Verdict, arguments: Any) -> Decision:
    from langgraph.types import interrupt  # a graph is running, so it is loaded already

    decision = read(interrupt(question(verdict, arguments)))
    if not decision.approved:
        guard.cancel(verdict)
    return decision


def question(verdict: Verdict, arguments: Any) -> dict[str, Any]:
    """What a person sees."""
    return {
        "action_requests": [{"name": verdict.tool, "args": arguments, "description": verdict.feedback}],
        "review_configs": [{"action_name": verdict.tool, "allowed_decisions": ["approve", "reject"]}],
        "microloop": verdict.as_dict(),
    }


def read(answer: Any) -> Decision:
    """What they answered: true or a word, or a decision as LangChain's clients send it. Whatever is unclear is a no.

    >>> read({"decisions": [{"type": "reject", "message": "not on Fridays"}]})
    Decision(approved=False, message='not on Fridays')
    """
    if isinstance(answer, Mapping):
        if "decisions" in answer:
            return read(answer["decisions"])
        message = answer.get("message")
        return Decision(read(answer.get("type")).approved, message if isinstance(message, str) else "")
    if isinstance(answer, list):
        return read(answer[0]) if len(answer) == 1 else Decision(approved=False)
    if isinstance(answer, str):
        return Decision(answer.strip().lower() in _YES)
    return Decision(answer is True)

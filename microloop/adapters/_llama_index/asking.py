"""Calls that need consent, asked for in the event stream of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent

if TYPE_CHECKING:
    from microloop.verdict import Verdict

_YES = frozenset({"accept", "allow", "approve", "approved", "ok", "true", "y", "yes"})


async def ask_in_stream(verdict: Verdict) -> bool:
    """For `Guardrail(ask=ask_in_stream)`: the run waits for a person, as LlamaIndex's own tools do.

    The stream shows an `InputRequiredEvent` with the feedback as its `prefix`. Answer it with
    `handler.ctx.send_event(HumanResponseEvent(response="yes", step=event.step))`; whatever is unclear is a no.
    """
    question = InputRequiredEvent(prefix=verdict.feedback, step=verdict.step, microloop=verdict.as_dict())
    # Without the step an answer to one of several questions would be taken for an answer to all of them.
    answer = await Context.get_step_context().wait_for_event(
        HumanResponseEvent, waiter_event=question, requirements={"step": verdict.step}
    )
    return str(answer.response).strip().lower() in _YES

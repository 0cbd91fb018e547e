"""Which run and which call a piece of code is in, as LlamaIndex's workflows tell it by context variables."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from llama_index.core.agent.workflow import ToolCall
from llama_index_instrumentation.dispatcher import active_instrument_tags
from workflows.runtime.types.results import StepWorkerStateContextVar

from microloop.adapters._gate.nested import child_of_caller
from microloop.adapters._gate.sessions import session_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from microloop.guardrail import Guardrail
    from microloop.session import Session

_around: ContextVar[str | None] = ContextVar("microloop.llama_index_run", default=None)
"""The run whose tool is running."""


def run_id() -> str | None:
    """The id of the run, the same as its handler has."""
    found: str | None = active_instrument_tags.get().get("llamaindex.run_id")
    return found


@contextmanager
def in_this_run() -> Iterator[None]:
    """Around a tool, so that a run which it starts is not taken for the one that it belongs to."""
    token = _around.set(run_id())
    try:
        yield
    finally:
        _around.reset(token)


def session_here(guard: Guardrail) -> Session:
    """The session of the run: a child's, if a tool of another run has started it."""
    run = run_id()
    child = child_of_caller(guard) if _around.get() not in (None, run) else None
    return child or session_of(guard, run)


def call_here(name: str, arguments: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The model's id of the call that is made, and the guard's key for it; None where no agent makes it.

    The model's ids may come again in a later turn. The id of the step's work does not, and it stays the same when the
    step is started again, because it was to be repeated or has waited for an event.
    """
    step = StepWorkerStateContextVar.get(None)
    event = getattr(step, "event", None)
    if not isinstance(event, ToolCall) or event.tool_name != name or event.tool_kwargs != arguments:
        return None, None
    work = step.state.work_item_id
    return event.tool_id, None if work is None else f"{run_id()}/{work}"

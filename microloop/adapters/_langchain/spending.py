"""What a model's messages say of the tokens that they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from microloop.adapters._gate.notes import notes_of
from microloop.adapters._gate.usage import Usage, spend
from microloop.adapters._langchain.messages import turn_id

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

    from microloop.session import Session


def charge(session: Session, message: AIMessage) -> None:
    """Charges one answer of a model to the budgets of its session."""
    used = message.usage_metadata
    if used is None:
        return
    cached = (used.get("input_token_details") or {}).get("cache_read") or 0
    told = message.response_metadata
    spend(
        session,
        Usage(used["input_tokens"], used["output_tokens"], cached),
        model=told.get("model_name") or told.get("model"),
        provider=told.get("model_provider"),
    )


def charge_once(session: Session, place: int, message: AIMessage) -> None:
    """`charge`, where one message is met with each of its calls."""
    notes, turn = notes_of(session), turn_id(place, message)
    with notes.lock:
        if notes.charged == turn:
            return
        notes.charged = turn
    charge(session, message)

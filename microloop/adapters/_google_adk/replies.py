"""What a model's reply tells the guard, and the reply that ends a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.adk.models import LlmResponse
from google.genai import types

from microloop.adapters._gate.usage import Usage

if TYPE_CHECKING:
    from microloop.verdict import Verdict

HALTED = "MICROLOOP_HALTED"
"""The `error_code` of the event that ends a halted run. Its `custom_metadata["microloop"]` is the verdict."""


def halted_reply(verdict: Verdict) -> LlmResponse:
    """In place of the model's next answer: a last message that is marked as an error."""
    text = f"This run was halted. {verdict.feedback}"
    return LlmResponse(
        content=types.Content(role="model", parts=[types.Part(text=text)]),
        error_code=HALTED,
        error_message=verdict.feedback,
        custom_metadata={"microloop": verdict.as_dict()},
        turn_complete=True,
    )


def usage_of(response: LlmResponse) -> Usage:
    """The tokens of one answer. What the model thinks is output; what its built-in tools read is input."""
    used: Any = response.usage_metadata
    if used is None:
        return Usage()
    return Usage(
        input=(used.prompt_token_count or 0) + (used.tool_use_prompt_token_count or 0),
        output=(used.candidates_token_count or 0) + (used.thoughts_token_count or 0),
        cached=used.cached_content_token_count or 0,
    )


def last_words(response: LlmResponse) -> str | None:
    """The text of an answer without a call; None for one that calls a tool."""
    parts = (response.content and response.content.parts) or []
    if any(part.function_call for part in parts):
        return None
    return "".join(part.text for part in parts if part.text and not part.thought)

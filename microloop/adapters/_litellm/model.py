"""Asking the model behind the proxy again, and answers in its form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import litellm
from litellm.types.utils import Delta, ModelResponseStream, StreamingChoices

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from litellm import ModelResponse

# What belongs to the way of the client's request through the proxy, and not to what the model is asked.
_ROUTE = frozenset({"guardrails", "litellm_call_id", "messages", "metadata", "stream", "stream_options"})


async def ask(data: dict[str, Any], messages: Sequence[dict[str, Any]]) -> ModelResponse:
    """The model's answer to a client's request, with other messages."""
    from litellm.proxy.proxy_server import llm_router

    request = {key: value for key, value in data["proxy_server_request"]["body"].items() if key not in _ROUTE}
    # By its metadata LiteLLM charges a request to the client's key.
    metadata = {key: value for key, value in (data.get("metadata") or {}).items() if key != "guardrails"}
    return await (llm_router or litellm).acompletion(**request, messages=list(messages), metadata=metadata)


def rewritten(response: ModelResponse, text: str, finish_reason: str) -> ModelResponse:
    """An answer with a text in place of its calls."""
    choice = response.choices[0]
    choice.message.content, choice.message.tool_calls, choice.finish_reason = text, None, finish_reason
    return response


def chunks_of(response: ModelResponse) -> Iterator[ModelResponseStream]:
    """A whole answer as a stream."""
    choice = response.choices[0]
    calls = [{"index": place, **dumped(each)} for place, each in enumerate(choice.message.tool_calls or ())]
    delta = Delta(role="assistant", content=choice.message.content, tool_calls=calls or None)
    for part, reason in ((delta, None), (Delta(), choice.finish_reason)):
        choices = [StreamingChoices(index=0, delta=part, finish_reason=reason)]
        yield ModelResponseStream(id=response.id, created=response.created, model=response.model, choices=choices)


def has_calls(answer: Any) -> bool:
    """Whether there are calls in an answer, or in a part of a stream. Those of other routes have no choices."""
    choices = getattr(answer, "choices", ())
    parts = (getattr(each, "delta", None) or getattr(each, "message", None) for each in choices)
    return any(getattr(each, "tool_calls", None) for each in parts)


def dumped(value: Any) -> dict[str, Any]:
    """A message or a call as it stands in a request."""
    wire: dict[str, Any] = value.model_dump(exclude_none=True)
    return wire

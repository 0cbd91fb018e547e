"""Tokens in the answers of LlamaIndex's models, which it passes on as their providers wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from microloop.adapters._gate.usage import Usage

_INPUT = ("prompt_tokens", "input_tokens", "prompt_token_count", "prompt_eval_count")
_OUTPUT = ("completion_tokens", "output_tokens", "candidates_token_count", "eval_count")
_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_CACHED = ("cached_tokens", "cached_content_token_count", "cache_read_input_tokens")


def usage_of(raw: Any) -> Usage:
    """The tokens of an answer in the words of OpenAI, Anthropic, Google or Ollama; none where there are no such words.

    >>> usage_of({"usage": {"prompt_tokens": 120, "completion_tokens": 30}})
    Usage(input=120, output=30, cached=0)
    """
    counts = _get(raw, "usage") or _get(raw, "usage_metadata") or raw
    details = next((found for name in _DETAILS if (found := _get(counts, name))), counts)
    return Usage(_first(counts, _INPUT), _first(counts, _OUTPUT), _first(details, _CACHED))


def _first(counts: Any, names: tuple[str, ...]) -> int:
    return next((found for name in names if isinstance(found := _get(counts, name), int)), 0)


def _get(source: Any, name: str) -> Any:
    return source.get(name) if isinstance(source, Mapping) else getattr(source, name, None)

"""Reading the JSON that an agent sends. The errors name what is missing, and never quote what is there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from microloop.hook.event import JSON, TEXT, Outcome

Payload: TypeAlias = "Mapping[str, Any]"


class PayloadError(ValueError):
    """The agent sent something else than an event."""


class UnknownEvent(Exception):
    """An event that no decision depends on: the hook need not be called for it."""


def decoded(raw: bytes) -> Payload:
    """The payload behind the bytes of standard input."""
    try:
        payload = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise PayloadError(f"standard input is not JSON ({type(error).__name__})") from None
    if not isinstance(payload, dict):
        raise PayloadError(f"standard input is JSON, but a {type(payload).__name__} and not an object")
    return payload


def text(payload: Payload, key: str) -> str:
    """A field that must be there, and be text.

    >>> text({"tool_name": "Bash"}, "tool_name")
    'Bash'
    """
    value = payload.get(key)
    if not isinstance(value, str) or not value:
        raise PayloadError(f'"{key}" is missing from the event, or is no text')
    return value


def optional_text(payload: Payload, key: str) -> str:
    """A field that may be absent, which is the empty text."""
    return text(payload, key) if payload.get(key) else ""


def json_bytes(value: object) -> bytes:
    """A part of the payload as JSON again, the same for the same value.

    >>> json_bytes({"command": "ls", "background": False})
    b'{"background":false,"command":"ls"}'
    """
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode("ascii")


def result(value: object) -> Outcome:
    """What a tool gave back.

    >>> result("three lines").kind == TEXT, result(["a", "b"]).data
    (True, b'["a","b"]')
    """
    if isinstance(value, str):
        return Outcome(TEXT, value.encode("utf-8", "replace"))
    return Outcome(JSON, json_bytes(value))

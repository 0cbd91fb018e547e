"""LangChain's messages, as `dumpd`, `messages_to_dict` or `model_dump` write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from microloop.logs.events import Answer, Call, Entry, Event, Outcome, Said, Spent, each_entry, members
from microloop.logs.fields import arguments, listed, mapping, plain, result, text, whole, words
from microloop.logs.pairing import paired
from microloop.logs.values import Read
from microloop.recorded import BrokenLine, Line

_KINDS = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "AIMessageChunk": "ai",
    "ToolMessage": "tool",
    "SystemMessage": "system",
}


def recognises(document: Any) -> bool:
    """A message in any of the three forms."""
    return any(map(_is_message, members(document, "messages")))


def _is_message(document: dict[str, Any]) -> bool:
    message = message_of(document)
    kind = message.get("type")
    # Only LangChain calls the two sides of a conversation so.
    return "content" in message and (kind in ("human", "ai") or (kind == "tool" and "tool_call_id" in message))


def message_of(document: Any) -> dict[str, Any]:
    """A message's own fields, whichever way it was written; none if it is no message."""
    held = mapping(document)
    if "lc" in held:
        name = str(next(reversed(listed(held.get("id"))), ""))
        return {"type": _KINDS.get(name, name), **mapping(held.get("kwargs"))}
    fields = mapping(held.get("data")) or held
    kind = str(held.get("type"))
    return {} if "role" in held else {**fields, "type": _KINDS.get(kind, kind)}


def steps(values: Iterable[Read]) -> Iterator[Line]:
    """The steps of messages: loose, in lists, or in objects with `messages`."""
    return paired(each_entry(values, _events, "messages"))


def _events(entry: Entry) -> Iterator[Event]:
    message = message_of(entry.data)
    said = words(message.get("content"))
    if message.get("type") == "tool":
        yield Answer(entry.line, entry.run_id, outcome(message), text(message.get("tool_call_id")))
    elif message.get("type") == "ai":
        yield from turn(message, entry.line, entry.run_id, entry.turn)
    elif message.get("type") == "human" and said:
        yield Said(entry.run_id, "user", said)


def turn(message: dict[str, Any], line: int, run_id: str, batch: str, at: int | None = None) -> Iterator[Event]:
    """What a message of the model tells."""
    yield Spent(run_id, whole(mapping(message.get("usage_metadata")).get("total_tokens")))
    # What LangChain could not parse is a call all the same, and its arguments are as the model wrote them.
    calls = [mapping(call) for key in ("tool_calls", "invalid_tool_calls") for call in listed(message.get(key))]
    for call in calls:
        tool, args = text(call.get("name")), arguments(call.get("args"))
        missing = BrokenLine(line, "a call without a name")
        yield Call(run_id, tool, args, text(call.get("id")), batch, at) if tool else missing
    said = words(message.get("content"))
    if said and not calls:
        yield Said(run_id, "assistant", said, at=at)


def outcome(message: dict[str, Any]) -> Outcome:
    """What a tool's message brings back."""
    content = message.get("content")
    return Outcome(error=plain(content)) if message.get("status") == "error" else Outcome(result(content))

"""Messages of Anthropic's API, with blocks `tool_use` and `tool_result`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from microloop.logs.events import Answer, Call, Entry, Event, Outcome, Said, Spent, each_entry, members
from microloop.logs.fields import arguments, listed, mapping, plain, result, text, whole, words
from microloop.logs.pairing import paired
from microloop.logs.values import Read
from microloop.recorded import BrokenLine, Line

_COUNTED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


def recognises(document: Any) -> bool:
    """A message with a block that only Anthropic's API has."""
    return any(
        "role" in message and any(_is_block(mapping(block)) for block in listed(message.get("content")))
        for message in members(document, "messages")
    )


def _is_block(block: dict[str, Any]) -> bool:
    kind = str(block.get("type"))
    return (kind.endswith("tool_use") and "name" in block) or kind.endswith("tool_result") or "thinking" in block


def steps(values: Iterable[Read]) -> Iterator[Line]:
    """The steps of messages: loose, in lists, or in objects with `messages`."""
    return paired(each_entry(values, _events, "messages"))


def _events(entry: Entry) -> Iterator[Event]:
    yield Spent(entry.run_id, tokens(entry.data.get("usage")))
    yield from message_events(entry.data, entry.line, entry.run_id, entry.turn)


def tokens(usage: Any) -> int:
    """All that a message cost, with what came from the cache."""
    return sum(whole(mapping(usage).get(key)) for key in _COUNTED)


def message_events(
    message: dict[str, Any], line: int, run_id: str, turn: str, at: int | None = None
) -> Iterator[Event]:
    """What one message tells: calls, results, or what was said. `turn` is what the lines of one answer share."""
    blocks = [mapping(block) for block in listed(message.get("content"))]
    calls = [block for block in blocks if str(block.get("type")).endswith("tool_use")]
    for call in calls:
        tool, args = text(call.get("name")), arguments(call.get("input"))
        missing = BrokenLine(line, "a call without a name")
        yield Call(run_id, tool, args, text(call.get("id")), turn, at) if tool else missing
    answers = [block for block in blocks if str(block.get("type")).endswith("tool_result")]
    for block in answers:
        yield Answer(line, run_id, _outcome(block), text(block.get("tool_use_id")))
    said, speaker = words(message.get("content")), message.get("role")
    # Beside results, hosts put reminders and other words that nobody typed.
    if said and not calls and not answers and speaker in ("user", "assistant"):
        yield Said(run_id, speaker, said, turn if speaker == "assistant" else None, at)


def _outcome(block: dict[str, Any]) -> Outcome:
    content = block.get("content")
    failed = block.get("is_error") is True or str(mapping(content).get("type")).endswith("_error")
    return Outcome(error=plain(content)) if failed else Outcome(result(content))

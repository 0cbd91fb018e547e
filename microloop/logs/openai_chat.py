"""Messages of OpenAI's Chat Completions API, as many other servers and libraries write them too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from microloop.logs.events import Answer, Call, Entry, Event, Outcome, Said, each_entry, members
from microloop.logs.fields import arguments, listed, mapping, result, text, words
from microloop.logs.pairing import paired
from microloop.logs.values import Read
from microloop.recorded import BrokenLine, Line


def recognises(document: Any) -> bool:
    """A message with calls, or with the result of one."""
    return any(map(_has_calls, members(document, "messages")))


def _has_calls(message: dict[str, Any]) -> bool:
    calls = [mapping(call).get("function") or mapping(call).get("custom") for call in listed(message.get("tool_calls"))]
    by_function = message.get("role") == "assistant" and mapping(message.get("function_call"))
    result_of = message.get("role") in ("tool", "function") and "content" in message
    return bool(result_of or by_function or ("role" in message and any(map(mapping, calls))))


def is_message(document: Any) -> bool:
    """Whether there are messages at all, of which nothing says whose they are."""
    return any(isinstance(each.get("role"), str) and "content" in each for each in members(document, "messages"))


def steps(values: Iterable[Read]) -> Iterator[Line]:
    """The steps of messages: loose, in lists, or in objects with `messages`."""
    return paired(each_entry(values, _events, "messages"))


def _events(entry: Entry) -> Iterable[Event]:
    message, role = entry.data, entry.data.get("role")
    if role == "tool":
        outcome = Outcome(result(message.get("content")))
        return [Answer(entry.line, entry.run_id, outcome, text(message.get("tool_call_id")), text(message.get("name")))]
    if role == "function":
        return [
            Answer(entry.line, entry.run_id, Outcome(result(message.get("content"))), tool=text(message.get("name")))
        ]
    if role == "assistant":
        return _turn(entry)
    said = words(message.get("content"))
    return [Said(entry.run_id, "user", said)] if role == "user" and said else []


def _turn(entry: Entry) -> Iterator[Event]:
    message = entry.data
    calls = [_parts(mapping(call)) for call in listed(message.get("tool_calls"))]
    if mapping(message.get("function_call")):
        calls.append((None, message["function_call"]))
    for call_id, function in calls:
        tool = text(function.get("name"))
        # Custom tools take a text, which is no JSON that went wrong.
        args = {"input": function["input"]} if "input" in function else arguments(function.get("arguments"))
        yield (
            Call(entry.run_id, tool, args, call_id, entry.turn)
            if tool
            else BrokenLine(entry.line, "a call without a name")
        )
    said = words(message.get("content"))
    if said and not calls:
        yield Said(entry.run_id, "assistant", said)


def _parts(call: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """A call's id, and what it calls."""
    return text(call.get("id")), mapping(call.get("function")) or mapping(call.get("custom"))

"""Gemini CLI's sessions: one document, or, as newer versions write them, a line for each change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from microloop.logs.events import Call, Entry, Event, Outcome, Said, Spent, each_entry, members
from microloop.logs.fields import arguments, listed, mapping, milliseconds, plain, result, text, whole, words
from microloop.logs.pairing import paired
from microloop.logs.values import Read, Value
from microloop.recorded import BrokenLine, Line


def recognises(document: Any) -> bool:
    """A session names its project; a message is the model's by name."""
    return any(
        "projectHash" in each or (each.get("type") == "gemini" and "content" in each) for each in members(document)
    )


def steps(values: Iterable[Read]) -> Iterator[Line]:
    """The steps of sessions. Messages of a document are read as if each had been a line."""
    return paired(each_entry(_unfolded(values), _Sessions().events))


def _unfolded(values: Iterable[Read]) -> Iterator[Read]:
    for value in values:
        yield value
        if isinstance(value, Value):
            for message in listed(mapping(value.data).get("messages")):
                yield Value(value.line, message)


class _Sessions:
    """A message is written again, as a whole, with each call and count that comes to it."""

    def __init__(self) -> None:
        self._run_id = ""
        self._message = ""
        self._told: dict[str, bool] = {}
        self._tokens = 0
        self._called_on = 0

    def events(self, entry: Entry) -> Iterator[Event]:
        message = entry.data
        if "projectHash" in message:
            self._run_id = text(message.get("sessionId")) or ""
        elif message.get("type") == "user":
            said = words(message.get("content"))
            yield from [Said(self._run_id, "user", said, at=milliseconds(message.get("timestamp")))] if said else []
        elif message.get("type") == "gemini":
            yield from self._turn(entry)

    def _turn(self, entry: Entry) -> Iterator[Event]:
        message, turn = entry.data, text(entry.data.get("id")) or str(entry.line)
        again = turn == self._message
        if not again:
            self._message, self._told, self._tokens, self._called_on = turn, {}, 0, 0
        tokens = whole(mapping(message.get("tokens")).get("total"))
        yield Spent(self._run_id, max(0, tokens - self._tokens))
        self._tokens = max(tokens, self._tokens)
        said = words(message.get("content"))
        if said and not again:
            yield Said(self._run_id, "assistant", said, turn, milliseconds(message.get("timestamp")))
        calls = members(message.get("toolCalls"))
        if calls and not self._called_on:
            self._called_on = entry.line
        # Calls that come to a message later are those of another turn: it is kept open as long as nothing is said.
        batch = turn if entry.line == self._called_on else f"{turn}/{entry.line}"
        for call in calls:
            yield from self._call(call, entry.line, batch)

    def _call(self, call: dict[str, Any], line: int, batch: str) -> Iterator[Event]:
        tool, call_id = text(call.get("name")), text(call.get("id")) or ""
        if tool is None:
            yield BrokenLine(line, "a call without a name")
            return
        outcome = _outcome(call)
        if self._told.get(call_id, False) or (call_id in self._told and outcome is None):
            return
        self._told[call_id] = outcome is not None
        at = milliseconds(call.get("timestamp"))
        yield Call(self._run_id, tool, arguments(call.get("args")), call_id or None, batch, at, outcome)


def _outcome(call: dict[str, Any]) -> Outcome | None:
    responses = [mapping(part.get("functionResponse")).get("response") for part in members(call.get("result"))]
    response = mapping(next(filter(None, responses), None))
    if "error" in response or call.get("status") in ("error", "cancelled"):
        return Outcome(error=plain(response.get("error") or call.get("resultDisplay") or call.get("status")))
    if call.get("result") is None:
        return None
    return Outcome(result(response.get("output", response) if response else call["result"]))

"""Items of OpenAI's Responses API: those of an input, of an output, or whole responses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from microloop.logs.events import Answer, Call, Entry, Event, Outcome, Said, Spent, each_entry, members
from microloop.logs.fields import arguments, from_seconds, mapping, plain, result, text, whole, words
from microloop.logs.pairing import paired
from microloop.logs.values import Read
from microloop.recorded import BrokenLine, Line

_ARGUMENTS = ("arguments", "input", "action", "operation")
_PARAMETERS = ("code", "queries", "prompt")
_RESULTS = ("output", "outputs", "results", "result")


def recognises(document: Any) -> bool:
    """An item of a call, of its output, or a response that holds such."""
    return any(map(_is_item, members(document, "items")))


def _is_item(item: dict[str, Any]) -> bool:
    kind = str(item.get("type"))
    told = mapping(next(iter(item["content"]), None)) if isinstance(item.get("content"), list) else {}
    of_a_call = kind.endswith(("_call", "_call_output")) and ("call_id" in item or "id" in item)
    return of_a_call or item.get("object") == "response" or (kind == "message" and told.get("type") == "output_text")


def steps(values: Iterable[Read]) -> Iterator[Line]:
    """The steps of items, in the order of the conversation."""
    return paired(each_entry(values, Items().events, "items"))


class Items:
    """Reads items one after the other. What the model gives before the next result or message is one turn."""

    def __init__(self) -> None:
        self._turn = 1

    def events(self, entry: Entry) -> Iterator[Event]:
        """What an item, or a response, tells."""
        if entry.data.get("object") != "response":
            yield from self.item(entry.data, entry.line, entry.run_id)
            return
        self._turn += 1
        yield Spent(entry.run_id, whole(mapping(entry.data.get("usage")).get("total_tokens")))
        at = from_seconds(entry.data.get("created_at"))
        for item in members(entry.data, "output"):
            yield from self.item(item, entry.line, entry.run_id, at)

    def item(self, item: dict[str, Any], line: int, run_id: str, at: int | None = None) -> Iterator[Event]:
        """What one item tells."""
        kind = str(item.get("type") or "message")
        if kind.endswith("_call"):
            yield self._call(item, kind.removesuffix("_call"), line, run_id, at)
        elif kind.endswith("_output") and "call_id" in item:
            self._turn += 1
            yield Answer(line, run_id, output(item.get("output", item.get("tools"))), text(item["call_id"]))
        elif kind == "message":
            yield from self._message(item, run_id, at)

    def _call(self, item: dict[str, Any], kind: str, line: int, run_id: str, at: int | None) -> Event:
        # A function must have a name; the tools that come with the API have their item's.
        tool = text(item.get("name")) or (None if kind in ("function", "custom_tool") else kind)
        if tool is None:
            return BrokenLine(line, "a call without a name")
        call_id = text(item.get("call_id")) or text(item.get("id"))
        return Call(run_id, tool, _arguments(item, kind), call_id, str(self._turn), at, _outcome(item))

    def _message(self, item: dict[str, Any], run_id: str, at: int | None) -> Iterator[Event]:
        said, role = words(item.get("content")), item.get("role")
        if said and role == "assistant":
            yield Said(run_id, "assistant", said, str(self._turn), at)
        elif said and role == "user":
            self._turn += 1
            yield Said(run_id, "user", said, at=at)


def _arguments(item: dict[str, Any], kind: str) -> Any:
    given = next((item[key] for key in _ARGUMENTS if item.get(key) is not None), None)
    if kind == "custom_tool":
        return {"input": given}
    return {key: item[key] for key in _PARAMETERS if key in item} if given is None else arguments(given)


def _outcome(item: dict[str, Any]) -> Outcome | None:
    """What tools that run at the provider gave back stands in the item of the call."""
    if item.get("error"):
        return Outcome(error=plain(item["error"]))
    given = next((item[key] for key in _RESULTS if item.get(key) is not None), None)
    return None if given is None else Outcome(result(given))


def output(given: Any) -> Outcome:
    """A call's output; some clients say beside it whether it went well."""
    if isinstance(given, dict) and "content" in given:
        content = given.get("content_items") or given["content"]
        return Outcome(error=plain(content)) if given.get("success") is False else Outcome(result(content))
    return Outcome(result(given))

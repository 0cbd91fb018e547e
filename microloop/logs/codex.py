"""Codex CLI's rollouts: items of OpenAI's Responses API, with the session's own events between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from microloop.logs.events import Answer, Entry, Event, Outcome, Said, Spent, each_entry, members
from microloop.logs.fields import mapping, milliseconds, parsed_text, text, whole
from microloop.logs.openai_responses import Items
from microloop.logs.pairing import paired
from microloop.logs.values import Read
from microloop.recorded import Line

_LINES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state")


def recognises(document: Any) -> bool:
    """A line has a type and a payload."""
    return any(each.get("type") in _LINES and isinstance(each.get("payload"), dict) for each in members(document))


def steps(values: Iterable[Read]) -> Iterator[Line]:
    """The steps of sessions."""
    return paired(each_entry(values, _Sessions().events))


class _Sessions:
    """A session's id stands in its first line. A fork goes on with a copy of its parent's lines, the first included."""

    def __init__(self) -> None:
        self._items = Items()
        self._run_id = ""
        self._copied = ""

    def events(self, entry: Entry) -> Iterable[Event]:
        kind, payload = entry.data.get("type"), mapping(entry.data.get("payload"))
        at = milliseconds(entry.data.get("timestamp"))
        if kind == "session_meta":
            self._begin(payload)
        elif kind == "response_item":
            return self._item(payload, entry.line, at)
        elif kind == "event_msg":
            return self._told(payload, at)
        return []

    def _begin(self, meta: dict[str, Any]) -> None:
        session = text(meta.get("id")) or ""
        if session != self._copied or not session:
            self._run_id = session
            self._copied = text(meta.get("forked_from_id")) or text(_spawn(meta).get("parent_thread_id")) or ""

    def _item(self, item: dict[str, Any], line: int, at: int | None) -> Iterator[Event]:
        for event in self._items.item(item, line, self._run_id, at):
            # Items of the user are also instructions and the like; what a person typed is an event of its own.
            if isinstance(event, Said) and event.speaker == "user":
                continue
            yield _plain_output(event) if isinstance(event, Answer) else event

    def _told(self, event: dict[str, Any], at: int | None) -> Iterator[Event]:
        said = text(event.get("message"))
        if event.get("type") == "user_message" and said:
            yield Said(self._run_id, "user", said, at=at)
        elif event.get("type") == "token_count":
            last = mapping(mapping(event.get("info")).get("last_token_usage"))
            yield Spent(self._run_id, whole(last.get("total_tokens")))


def _spawn(meta: dict[str, Any]) -> dict[str, Any]:
    source = mapping(meta.get("source"))
    return mapping(mapping(source.get("subagent")).get("thread_spawn"))


def _plain_output(answer: Answer) -> Answer:
    """Some tools' output is a text of JSON that also says how long it took: no two would be the same."""
    held = mapping(parsed_text(answer.outcome.value))
    metadata = mapping(held.get("metadata"))
    if "output" not in held or not metadata:
        return answer
    kept = {"output": held["output"], "exit_code": metadata.get("exit_code")}
    return Answer(answer.line, answer.run_id, Outcome(kept), answer.call_id)

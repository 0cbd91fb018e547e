"""Claude Code's session logs: a message of Anthropic's API a line, or one block of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from microloop.logs.anthropic_messages import message_events, tokens
from microloop.logs.events import Entry, Event, Said, Spent, each_entry, members
from microloop.logs.fields import dollars, mapping, milliseconds, text
from microloop.logs.pairing import paired
from microloop.logs.values import Read
from microloop.recorded import Line

_KEYS = ("sessionId", "leafUuid", "messageId", "parentUuid")
_LINES = (
    "user",
    "assistant",
    "system",
    "summary",
    "progress",
    "attachment",
    "queue-operation",
    "file-history-snapshot",
)
_NOT_TYPED = ("<local-command-", "<task-notification>", "<system-reminder>", "[Request interrupted")


def recognises(document: Any) -> bool:
    """A line names its session, or the message that it follows."""
    return any(each.get("type") in _LINES and any(key in each for key in _KEYS) for each in members(document))


def steps(values: Iterable[Read]) -> Iterator[Line]:
    """The steps of sessions; a sub-agent has a run of its own."""
    return paired(each_entry(values, _Sessions().events))


class _Sessions:
    """Side chains without an agent's id belong together by their parents, and an answer's lines repeat its usage."""

    def __init__(self) -> None:
        self._roots: dict[str, str] = {}
        self._counted: tuple[str, int] = ("", 0)

    def events(self, entry: Entry) -> Iterator[Event]:
        line, message = entry.data, mapping(entry.data.get("message"))
        run_id, speaker = self._run_id(line), line.get("type")
        if speaker not in ("user", "assistant") or not _counts(line):
            return
        turn = text(message.get("id")) or text(line.get("requestId"))
        if speaker == "assistant":
            yield Spent(run_id, self._new_tokens(message, turn or ""), dollars(line.get("costUSD")))
        at = milliseconds(line.get("timestamp"))
        for event in message_events({**message, "role": speaker}, entry.line, run_id, turn or entry.turn, at):
            if not (isinstance(event, Said) and speaker == "user" and event.words.startswith(_NOT_TYPED)):
                yield event

    def _run_id(self, line: dict[str, Any]) -> str:
        session = text(line.get("sessionId")) or ""
        if line.get("isSidechain") is not True:
            return session
        agent = text(line.get("agentId"))
        if agent is None:
            own = text(line.get("uuid")) or ""
            agent = self._roots[own] = self._roots.get(str(line.get("parentUuid")), own)
        return f"{session}/{agent}"

    def _new_tokens(self, message: dict[str, Any], turn: str) -> int:
        counted = self._counted[1] if turn and turn == self._counted[0] else 0
        used = tokens(message.get("usage"))
        self._counted = (turn, max(counted, used))
        return max(0, used - counted)


def _counts(line: dict[str, Any]) -> bool:
    """Not what the program itself put in: notes, summaries, errors of the API in the model's place."""
    return not any(line.get(mark) is True for mark in ("isMeta", "isCompactSummary", "isApiErrorMessage"))

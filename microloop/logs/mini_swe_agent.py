"""mini-swe-agent's trajectories, of formats 1 and 1.1. Its one tool is the shell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from microloop.logs.events import Answer, Call, Entry, Event, Outcome, Said, Spent, each_entry
from microloop.logs.fields import dollars, from_seconds, listed, mapping, plain, result, text, whole, words
from microloop.logs.pairing import paired
from microloop.logs.values import Read
from microloop.recorded import Line

_COMMAND = re.compile(r"```(?:bash|mswea_bash_command)\s*\n(.*?)\n```", re.DOTALL)


def recognises(document: Any) -> bool:
    """The file names its format."""
    return str(mapping(document).get("trajectory_format")).startswith("mini-swe-agent")


def steps(values: Iterable[Read]) -> Iterator[Line]:
    """The steps of trajectories."""
    return paired(each_entry(values, _Trajectory().events, "messages"))


class _Trajectory:
    """Reads messages one after the other: what follows a command is its output, whoever it is said to come from."""

    def __init__(self) -> None:
        self._awaited = 0
        self._asked = False

    def events(self, entry: Entry) -> Iterator[Event]:
        message, extra = entry.data, mapping(entry.data.get("extra"))
        if message.get("role") == "system":
            self._awaited, self._asked = 0, False
        elif message.get("role") == "assistant" or message.get("object") == "response":
            yield from self._turn(entry, extra)
        elif self._awaited and message.get("role") != "exit":
            self._awaited -= 1
            call_id = text(message.get("tool_call_id")) or text(message.get("call_id"))
            yield Answer(entry.line, entry.run_id, _outcome(message, extra), call_id)
        elif message.get("role") == "user" and (not self._asked or extra.get("interrupt_type") == "UserInterruption"):
            self._asked = True
            yield Said(entry.run_id, "user", words(message.get("content")), at=_at(extra))

    def _turn(self, entry: Entry, extra: dict[str, Any]) -> Iterator[Event]:
        usage = mapping(mapping(extra.get("response")).get("usage"))
        yield Spent(entry.run_id, whole(usage.get("total_tokens")), dollars(extra.get("cost")))
        said = words(entry.data.get("content"))
        actions = _actions(extra, said)
        self._awaited = len(actions)
        for command, call_id in actions:
            yield Call(entry.run_id, "bash", {"command": command}, call_id, entry.turn, _at(extra))
        if said and not actions:
            yield Said(entry.run_id, "assistant", said, at=_at(extra))


def _actions(extra: dict[str, Any], said: str) -> list[tuple[str, str | None]]:
    """Format 1.1 has the commands beside the message; in format 1 they are in its text, and only one is run."""
    if "actions" in extra:
        actions = [mapping(action) for action in listed(extra["actions"])]
        return [(str(action.get("command") or ""), text(action.get("tool_call_id"))) for action in actions]
    written = _COMMAND.findall(said)
    return [(written[0].strip(), None)] if len(written) == 1 else []


def _outcome(message: dict[str, Any], extra: dict[str, Any]) -> Outcome:
    failed = text(extra.get("exception_info"))
    given = message.get("content", message.get("output"))
    return Outcome(error=failed) if failed else Outcome(result(given) if given else plain(extra.get("raw_output")))


def _at(extra: dict[str, Any]) -> int | None:
    return from_seconds(extra.get("timestamp"))

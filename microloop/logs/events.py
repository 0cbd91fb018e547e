"""What importers find in a log, in the order in which it happened there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from microloop.logs.fields import mapping, text
from microloop.logs.values import Read, Value
from microloop.recorded import BrokenLine, Line
from microloop.replay import UNKNOWN

_OWN_IDS = ("run_id", "thread_id", "conversation_id", "session_id", "instance_id")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came back from a call."""

    value: Any = UNKNOWN
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """The model calls a tool. With an outcome, it is the whole call, or completes the open one of the same id."""

    run_id: str
    tool: str
    args: Mapping[str, Any] | str
    call_id: str | None = None
    batch: str | None = None
    at: int | None = None
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A call's result, found by the id of the call, or else by the name of the tool."""

    line: int
    run_id: str
    outcome: Outcome
    call_id: str | None = None
    tool: str | None = None
    repeated: bool = False
    """Whether this format tells a result more than once, so that one without an open call is none of a mistake."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the user, or of the assistant; if a call of the same turn follows, it is part of that."""

    run_id: str
    speaker: str
    words: str
    turn: str | None = None
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """What the model has spent on what comes next in the run."""

    run_id: str
    tokens: int = 0
    usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Ended:
    """Nothing more comes of a run."""

    run_id: str


Event: TypeAlias = "Call | Answer | Said | Spent | Ended | BrokenLine"


class Importer(Protocol):
    """A module that reads one format."""

    def recognises(self, document: Any) -> bool:
        """Whether a value of a file can only be of this format."""
        ...

    def steps(self, values: Iterable[Read]) -> Iterator[Line]:
        """The steps of a file's values, and what is broken, each in order."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """An object of a log, on which line it is, and which run it belongs to if nothing in it says so."""

    line: int
    run_id: str
    data: dict[str, Any]
    place: int = 0

    @property
    def turn(self) -> str:
        """What the calls of one message have in common. Their ids would not do: some servers start anew each time."""
        return f"{self.line}.{self.place}"


def opened(document: Any, *keys: str) -> list[Any] | None:
    """The members of a list, or of the list that an object has under one of the keys; None for anything else.

    >>> opened({"messages": [1, 2]}, "messages"), opened({"role": "user"}, "messages")
    ([1, 2], None)
    """
    if isinstance(document, list):
        return document
    held = (document.get(key) for key in keys) if isinstance(document, dict) else ()
    return next((each for each in held if isinstance(each, list)), None)


def members(document: Any, *keys: str) -> list[dict[str, Any]]:
    """The objects in a document: those of its list, or itself."""
    held = opened(document, *keys)
    return [each for each in ([document] if held is None else held) if isinstance(each, dict)]


def each_entry(values: Iterable[Read], find: Callable[[Entry], Iterable[Event]], *keys: str) -> Iterator[Event]:
    """What there is to find in each object of a log. A list is a run of its own, unless its objects say otherwise."""
    unnamed = 0
    for value in values:
        if isinstance(value, BrokenLine):
            yield value
            continue
        held = opened(value.data, *keys)
        if held is None:
            yield from _found(value, value.data, "", 0, find)
            continue
        run_id = _own_id(value.data)
        if run_id is None:
            unnamed += 1
            run_id = str(unnamed) if unnamed > 1 else ""
        for place, each in enumerate(held):
            yield from _found(value, each, run_id, place, find)
        yield Ended(run_id)


def _own_id(document: Any) -> str | None:
    named = (text(mapping(document).get(key)) for key in _OWN_IDS)
    return next(filter(None, named), None)


def _found(
    value: Value, data: Any, run_id: str, place: int, find: Callable[[Entry], Iterable[Event]]
) -> Iterable[Event]:
    if isinstance(data, dict):
        return find(Entry(value.line, run_id, data, place))
    return [BrokenLine(value.line, f"expected an object, found {type(data).__name__}")]

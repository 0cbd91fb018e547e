"""What happened between the proxy and the model that the client does not know.

The client keeps the conversation and sends all of it each time. Refused calls are not in it: they and their answers,
and advice on results, are put back into every request, so that the model reads one consistent conversation.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Message = dict[str, Any]
_TURNS = 256


@dataclass(slots=True)
class Turn:
    """What belongs to one message with calls that the client has seen."""

    refused: list[Message] = field(default_factory=list)
    """Turns before it, all of whose calls were refused, with the answers."""
    hidden: list[Message] = field(default_factory=list)
    """Calls that were taken out of it."""
    answers: list[Message] = field(default_factory=list)
    """The answers to those."""
    advice: dict[str, str] = field(default_factory=dict)
    """What stands at the head of results, by call id."""


class Conversation:
    """The turns of one session."""

    def __init__(self) -> None:
        self._turns: OrderedDict[tuple[Any, ...], Turn] = OrderedDict()

    def turn(self, messages: Sequence[Message]) -> Turn:
        """What belongs to the last message with calls, made if there was nothing yet."""
        asking = [each for each in messages if each.get("tool_calls")]
        turn = self._turns.setdefault(_place(len(asking) - 1, asking[-1]), Turn())
        if len(self._turns) > _TURNS:
            self._turns.popitem(last=False)
        return turn

    def restored(self, messages: Sequence[Message]) -> Iterator[Message]:
        """The client's messages as the model is to read them."""
        turn, before = None, 0
        for message in messages:
            if message.get("tool_calls"):
                turn = self._turns.get(_place(before, message))
                before += 1
                yield from [message] if turn is None else _asking(message, turn)
            elif turn is not None and message.get("tool_call_id") in turn.advice:
                yield _advised(message, turn.advice[message["tool_call_id"]])
            else:
                yield message


def _asking(message: Message, turn: Turn) -> Iterator[Message]:
    yield from turn.refused
    yield {**message, "tool_calls": [*message["tool_calls"], *turn.hidden]}
    yield from turn.answers


def _place(before: int, message: Message) -> tuple[Any, ...]:
    # Small models use the same ids again in each turn; how many turns came before tells them apart.
    return before, *_ids(message)


def last_call(messages: Sequence[Message]) -> int:
    """The place of the last message with calls; -1 if there is none."""
    return next((place for place in range(len(messages) - 1, -1, -1) if messages[place].get("tool_calls")), -1)


def results(messages: Sequence[Message]) -> Iterator[tuple[str, Any]]:
    """The results that the client has added since the model's last calls: call id and content."""
    for message in messages[last_call(messages) + 1 :]:
        if message["role"] == "tool":
            yield message["tool_call_id"], text_of(message.get("content"))


def name_of(messages: Sequence[Message]) -> str | None:
    """The same for a conversation as far as its last calls, however clients write it; None before the first call."""
    place = last_call(messages)
    if place < 0:
        return None
    seen = [[each["role"], _ids(each) or _said(each)] for each in messages[: place + 1]]
    return hashlib.blake2b(json.dumps(seen).encode(), digest_size=16).hexdigest()


def text_of(content: Any) -> Any:
    """The text of a content; what is not only text as it is."""
    if isinstance(content, list) and all(isinstance(each, dict) and each.get("type") == "text" for each in content):
        return "\n".join(str(each["text"]) for each in content)
    return content


def _advised(message: Message, advice: str) -> Message:
    """A tool message with advice at its head."""
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [{"type": "text", "text": advice}, *content]}
    return {**message, "content": f"{advice}\n\n{content or ''}"}


def _ids(message: Message) -> list[str]:
    return [str(each["id"]) for each in message.get("tool_calls") or ()]


def _said(message: Message) -> Any:
    # Clients shorten old results and their own texts; what people say stays.
    return text_of(message.get("content")) if message["role"] in ("user", "system", "developer") else None

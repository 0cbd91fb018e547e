"""What a coding agent tells of, and what it is told: the same for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["before", "after", "prompt", "answer", "begins", "ends"]
TEXT, JSON, ERROR = 0, 1, 2


class Outcome(NamedTuple):
    """What came back from a call: `kind` is `TEXT`, `JSON` or `ERROR`, as the core numbers them."""

    kind: int
    data: bytes


class Event(NamedTuple):
    """A call about to be made (`before`), one that is over (`after`), a person's message (`prompt`), the model's last
    word (`answer`), a run that starts anew (`begins`) or is over (`ends`).
    """

    kind: Kind
    name: str
    """What the agent calls it."""
    session: str
    agent: str = ""
    """The sub-agent that makes the call; empty for the main one."""
    tool: str = ""
    arguments: bytes = b""
    call_id: str | None = None
    outcome: Outcome | None = None
    """None for a call that did not come to its end."""
    text: str = ""


class Decision(NamedTuple):
    """What becomes of the call, in the words of `microloop.Action`, and what the model or the person is told."""

    action: str
    feedback: str


ALLOWED = Decision("allow", "")
Answer: TypeAlias = "Mapping[str, Any] | None"
"""A decision in the words of an agent; None where it is told nothing."""

"""A tool call on its way through an adapter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from microloop.adapters._gate.answers import Leader
    from microloop.session import Session
    from microloop.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the guard sees it. `key` and `batch` tell the guard which call of which model turn it is.

    `tool` is the framework's own object, from which the gate reads the schema.
    """

    session: Session
    name: str
    arguments: Any
    call_id: str | None = None
    key: str | None = None
    batch: str | None = None
    tool: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A call that was judged. Without `call` the guard itself failed before it knew the call."""

    name: str
    call_id: str | None
    verdict: Verdict
    call: Call | None = None
    leader: Leader | None = None
    """For a call that may run: what its identical neighbours wait for."""
    repeats: bool = False
    """Whether it is such a neighbour, of `first`."""
    first: Leader | None = None
    native: Any = None
    """What the framework's answer is made of, known also where `call` is not."""

    @property
    def arguments(self) -> Any:
        """What the model wrote, for whoever is asked about the call."""
        return None if self.call is None else self.call.arguments


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether the call may run, and what the person said who was asked."""

    approved: bool
    message: str = ""

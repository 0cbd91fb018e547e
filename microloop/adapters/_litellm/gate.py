"""How a proposed call is answered in a proxy: with the text that the model will read in place of a result."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from microloop.adapters._gate.distant import DistantGate
from microloop.adapters._gate.shown import SchemaGate

if TYPE_CHECKING:
    from microloop.adapters._gate.calls import Entry
    from microloop.verdict import Verdict

# A chat message has no field for it; agents say it in words.
_ERROR = re.compile(r"\s*(?:<?\w*error\b|\w*exception\b|traceback \(most recent call last\))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that the client will not see."""

    text: str
    verdict: Verdict


class ProxyGate(SchemaGate, DistantGate):
    """The result of a call comes back with the client's next request, if it comes at all."""

    def answer(self, entry: Entry, text: str) -> Refusal:
        """See `Refusal`."""
        return Refusal(text, entry.verdict)

    def outcome_of(self, entry: Entry, result: Any) -> tuple[Any, BaseException | str | None]:
        """The content of a tool message: an error if it begins like one."""
        del entry
        return (None, result) if isinstance(result, str) and _ERROR.match(result) else (result, None)

"""`Verdict`: what the guard says about one call."""

from __future__ import annotations

from enum import Enum
from typing import Any, TypeAlias

import msgspec

Count: TypeAlias = "int | float | None"


class Action(str, Enum):
    """What happens to a call, mildest first.

    >>> Action("block") is Action.BLOCK
    True
    """

    ALLOW = "allow"
    WARN = "warn"
    ASK = "ask"
    BLOCK = "block"
    HALT = "halt"

    def __str__(self) -> str:
        return self.value


# The hot path goes by these: looking a member up on its class costs as much as a function call.
ALLOW, WARN, ASK, BLOCK, HALT = Action


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """What happens to a call, why, and what the model should be told.

    `seen` was counted against `limit` by `rule`; `evidence` are the numbers of the steps that led there. In observe
    mode `would` is the action that was withheld.

    >>> verdict = Verdict(action=Action.BLOCK, reason="loop.repeat", tool="search", evidence=(1, 2, 3))
    >>> verdict.allowed, verdict.evidence
    (False, (1, 2, 3))
    """

    action: Action = ALLOW
    reason: str = "none"
    rule: str = ""
    tool: str = ""
    step: int = 0
    limit: Count = None
    seen: Count = None
    evidence: tuple[int, ...] = ()
    feedback: str = ""
    would: Action | None = None
    session: Any = None
    """The session that gave the verdict, so that `Guardrail.record` finds it; None for one that you made."""

    @property
    def allowed(self) -> bool:
        """Whether the call may run as it stands; an `ask` may not until somebody agrees."""
        return self.action is ALLOW or self.action is WARN

    def as_dict(self) -> dict[str, Any]:
        """The verdict as plain JSON values, for logs and audits.

        >>> Verdict(tool="search", step=1).as_dict()["action"]
        'allow'
        """
        fields = {name: getattr(self, name) for name in self.__struct_fields__ if name != "session"}
        return {**fields, "action": str(self.action), "would": self.would and str(self.would)}

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items() if value not in (None, "", ()))
        return f"Verdict({shown})"

    def __reduce__(self) -> tuple[Any, ...]:
        # A session is native memory of this process: the copy in another one does without.
        return _restored, (self.as_dict(),)


_decode = msgspec.json.Decoder(Verdict).decode


def decode(document: bytes, session: Any) -> Verdict:
    """A verdict as the core wrote it, tied to its session."""
    verdict = _decode(document)
    msgspec.structs.force_setattr(verdict, "session", session)
    return verdict


def _restored(fields: dict[str, Any]) -> Verdict:
    return msgspec.convert(fields, Verdict)

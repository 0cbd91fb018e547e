"""What the model spent, for budgets of tokens and money."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from microloop.log import logger

if TYPE_CHECKING:
    from microloop.session import Session
    from microloop.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or several answers of a model. `cached` are those among `input` that the provider had cached.

    >>> Usage(input=120, output=30) - Usage(input=100, output=10)
    Usage(input=20, output=20, cached=0)
    """

    input: int = 0
    output: int = 0
    cached: int = 0

    def __sub__(self, before: Usage) -> Usage:
        """What came since, where a framework only keeps a running total."""
        return Usage(
            max(self.input - before.input, 0),
            max(self.output - before.output, 0),
            max(self.cached - before.cached, 0),
        )


def spend(session: Session, usage: Usage, *, model: str | None = None, provider: str | None = None) -> Verdict | None:
    """Charges an answer of the model to the session's budgets. None where nothing was used."""
    tokens = usage.input + usage.output
    if tokens == 0:
        return None
    return session.spend(tokens=tokens, usd=_price(session, usage, model, provider))


def _price(session: Session, usage: Usage, model: str | None, provider: str | None) -> float:
    if not (session.guard.policy.document.get("budgets") or {}).get("usd"):
        return 0.0
    from microloop.prices import usd_of

    found = (
        None
        if model is None
        else usd_of(
            model,
            input_tokens=usage.input,
            output_tokens=usage.output,
            cached_tokens=usage.cached,
            provider=provider,
        )
    )
    if found is None:
        logger().warning("the price of model %s is not known: its tokens are not charged to budgets.usd", model)
    return found or 0.0

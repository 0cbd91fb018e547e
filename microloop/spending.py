"""What the model costs, in the core's units: whole tokens, and whole billionths of a dollar."""

from __future__ import annotations

import math
import operator

from microloop.given import wrong_type

_MOST_TOKENS = (1 << 64) - 1
_MOST_USD = 1e10


def whole_tokens(tokens: int) -> int:
    """A number of tokens, as the core takes it. More than it can count is as many as it can.

    >>> whole_tokens(1234)
    1234
    """
    try:
        count = operator.index(tokens)
    except TypeError:
        raise wrong_type("tokens", tokens, "a whole number", "leave it out where nobody has counted") from None
    if count < 0:
        raise ValueError(f"tokens is {count}: what was spent cannot be taken back; pass 0 or more")
    return min(count, _MOST_TOKENS)


def nano_usd(usd: float) -> int:
    """Dollars in billionths. More than the core can count is as much as it can.

    >>> nano_usd(0.0042)
    4200000
    """
    if not hasattr(type(usd), "__float__"):
        raise wrong_type("usd", usd, "a number of dollars", "leave it out where nobody knows the price")
    try:
        dollars = float(usd)
    except OverflowError:
        raise ValueError("usd is too large: what was spent is a finite number of dollars; pass 0 or more") from None
    if not 0 <= dollars < math.inf:
        raise ValueError(f"usd is {usd}: what was spent is a finite number of dollars; pass 0 or more")
    return round(min(usd, _MOST_USD) * 10**9)

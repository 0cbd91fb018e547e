"""What a model's answer cost, in dollars: the `usd` for `Session.spend`. Needs the package genai-prices."""

from __future__ import annotations

from microloop.errors import AdapterError
from microloop.spending import whole_tokens

# The oldest that takes cached tokens for a part of the input, as all later ones do.
_NEEDED = "genai-prices>=0.0.23"


def usd_of(
    model: str, *, input_tokens: int, output_tokens: int, cached_tokens: int = 0, provider: str | None = None
) -> float | None:
    """The price of one answer, by the list that comes with the package: nothing is fetched. None for an unknown model.

    `cached_tokens` are those of `input_tokens` that came from a cache. Without `provider` it is guessed from the name.
    """
    try:
        from genai_prices import Usage, calc_price
    except ImportError as error:
        raise AdapterError(
            f"prices of models need genai-prices ({error}): pip install --upgrade '{_NEEDED}', "
            "or pass usd from the provider's own list"
        ) from error
    usage = Usage(
        input_tokens=whole_tokens(input_tokens),
        cache_read_tokens=whole_tokens(cached_tokens),
        output_tokens=whole_tokens(output_tokens),
    )
    try:
        return float(calc_price(usage, model, provider_id=provider).total_price)
    except LookupError:
        return None

"""What a host knows of a step besides its call and outcome, as the JSON that the core reads."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from microloop import _native
from microloop.encoding import outcome_json, plain, stable_repr, text_bytes


def crossing(call: Callable[[bytes], int], state: object, metrics: object, metadata: object) -> int:
    """What a function of the core answers that is told this; in a tidier form where it cannot read the first."""
    known = told(state, metrics, metadata)
    status = _native.NOT_JSON if known is None else call(known)
    return call(tidied(state, metrics, metadata)) if status == _native.NOT_JSON else status


def told(state: object, metrics: object, metadata: object) -> bytes | None:
    """What is given, as it is; None where that cannot be written.

    >>> told(None, {"failures": 3}, None)
    b'{"state":null,"metrics":{"failures":3},"metadata":null}'
    """
    try:
        return _encode({"state": state, "metrics": metrics, "metadata": metadata})
    except Exception:  # noqa: BLE001 - whatever the host's values do while they are read must not reach the host
        return None


def tidied(state: object, metrics: object, metadata: object) -> bytes:
    """What can be read of anything, in a form that the core can read; what it cannot be told is null there.

    >>> tidied(None, {"failures": 10**400, "rows": 3}, {"verifier": "unit"})
    b'{"state":null,"metrics":{"failures":null,"rows":3.0},"metadata":{"verifier":"unit"}}'
    """
    numbers, texts = _items(metrics), _items(metadata)
    document = {
        "state": None if state is None else outcome_json(state)[1].decode("utf-8", "replace"),
        "metrics": 0 if numbers is None else {_shown(name): _number(value) for name, value in numbers},
        "metadata": 0 if texts is None else {_shown(name): _text(value) for name, value in texts},
    }
    return _encode(document)


def unread(metrics: object, metadata: object) -> tuple[str, ...]:
    """The names of what the core could not be told.

    >>> unread({"failures": 3, "speed": "fast"}, 7)
    ('metrics.speed', 'metadata')
    """
    numbers, texts = _items(metrics), _items(metadata)
    odd = [] if numbers is not None else ["metrics"]
    odd += [f"metrics.{_shown(name)}" for name, value in numbers or () if _number(value) is None]
    odd += [] if texts is not None else ["metadata"]
    # Whatever else the core could not read is no mapping of numbers, though it may look like one here.
    return tuple(odd) or ("metrics",)


def _items(mapping: Any) -> tuple[tuple[object, Any], ...] | None:
    """What a mapping holds; None if it is none, or cannot be read."""
    if mapping is None:
        return ()
    try:
        return tuple(mapping.items()) if isinstance(mapping, Mapping) else None
    except Exception:  # noqa: BLE001 - a fault of the host's own mapping; its name is reported
        return None


def _number(value: object) -> float | None:
    if isinstance(value, str) or not hasattr(type(value), "__float__"):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001 - an integer beyond all doubles, or a fault of the host's own number
        return None
    return number if math.isfinite(number) else None


def _shown(value: object) -> str:
    return text_bytes(value if isinstance(value, str) else stable_repr(value)).decode()


def _text(value: object) -> bool | str | None:
    return value if value is None or isinstance(value, bool) else _shown(value)


def _plain(value: Any) -> Any:
    """Numbers of any kind are numbers here, whole ones with all their digits; everything else as it always is."""
    try:
        return operator.index(value)
    except Exception:  # noqa: BLE001 - most values are no integers; what the host's object does must not reach the host
        number = _number(value)
    return plain(value) if number is None else number


_encode = msgspec.json.Encoder(enc_hook=_plain, decimal_format="number").encode

"""Values of Python as the JSON that the core reads.

One encoder is made once and held: the fast path is a single call of it. What it cannot write, or would write as
something else, takes the slow path, and reaches the core in a form that the core itself refuses or understands. So
there is one judge of what is malformed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from microloop.given import wrong_type

TEXT, JSON, ERROR = 0, 1, 2
# Deeper than the core reads, so what is cut off here is refused there.
_DEPTH = 200
# A value that holds itself twice has no end, however shallow.
_VALUES = 100_000
_SCALARS = (str, bool, int, float, type(None))
_UNREADABLE = "<a value that cannot be shown>"


def plain(value: Any) -> Any:
    """What an object that is no JSON value stands for: the same text for the same object, with no address in it.

    >>> from pathlib import Path
    >>> plain(Path("notes.txt"))
    'notes.txt'
    """
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, BaseException):
        return error_text(value)
    for convert in (_model, _array, _path, _collection):
        found = convert(value)
        if found is not None:
            return found
    return stable_repr(value)


def _model(value: Any) -> Any:
    dump = getattr(type(value), "model_dump", None)
    # `round_trip` leaves out computed fields: what is left is what the model was made from.
    return None if dump is None else dump(value, mode="json", by_alias=True, round_trip=True)


def _array(value: Any) -> Any:
    convert = getattr(type(value), "tolist", None)
    return None if convert is None else convert(value)


def _path(value: Any) -> str | None:
    return os.fsdecode(value) if isinstance(value, os.PathLike) else None


def _collection(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, range):
        return None if value[_VALUES:] else list(value)  # a range may be longer than memory
    return list(value) if isinstance(value, (list, tuple, set, frozenset)) else None


def stable_repr(value: Any) -> str:
    """`repr` without memory addresses, which differ from run to run; a fixed text where `repr` itself fails.

    >>> stable_repr(object())
    '<object object>'
    """
    import re

    try:
        return re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value))
    except Exception:  # noqa: BLE001 - a broken __repr__ of the host's object is not the host's call failing
        return f"<{type(value).__name__}>"


_encoder = msgspec.json.Encoder(enc_hook=plain)
encode = _encoder.encode
UNWRITABLE: tuple[type[Exception], ...] = (UnicodeEncodeError, TypeError, ValueError, OverflowError, RecursionError)


def arguments_json(arguments: Mapping[str, Any]) -> bytes:
    """The arguments of a call.

    NaN and the infinities are no JSON. The encoder would write `null`; they are sent as they are, and refused.

    >>> arguments_json({"limit": float("nan"), "query": "x"})
    b'{"limit":NaN,"query":"x"}'
    """
    try:
        data = encode(arguments)
    except UNWRITABLE:
        return exact_json(arguments)
    return exact_json(arguments) if _may_hide_a_number(arguments, data) else data


def _may_hide_a_number(arguments: Mapping[str, Any], data: bytes) -> bool:
    nulls = data.count(b"null")
    return nulls > 0 and nulls != sum(value is None for value in arguments.values())


def exact_json(value: Any) -> bytes:
    """JSON that hides nothing: NaN, long integers and lone surrogates stay what they are, for the core to refuse."""
    import json

    tree = _tree(value, _DEPTH, iter(range(_VALUES)))
    return json.dumps(tree, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _tree(value: Any, depth: int, left: Iterator[int]) -> Any:
    if type(value) in _SCALARS:
        return value
    if depth == 0:
        return "<nested too deeply>"
    if next(left, None) is None:
        raise ValueError(f"more than {_VALUES} values in one: pass less, or a text")
    if isinstance(value, Mapping):
        return {_key(key): _tree(item, depth - 1, left) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_tree(item, depth - 1, left) for item in value]
    return _tree(_builtin(value), depth - 1, left)


def _key(key: Any) -> str:
    return str.__str__(key) if isinstance(key, str) else stable_repr(key)


def _builtin(value: Any) -> Any:
    try:
        # Dataclasses, attrs, dates, enumerations …: as the encoder writes them.
        made = msgspec.to_builtins(value, enc_hook=plain)
    except Exception:  # noqa: BLE001 - any fault of the host's object; it still needs a text
        return stable_repr(value)
    return stable_repr(value) if made is value else made


def outcome_json(value: Any) -> tuple[int, bytes]:
    """What a call gave back, as kind and bytes. It takes any value: a result that cannot be written is still a result.

    >>> outcome_json("three rows"), outcome_json([1, None])
    ((0, b'three rows'), (1, b'[1,null]'))
    """
    if isinstance(value, str):
        return TEXT, text_bytes(value)
    try:
        return JSON, encode(value)
    except Exception:  # noqa: BLE001 - whatever the host's object does while it is read must not reach the host
        return _odd_outcome(value)


def _odd_outcome(value: Any) -> tuple[int, bytes]:
    try:
        return TEXT, exact_json(value)
    except Exception:  # noqa: BLE001 - see above; the call has run, so something must be recorded
        return TEXT, text_bytes(stable_repr(value))


def text_bytes(text: str) -> bytes:
    """UTF-8, with a question mark for what has none."""
    return text.encode("utf-8", "replace")


def error_bytes(error: BaseException | str) -> bytes:
    """What went wrong, as a host tells it.

    >>> error_bytes("no such user"), error_bytes(KeyError("user"))
    (b'no such user', b"KeyError: 'user'")
    """
    if isinstance(error, BaseException):
        return text_bytes(error_text(error))
    if isinstance(error, str):
        return text_bytes(error)
    raise wrong_type("error", error, "an exception or text", "a result that is no error is the outcome")


def error_text(error: BaseException) -> str:
    """An exception as the core compares it: its class and what it says.

    >>> error_text(KeyError("user"))
    "KeyError: 'user'"
    """
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - a broken __str__ of the host's exception must not replace that exception
        return f"{type(error).__name__}: {_UNREADABLE}"

"""What a host knows of a step besides its call and outcome, as the core takes it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

from microloop._native import ffi
from microloop.encoding import ERROR, outcome_json, stable_repr, text_bytes

Native: TypeAlias = "tuple[Any, tuple[Any, ...]]"
_COSTS = ("token", "cost", "usd", "price", "latency", "duration", "time", "elapsed", "second", "step")
"""Numbers of these names tell what a step took, not what the world looks like."""
_STRUCT = ffi.typeof("microloop_measures *")
# Structs that nobody uses at the moment, by the verifier that they point to: to make one costs more than to fill it.
_spare: dict[bytes, list[Native]] = {}
_MOST_VERIFIERS = 64
_NAN = math.nan
_UNKNOWN = -1


class Measures(msgspec.Struct):
    """What the core is told, and what could not be read."""

    failures: float = _NAN
    success: int = _UNKNOWN
    verifier: bytes = b""
    verification: bytes = b""
    state: bytes = b""
    failed: bool = False
    error: bytes = b""
    unread: tuple[str, ...] = ()

    def failure(self, kind: int, outcome: bytes) -> tuple[int, bytes]:
        """The outcome of a step that failed. An exit code alone is no error: it says nothing to compare."""
        outcome = outcome or self.error
        return (ERROR if outcome else kind), outcome

    def native(self) -> Native:
        """The struct of the core, and the texts that it points to. Give it to `done` when it is no longer used."""
        if self.verification or self.state:
            native = _new(self.verifier, self.verification, self.state)
        else:
            try:
                native = _spare[self.verifier].pop()
            except (KeyError, IndexError):
                native = _new(self.verifier, b"", b"")
        struct = native[0]
        struct.failures = self.failures
        struct.success = self.success
        return native

    def done(self, native: Native) -> None:
        """Nobody uses this struct any more."""
        if self.verification or self.state:
            return
        spare = _spare.get(self.verifier)
        if spare is not None:
            spare.append(native)
        elif len(_spare) < _MOST_VERIFIERS:
            _spare[self.verifier] = [native]


def _new(verifier: bytes, verification: bytes, state: bytes) -> Native:
    struct = ffi.new(_STRUCT)
    texts = tuple(ffi.from_buffer("uint8_t[]", text) for text in (verifier, verification, state))
    struct.verifier, struct.verifier_len = texts[0], len(verifier)
    struct.verification, struct.verification_len = texts[1], len(verification)
    struct.state, struct.state_len = texts[2], len(state)
    return struct, texts


def read(state: object, metrics: object, metadata: object) -> Measures:
    """What is given, whatever it is.

    >>> read(None, {"failures": 3, "speed": "fast"}, {"verifier": "unit"}).unread
    ('metrics.speed',)
    """
    found = Measures()
    numbers = None if metrics is None else _read_metrics(found, metrics)
    if metadata is not None:
        _read_metadata(found, metadata)
    if numbers:
        _read_numbers(found, numbers)
    if state is not None or numbers:
        found.state = outcome_json([state, numbers] if numbers else state)[1] or b" "
    return found


def _read_metrics(found: Measures, metrics: Any) -> dict[str, float]:
    """Fills in the failures, and returns the other metrics that are numbers."""
    others: dict[str, float] = {}
    for name, value in metrics.items() if metrics.__class__ is dict else _pairs(found, "metrics", metrics):
        number = value if value.__class__ is float and value - value == 0.0 else _number(value)
        if number is None:
            found.unread += (f"metrics.{_shown(name)}",)
        elif name == "failures":
            found.failures = number
        else:
            others[_shown(name)] = number
    return others


def _pairs(found: Measures, what: str, mapping: Any) -> Iterable[tuple[object, Any]]:
    """What a mapping that is no plain `dict` holds; nothing, if it is none or cannot be read."""
    try:
        if isinstance(mapping, Mapping):
            return tuple(mapping.items())
    except Exception:  # noqa: BLE001, S110 - a fault of the host's own mapping; it is reported below
        pass
    found.unread += (what,)
    return ()


def _number(value: object) -> float | None:
    if isinstance(value, str) or not hasattr(type(value), "__float__"):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001 - an integer beyond all doubles, or a fault of the host's own number
        return None
    return number if math.isfinite(number) else None


def _read_metadata(found: Measures, metadata: Any) -> None:
    for name, value in metadata.items() if metadata.__class__ is dict else _pairs(found, "metadata", metadata):
        if name == "verifier":
            found.verifier = _text(value)
        elif name == "verification_id":
            found.verification = _text(value)
        elif name == "error" and value is not None and value is not False:
            found.failed = True
            found.error = b"" if value is True else _text(value)


def _read_numbers(found: Measures, numbers: dict[str, float]) -> None:
    """Takes out the numbers that have a meaning of their own; the others belong to the state."""
    exit_code = numbers.pop("exit_code", None)
    success = numbers.pop("success", exit_code == 0 if found.verifier and exit_code is not None else None)
    score = numbers.pop("score", None)
    found.failed = found.failed or bool(exit_code)
    found.success = _UNKNOWN if success is None else int(success != 0)
    if score is not None and math.isnan(found.failures):
        found.failures, found.verifier = -score, found.verifier or b"score"
    for name in [name for name in numbers if _is_cost(name)]:
        del numbers[name]


def _is_cost(name: str) -> bool:
    lowered = name.lower()
    return any(word in lowered for word in _COSTS)


def _shown(name: object) -> str:
    return name if isinstance(name, str) else stable_repr(name)


def _text(value: object) -> bytes:
    return b"" if value is None else text_bytes(value if value.__class__ is str else _shown(value)) or b" "

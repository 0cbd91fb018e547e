"""The only door to the native library: loads it, checks its version, turns status codes into exceptions.

Calls on the hot path use `lib` directly, with `bytes` that cross without a copy; everything else goes through the
functions here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol, cast

from microloop.errors import MicroloopError, NativeError, PolicyError, SessionError

if TYPE_CHECKING:
    from collections.abc import Callable

ABI = 1
STALE_HANDLE = -2
NOT_JSON = -4
INVALID_POLICY = -5
INVALID_ARGUMENT = -6
UNKNOWN_STEP = -8
INVALID_SCHEMA = -11
UNSUPPORTED_REGEX = -12
INVALID_SNAPSHOT = -15
OTHER_POLICY = -16

_POLICY_FAULTS = frozenset({INVALID_POLICY, INVALID_SCHEMA, UNSUPPORTED_REGEX})
_SESSION_FAULTS = frozenset({STALE_HANDLE, UNKNOWN_STEP, INVALID_SNAPSHOT, OTHER_POLICY})
_SIZE = 1024


class Library(Protocol):
    """The functions of `microloop.h`, as cffi presents them."""

    # As `microloop_observe`, and what is told.
    microloop_observe_measured: Callable[..., int]

    def microloop_abi_check(self, wanted: int, /) -> int: ...
    def microloop_version(self) -> Any: ...
    def microloop_last_error(self, buf: Any, cap: int, /) -> int: ...
    def microloop_policy_new(self, json: bytes, size: int, policy: Any, /) -> int: ...
    def microloop_policy_free(self, policy: int, /) -> int: ...
    def microloop_policy_tool(self, policy: int, declaration: bytes, size: int, tool: Any, /) -> int: ...
    def microloop_session_new(self, policy: int, options: Any, size: int, session: Any, /) -> int: ...
    def microloop_session_free(self, session: int, /) -> int: ...
    def microloop_session_time(self, session: int, now_ms: int, /) -> int: ...
    def microloop_session_state(self, session: int, buf: Any, cap: int, /) -> int: ...
    def microloop_session_save(self, session: int, buf: Any, cap: int, /) -> int: ...
    def microloop_session_load(self, policy: int, saved: bytes, size: int, session: Any, /) -> int: ...
    def microloop_check(self, session: int, tool: int, args: bytes, size: int, context: Any, /) -> int: ...
    def microloop_check_named(
        self, session: int, name: bytes, name_size: int, args: bytes, size: int, context: Any, /
    ) -> int: ...
    def microloop_record(self, session: int, step: int, kind: int, outcome: bytes, size: int, /) -> int: ...
    def microloop_cancel(self, session: int, step: int, /) -> int: ...
    def microloop_refuse(self, session: int, step: int, /) -> int: ...
    def microloop_turn(self, session: int, speaker: int, text: bytes, size: int, /) -> int: ...
    def microloop_spend(self, session: int, tokens: int, nano_usd: int, /) -> int: ...
    def microloop_verdict(self, session: int, step: int, buf: Any, cap: int, /) -> int: ...
    def microloop_observe(
        self, session: int, tool: int, args: bytes, size: int, kind: int, outcome: bytes, length: int, /
    ) -> int: ...
    def microloop_record_measured(
        self, session: int, step: int, kind: int, outcome: bytes, size: int, told: bytes, length: int, /
    ) -> int: ...
    def microloop_progress(self, session: int, step: int, buf: Any, cap: int, /) -> int: ...
    def microloop_canonical(self, json: bytes, size: int, buf: Any, cap: int, /) -> int: ...
    def microloop_regex_check(self, pattern: bytes, size: int, /) -> int: ...
    def microloop_noop(self, session: int, tool: int, args: bytes, size: int, context: Any, /) -> int: ...


def _load() -> tuple[Any, Library]:
    try:
        module = importlib.import_module("microloop._lowlevel")
    except ImportError as error:
        raise MicroloopError(
            f"the native part of microloop cannot be loaded ({error}); "
            "it is built by `pip install .` in the project's root, which needs Rust 1.95 or newer"
        ) from error
    return module.ffi, cast("Library", module.lib)


ffi, lib = _load()
# Buffers that nobody uses at the moment, each with a view of it: making them anew costs as much as a crossing.
_spare: list[tuple[Any, Any]] = []


def last_error() -> str:
    """What the library said about this thread's last failure."""
    return read(lib.microloop_last_error).decode("utf-8", "replace")


def failure(status: int) -> MicroloopError:
    """The exception for a negative status."""
    message = last_error() or f"the native library answered {status} without a reason"
    if status in _SESSION_FAULTS:
        return SessionError(message)
    if status in _POLICY_FAULTS:
        return PolicyError(message)
    return NativeError(message, status=status)


def checked(status: int) -> int:
    """A status that is none of an error; otherwise its exception."""
    if status < 0:
        raise failure(status)
    return status


def read(call: Callable[..., int], *handles: Any) -> bytes:
    """Everything that a function writes into a buffer of ours, however long it is."""
    try:
        spare = _spare.pop()
    except IndexError:
        spare = _new_buffer(_SIZE)
    needed = call(*handles, spare[0], _SIZE)
    if 0 <= needed <= _SIZE:
        text: bytes = spare[1][:needed]
        _spare.append(spare)
        return text
    return _read_long(call, handles, checked(needed))


def _read_long(call: Callable[..., int], handles: tuple[Any, ...], size: int) -> bytes:
    while True:
        buffer, view = _new_buffer(size)
        needed = checked(call(*handles, buffer, size))
        if needed <= size:
            return bytes(view[:needed])
        size = needed  # another thread has added to it in between


def _new_buffer(size: int) -> tuple[Any, Any]:
    buffer = ffi.new("uint8_t[]", size)
    return buffer, ffi.buffer(buffer)


def new_policy(document: bytes) -> int:
    """A handle on a compiled policy."""
    handle = ffi.new("uint64_t *")
    checked(lib.microloop_policy_new(document, len(document), handle))
    return int(handle[0])


def declare_tool(policy: int, declaration: bytes) -> int:
    """The index of a tool in a policy."""
    index = ffi.new("uint32_t *")
    checked(lib.microloop_policy_tool(policy, declaration, len(declaration), index))
    return int(index[0])


def new_session(policy: int, options: bytes) -> int:
    """A handle on a new session."""
    handle = ffi.new("uint64_t *")
    checked(lib.microloop_session_new(policy, options, len(options), handle))
    return int(handle[0])


def load_session(policy: int, saved: bytes) -> int:
    """A handle on a session that was saved."""
    handle = ffi.new("uint64_t *")
    checked(lib.microloop_session_load(policy, saved, len(saved), handle))
    return int(handle[0])


def check_named(session: int, name: str, arguments: bytes, context: Any) -> int:
    """`microloop_check_named`; like `microloop_check` it gives a packed verdict or a status."""
    text = name.encode("utf-8", "replace")
    return lib.microloop_check_named(session, text, len(text), arguments, len(arguments), context)


def context(call_id: str | None, batch: str | None) -> tuple[Any, tuple[Any, ...]]:
    """A call's context, and what must stay alive as long as it is used."""
    record = ffi.new("microloop_context *")
    ids = tuple(ffi.from_buffer((text or "").encode("utf-8", "replace")) for text in (call_id, batch))
    if call_id is not None:
        record.call_id, record.call_id_len = ffi.cast("uint8_t *", ids[0]), len(ids[0])
    if batch is not None:
        record.batch, record.batch_len = ffi.cast("uint8_t *", ids[1]), len(ids[1])
    return record, ids


def regex_supported(pattern: str) -> bool:
    """Whether the core can run a pattern in linear time. PolicyError where it is no pattern at all."""
    text = pattern.encode("utf-8", "surrogatepass")
    status = lib.microloop_regex_check(text, len(text))
    if status == UNSUPPORTED_REGEX:
        return False
    if status < 0:
        raise PolicyError(last_error())
    return True


def canonical(document: bytes) -> bytes:
    """The RFC 8785 text of a JSON document."""
    return read(lib.microloop_canonical, document, len(document))


def _check_version() -> None:
    if lib.microloop_abi_check(ABI) < 0:
        raise MicroloopError(f"{last_error()}; install the package and its native library from the same checkout")


_check_version()

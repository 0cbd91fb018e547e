"""The floor: what any guard of this shape pays. A wrapper that encodes, crosses into C twice, and decides nothing."""

import itertools
from collections.abc import Callable
from functools import wraps
from typing import Any

import msgspec
import orjson

import workload
from microloop._lowlevel import ffi, lib
from row import Loop, Row, endless_calls, endless_outcomes

Tool = Callable[..., str]
Encoder = Callable[[Any], bytes]


def tool() -> Tool:
    """Return the tool itself, unguarded."""
    following = endless_outcomes().__next__

    def query_database(sql: str, limit: int, database: str = "sales") -> str:  # noqa: ARG001 - the guard's business
        return following()

    return query_database


def empty_guard(function: Tool, encode: Encoder) -> Tool:
    """Wrap a tool as `@guard.verify` does, with nothing behind it."""
    noop, null = lib.microloop_noop, ffi.NULL

    @wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> str:
        call = encode(kwargs)
        noop(1, 0, call, len(call), null)
        result = function(*args, **kwargs)
        outcome = encode(result)
        noop(1, 0, outcome, len(outcome), null)
        return result

    return guarded


class Bare(Row):
    """The tool without any guard: taken off the rows that call it."""

    name = "tool"
    work = "the tool's own body, called with keywords"
    minus = None

    def __init__(self) -> None:
        """Make the tool."""
        self.calls = endless_calls()
        self.tool = tool()

    def run(self, operations: int) -> None:
        """Call it."""
        call = self.tool
        for arguments in itertools.islice(self.calls, operations):
            call(**arguments)

    def verify(self, operations: int) -> None:
        """Fail if the tool does not answer in turn."""
        assert self.tool(**workload.arguments(0)) == workload.outcome(operations % workload.CALLS)


class Floor(Bare):
    """Two encodings and two empty crossings round the tool."""

    encode: Encoder
    minus = "tool"

    def __init__(self) -> None:
        """Wrap the tool."""
        super().__init__()
        self.tool = empty_guard(self.tool, type(self).encode)


class FloorMsgspec(Floor):
    """The floor, encoded by msgspec."""

    name = "floor (msgspec)"
    work = "encode arguments and outcome, two empty cffi calls"
    encode = staticmethod(msgspec.json.Encoder().encode)


class FloorOrjson(Floor):
    """The floor, encoded by orjson."""

    name = "floor (orjson)"
    work = "encode arguments and outcome, two empty cffi calls"
    encode = staticmethod(orjson.dumps)


ROWS: list[type[Row]] = [Loop, Bare, FloorMsgspec, FloorOrjson]

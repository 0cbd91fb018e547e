"""The exceptions of microloop.

MicroloopError
├── PolicyError     a policy document cannot be used: .line .column .key .path
├── NativeError     the native library could not do what it was asked: .status
├── SessionError    a session or a verdict is used in a way that cannot be right
├── AdapterError    a framework's hook could not be attached
└── Refused         a call must not run: .verdict
    ├── BlockedCall     this call; the run goes on
    └── RunHalted       this call and every later one; the run ends
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from microloop.verdict import Verdict


class MicroloopError(Exception):
    """The root of everything that microloop raises."""


class PolicyError(MicroloopError):
    """A policy document that cannot be used, and where in it the fault is.

    >>> error = PolicyError("loops.yaml:3:5: unknown key", line=3, column=5, key="repat")
    >>> error.line, error.key
    (3, 'repat')
    """

    def __init__(
        self,
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
        key: str | None = None,
        path: str | None = None,
    ) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.key = key
        self.path = path


class NativeError(MicroloopError):
    """The native library answered with an error; `status` is its number in `microloop.h`.

    >>> NativeError("unknown tool", status=-7).status
    -7
    """

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class SessionError(MicroloopError):
    """A session or a verdict used in a way that cannot be right: closed, foreign, or recorded twice."""


class AdapterError(MicroloopError):
    """A package beside microloop is missing or too old, or has no place for a hook: its tools would run unguarded."""


class Refused(MicroloopError):
    """A call must not run. The text is the feedback for the model; `verdict` has the rest.

    >>> from microloop.verdict import Action, Verdict
    >>> error = BlockedCall(Verdict(action=Action.BLOCK, tool="search", feedback="Try other words."))
    >>> str(error), error.verdict.tool
    ('Try other words.', 'search')
    """

    def __init__(self, verdict: Verdict) -> None:
        # Setting what `Exception` sets spares a refusal the call of its `__init__`.
        self.args = (verdict.feedback,)
        self.verdict = verdict

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.verdict,)


class BlockedCall(Refused):
    """This call is refused; the run goes on."""


class RunHalted(Refused):
    """This call and every later one of the run is refused."""

    def __reduce__(self) -> tuple[object, ...]:
        return run_halted, (self.verdict,)


def run_halted(verdict: Verdict) -> RunHalted:
    """The `RunHalted` that ends a run also under LangGraph.

    Its error-handling wrappers turn exceptions of tools into messages, all but `GraphBubbleUp`.
    """
    errors = sys.modules.get("langgraph.errors")
    bubble = getattr(errors, "GraphBubbleUp", None)
    return RunHalted(verdict) if bubble is None else _bubbling(bubble)(verdict)


@cache
def _bubbling(bubble: type[Exception]) -> type[RunHalted]:
    return type("RunHalted", (RunHalted, bubble), {"__module__": __name__, "__doc__": RunHalted.__doc__})

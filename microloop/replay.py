"""A recorded or written-down run, played through a guard as if it happened now."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from microloop.standing import Standing
from microloop.verdict import Action, Verdict

if TYPE_CHECKING:
    from typing_extensions import Self

    from microloop.decision import Status
    from microloop.guardrail import Guardrail


class _Unknown:
    __slots__ = ()

    def __reduce__(self) -> str:
        return "UNKNOWN"  # the same one in every process that a recorded run is sent to


UNKNOWN: Any = _Unknown()
"""The result of a call whose log does not say what came back."""


class Replay:
    """One run. Each call is checked; the outcome of one that would have run is recorded.

    A step is a mapping with `tool`, `args` and `result` or `error`, or with `user`, or with `assistant`. What the model
    has spent on it is its `spend`, of `tokens` and `usd`, which can also be a step alone. The clock starts at 0 and
    stands still until a step's `at` sets it, in milliseconds.

    >>> from microloop import Guardrail
    >>> with Replay(Guardrail("strict_loop_detection")) as replay:
    ...     verdicts = [replay.step({"tool": "search", "args": {"q": "x"}, "result": "no"}) for _ in range(3)]
    >>> [str(verdict.action) for verdict in verdicts]
    ['allow', 'allow', 'block']
    """

    def __init__(self, guard: Guardrail, *, run_id: str | None = None, role: str | None = None) -> None:
        self._session = guard.session(run_id, role=role)
        self._session.set_time(0)
        self._latest = 0

    @property
    def monitor(self) -> Standing:
        """Where the run stands."""
        return self._session.monitor

    def step(self, step: Mapping[str, Any]) -> Verdict | None:
        """The verdict on one step; None for a user's message."""
        if step.get("at") is not None:
            self._session.set_time(step["at"])
        spent = self._session.spend(**step["spend"]) if "spend" in step else None
        if "user" in step:
            self._session.user_turn()
            return None
        if "assistant" in step:
            return self._session.assistant_turn(step["assistant"])
        return self._call(step) if "tool" in step else spent

    @property
    def status(self) -> Status:
        """Where the run stands now."""
        return self._session.monitor.status

    def _call(self, step: Mapping[str, Any]) -> Verdict:
        arguments = step.get("args", {})
        verdict = self._session.check(step["tool"], arguments, call_id=step.get("call_id"), batch=step.get("batch"))
        # A call that is answered as an earlier one has that one's step, which is recorded already.
        if runs(verdict) and verdict.step > self._latest:
            self._record(verdict, step)
        self._latest = max(self._latest, verdict.step)
        return verdict

    def _record(self, verdict: Verdict, step: Mapping[str, Any]) -> None:
        if "error" in step:
            self._session.record(verdict, error=step["error"])
        elif step.get("result") is UNKNOWN:
            self._session.cancel(verdict)
        else:
            self._session.record(verdict, step.get("result"))

    def close(self) -> None:
        """Frees the session."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def runs(verdict: Verdict) -> bool:
    """Whether the call would have run; where somebody is asked, they are taken to agree."""
    return verdict.allowed or verdict.action is Action.ASK

"""`Session`: one agent run, and all that the guard remembers of it."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from microloop import _native
from microloop._native import lib
from microloop.encoding import ERROR, TEXT, error_bytes, outcome_json, text_bytes
from microloop.errors import MicroloopError, SessionError
from microloop.given import check_text, no_verdict, wrong_type
from microloop.spending import nano_usd, whole_tokens
from microloop.verdict import Verdict, decode

if TYPE_CHECKING:
    from typing_extensions import Self

    from microloop.guardrail import Guardrail
    from microloop.standing import Standing

_USER, _ASSISTANT = 0, 1
_NOTED = 0xFF


class Session:
    """One agent run. `Guardrail.session` makes it; `with` makes it the current one.

    Any thread and any task may use it. After a fork the child has a copy that lives on by itself; fork while no call is
    being checked, for a lock that another thread held at that moment stays locked in the child.

    >>> from microloop import Guardrail
    >>> with Guardrail().session("run-7") as session:
    ...     verdict = session.check("search", {"q": "cats"})
    ...     session.record(verdict, "three results")
    ...     session.state()["steps"]
    1
    """

    __slots__ = (
        "__weakref__",
        "_free",
        "_runs",
        "anonymous",
        "entered",
        "guard",
        "handle",
        "id",
        "last_verdict",
        "notes",
        "parent",
        "role",
    )

    def __init__(
        self,
        guard: Guardrail,
        session_id: str,
        handle: int,
        *,
        role: str | None,
        parent: Session | None,
        anonymous: bool,
    ) -> None:
        self.guard = guard
        self.id = session_id
        self.handle = handle
        self.role = role
        self.parent = parent
        self.anonymous = anonymous
        """Whether nobody can find it by its id, so that it ends with its `with` block."""
        self.last_verdict: Verdict | None = None
        """The latest verdict that was more than a plain allow."""
        self.notes: Any = None
        """What the adapters remember of the run."""
        self.entered = 0
        self._runs: list[object] = []
        self._free = weakref.finalize(self, lib.microloop_session_free, handle)

    def check(
        self,
        tool: str,
        arguments: Mapping[str, Any] | str | bytes,
        *,
        call_id: str | None = None,
        batch: str | None = None,
    ) -> Verdict:
        """The verdict on a call that is about to be made. A text is taken for the arguments as the model wrote them.

        The same `call_id` is the same call. Calls of one `batch` are those that the model made in one turn.
        """
        return self.guard.judge(self, tool, arguments, call_id=call_id, batch=batch)

    def record(
        self,
        verdict: Verdict,
        outcome: object = None,
        *,
        error: BaseException | str | None = None,
        measures: Mapping[str, Any] | None = None,
    ) -> None:
        """What came of a call that was let through: its result, or its error.

        `measures` is what else is known of the step, for `monitor`: `state`, `metrics` and `metadata`, as in
        `Monitor.observe`.
        """
        self._own(verdict)
        if verdict.step == 0:
            return  # the guard itself had failed, and the policy let the call run: the core knows no such step
        if error is not None:
            kind, data = ERROR, error_bytes(error)
        else:
            kind, data = outcome_json(outcome)
        status = (
            self.put(verdict.step, kind, data) if measures is None else self._measure(verdict, kind, data, measures)
        )
        if status == _native.UNKNOWN_STEP:
            raise SessionError(
                f"step {verdict.step} of session {self.id} is not open: it was refused, recorded or cancelled before"
            )
        self._checked(status)

    def cancel(self, verdict: Verdict) -> None:
        """A call that was let through and did not run after all."""
        self._own(verdict)
        if verdict.step == 0:
            return  # see `record`
        self._checked(lib.microloop_cancel(self.handle, verdict.step))

    def user_turn(self) -> None:
        """The person has spoken: counters start anew, unless the policy says otherwise."""
        self._checked(lib.microloop_turn(self.handle, _USER, b"", 0))

    def assistant_turn(self, text: str) -> Verdict:
        """The model has spoken without calling a tool."""
        check_text("text", text, "pass what the model said")
        data = text_bytes(text)
        return self._said(lib.microloop_turn(self.handle, _ASSISTANT, data, len(data)))

    def spend(self, *, tokens: int = 0, usd: float = 0.0) -> Verdict:
        """What the model has spent since the last report: charged to this session and to all its parents.

        A budget that is spent to the end halts the run; before that, tools are refused, so that the rest is for the
        answer.

        >>> from microloop import Guardrail
        >>> session = Guardrail({"version": 1, "budgets": {"tokens": 1000}}).session()
        >>> str(session.spend(tokens=950).action), str(session.check("search", {}).action)
        ('allow', 'block')
        >>> session.spend(tokens=50).reason
        'budget.tokens'
        """
        return self._said(lib.microloop_spend(self.handle, whole_tokens(tokens), nano_usd(usd)))

    def state(self) -> dict[str, Any]:
        """What the session has counted: steps, epoch, halted, calls, tokens, usd, refusals, role."""
        self._checked(_native.STALE_HANDLE if self.closed else 0)
        state: dict[str, Any] = msgspec.json.decode(_native.read(lib.microloop_session_state, self.handle))
        return state

    @property
    def monitor(self) -> Standing:
        """Where the run stands: whether it is still getting anywhere.

        >>> from microloop import Guardrail
        >>> str(Guardrail().session().monitor.status)
        'healthy'
        """
        from microloop.standing import Standing

        self._checked(_native.STALE_HANDLE if self.closed else 0)
        return Standing(self.handle, self)

    def set_time(self, now_ms: int) -> None:
        """From now on the session's clock stands where you put it, as a replay of a recorded run needs it."""
        try:
            status = lib.microloop_session_time(self.handle, now_ms)
        except TypeError:
            raise wrong_type("now_ms", now_ms, "a whole number of milliseconds", "round it") from None
        except OverflowError:
            raise ValueError(f"now_ms is {now_ms}: the clock goes from 0 to 2**64 - 1; pass less, or 0") from None
        self._checked(status)

    def save(self) -> bytes:
        """All that the verdicts depend on, for `Guardrail.restore` in another process. No arguments, no results.

        >>> from microloop import Guardrail
        >>> session = Guardrail().session("run-7")
        >>> _ = session.check("search", {"q": "cats"})
        >>> Guardrail().restore("run-7", session.save()).state()["steps"]
        1
        """
        if self.parent is not None:
            raise SessionError(
                f"session {self.id} has a parent and cannot be saved; save the parent, begin this one anew"
            )
        self._checked(_native.STALE_HANDLE if self.closed else 0)
        return _native.read(lib.microloop_session_save, self.handle)

    def child(
        self,
        id: str | None = None,  # noqa: A002 - a session's id, in the words of the public API
        *,
        role: str | None = None,
    ) -> Session:
        """A sub-agent's session: counters of its own, budgets charged to this one too."""
        return self.guard.session(id, role=role or self.role, parent=self)

    def close(self) -> None:
        """Frees the session's memory. Every later use raises `SessionError`."""
        self.guard.forget(self)
        self.handle = 0
        self._free()

    @property
    def closed(self) -> bool:
        """Whether the session's memory is freed."""
        return not self._free.alive

    def verdict(self, packed: int) -> Verdict:
        """The whole verdict behind what `microloop_check` returned."""
        document = _native.read(lib.microloop_verdict, self.handle, packed >> 8)
        self.last_verdict = verdict = decode(document, self)
        return verdict

    def put(self, step: int, kind: int, data: bytes) -> int:
        """Hands an outcome to the core, and gives back its status."""
        status = lib.microloop_record(self.handle, step, kind, data, len(data))
        if status == _native.NOT_JSON:
            # Deeper than the core reads: it is compared as text.
            status = lib.microloop_record(self.handle, step, TEXT, data, len(data))
        return status

    def _measure(self, verdict: Verdict, kind: int, data: bytes, measures: Mapping[str, Any]) -> int:
        from microloop.measures import crossing

        if not isinstance(measures, Mapping):
            raise wrong_type("measures", measures, "a mapping", "its keys are state, metrics and metadata")
        step = (self.handle, verdict.step, kind, data, len(data))
        told = (measures.get("state"), measures.get("metrics"), measures.get("metadata"))
        return crossing(lambda known: lib.microloop_record_measured(*step, known, len(known)), *told)

    def entered_run(self, marker: object) -> None:
        """A new run on the same thread of conversation begins with the person's next turn."""
        if marker is None or any(marker is each for each in self._runs):
            return
        if self._runs:
            self.user_turn()
        self._runs = [*self._runs[-7:], marker]

    def failure(self, status: int) -> MicroloopError:
        """The exception for a status of the core about this session."""
        if self.closed:
            return SessionError(f"session {self.id} is closed; guard.session({self.id!r}) opens a new one")
        return _native.failure(status)

    def _said(self, status: int) -> Verdict:
        packed = self._checked(status)
        return self.verdict(packed) if packed & _NOTED else Verdict(step=packed >> 8, session=self)

    def _checked(self, status: int) -> int:
        if status < 0:
            raise self.failure(status)
        return status

    def _own(self, verdict: Verdict) -> None:
        if not isinstance(verdict, Verdict):
            raise no_verdict(verdict)
        if verdict.session is not self:
            raise SessionError(f"the verdict on {verdict.tool or 'this call'} is not from session {self.id}")

    def __enter__(self) -> Self:
        self.guard.entered.enter(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.guard.entered.leave(self)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)

    def __repr__(self) -> str:
        return f"<Session {self.id}{' closed' if self.closed else ''}>"

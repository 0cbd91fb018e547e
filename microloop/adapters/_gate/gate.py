"""The way of one tool call: check, run, record, in whatever hook of whatever framework it passes."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

from microloop import ambient
from microloop.adapters._gate.answers import Leader, Unanswered
from microloop.adapters._gate.calls import Call, Decision, Entry
from microloop.adapters._gate.nested import called_by
from microloop.adapters._gate.notes import notes_of
from microloop.coverage import checked_by_outer_hook
from microloop.errors import Refused, SessionError
from microloop.judgement import fault
from microloop.log import logger
from microloop.tools import BY_NAME, Tool
from microloop.verdict import Action, Verdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from microloop.guardrail import Guardrail
    from microloop.session import Session

_DUPLICATE = "call.duplicate"
MAY_RUN = object()
"""In place of an answer: there is none, the call may run. A tool may give back anything else, `None` too."""
Result = TypeVar("Result")


class Gate(ABC):
    """Stands before the tools of one hook. A framework's gate says in which form calls are answered there."""

    def __init__(self, guard: Guardrail, hook: str, *, on_verdict: Callable[[Verdict], None] | None = None) -> None:
        self.guard = guard
        self._hook = hook
        self._on_verdict = on_verdict
        self._declared: dict[str, Any] = {}

    # What the framework's own gate says

    @abstractmethod
    def answer(self, entry: Entry, text: str) -> Any:
        """The framework's own form of an answer to a call that does not run. It may raise instead."""

    @abstractmethod
    def schema_of(self, tool: Any) -> Mapping[str, Any] | None:
        """The JSON Schema that a tool shows the model, without what the framework injects."""

    def outcome_of(self, entry: Entry, result: Any) -> tuple[Any, BaseException | str | None]:
        """What a tool gave back, as the guard records it: a result, or an error."""
        del entry
        return result, None

    def error_of(self, error: BaseException) -> BaseException:
        """What a tool raised, as the guard records it, where the framework puts something else around it."""
        return error

    def advised(self, entry: Entry, result: Any) -> Any:
        """A result with the advice at its head, where there is a place for text."""
        if isinstance(result, str):
            return f"{entry.verdict.feedback}\n\n{result}"
        log_advice(entry.verdict, result)
        return result

    def copied(self, entry: Entry, first: Leader, result: Any) -> Any:
        """The answer to a call that stands twice in a turn, from what the first of them gave back."""
        del entry, first
        return result

    def halted(self, verdict: Verdict) -> None:
        """Ends the run, where the hook has a way of its own to do so; elsewhere `answer` does."""
        del verdict

    def decide(self, entry: Entry) -> Decision:
        """Whether a call may run, asking where somebody is to be asked."""
        return Decision(self.guard.permits(entry.verdict))

    async def adecide(self, entry: Entry) -> Decision:
        """`decide` for a `Guardrail(ask=…)` that is a coroutine function."""
        return Decision(await self.guard.apermits(entry.verdict))

    def inside(self, session: Session) -> AbstractContextManager[object]:
        """Around a tool: what is checked inside belongs to the same session."""
        return nullcontext() if self.guard.current.get() is session else session

    def pauses(self, error: BaseException) -> bool:
        """Whether an exception pauses the run, so that the same call comes back when it goes on."""
        del error
        return False

    # What all gates do

    def declare(self, name: str, tool: Any) -> None:
        """Holds calls of a tool to the schema that it shows the model. Done once, at first sight.

        A tool whose schema cannot be used is noted with the guard: its own calls follow `on_error`.
        """
        if self._declared.get(name) is not tool:
            try:
                self.guard.tool(name, self.schema_of(tool))
            except (Refused, SessionError):
                raise
            except Exception as error:  # noqa: BLE001 - one faulty tool must not take the others with it
                self.guard.undeclarable(name, error)
            self.guard.covers(name, self._hook)
            self._declared[name] = tool

    def unless_faulty(self, work: Callable[[], Result]) -> Result | None:
        """Something that is done beside the calls. A fault of our own in it follows `on_error`, as in a call."""
        try:
            return work()
        except (Refused, SessionError):
            raise
        except Exception as error:  # whatever fails in us, `on_error` decides, and it is never silent
            if self.guard.policy.on_error == "block":
                raise
            logger().error("microloop failed in %s (on_error: allow)", self._hook, exc_info=error)
            return None

    def tell(self, verdict: Verdict) -> None:
        """Shows a verdict to whoever wants to see them all."""
        if self._on_verdict is not None:
            self._on_verdict(verdict)

    def run(
        self, name: str, call_id: str | None, find: Callable[[], Call], execute: Callable[[], Any], native: Any = None
    ) -> Any:
        """The result of a call that may run, or the answer to one that may not."""
        entry = self.enter(name, call_id, find, native)
        answer = self.admit(entry)
        if answer is not MAY_RUN:
            return answer
        if entry.call is None:
            return execute()
        with self._running(entry, entry.call):
            result = execute()
        return self.done(entry, result)

    async def arun(
        self,
        name: str,
        call_id: str | None,
        find: Callable[[], Call],
        execute: Callable[[], Awaitable[Any]],
        native: Any = None,
    ) -> Any:
        """`run` for an event loop."""
        entry = self.enter(name, call_id, find, native)
        answer = await self.aadmit(entry)
        if answer is not MAY_RUN:
            return answer
        if entry.call is None:
            return await execute()
        with self._running(entry, entry.call):
            result = await execute()
        return self.done(entry, result)

    def admit(self, entry: Entry) -> Any:
        """`MAY_RUN`, or the answer to a call that does not: a refusal, or what an identical one gave back."""
        if entry.call is None:
            return MAY_RUN if entry.verdict.allowed else self.refused(entry)
        if entry.repeats:
            return self.shared(entry)
        with self.deciding(entry):
            decision = self.decide(entry)
        return MAY_RUN if decision.approved else self.refused(entry, decision.message)

    async def aadmit(self, entry: Entry) -> Any:
        """`admit` for an event loop."""
        if entry.call is None:
            return MAY_RUN if entry.verdict.allowed else self.refused(entry)
        if entry.repeats:
            return await self.ashared(entry)
        with self.deciding(entry):
            decision = await self.adecide(entry)
        return MAY_RUN if decision.approved else self.refused(entry, decision.message)

    def refused(self, entry: Entry, said: str = "") -> Any:
        """The framework's own answer to a call that does not run."""
        _give_up(entry.leader)
        if entry.verdict.action is Action.HALT:
            self.halted(entry.verdict)
        return self.answer(entry, f"{entry.verdict.feedback} {said}".strip())

    # Check

    def enter(self, name: str, call_id: str | None, find: Callable[[], Call], native: Any = None) -> Entry:
        """The verdict on a call."""
        try:
            entry = self._judged(find(), native)
        except SessionError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever fails in us, `on_error` decides, and it is logged
            failed = fault(Tool(name, BY_NAME, self.guard.policy.on_error), None, error)
            entry = Entry(name, call_id, failed, native=native)
        with self.deciding(entry):
            self.tell(entry.verdict)
        return entry

    @contextmanager
    def deciding(self, *entries: Entry) -> Iterator[None]:
        """Around what comes before the tool. If that is interrupted or fails, the calls do not run."""
        try:
            yield
        except BaseException as error:  # interrupts too: told to the session, and raised again
            for entry in entries:
                self._undecided(entry, error)
            raise

    def _undecided(self, entry: Entry, error: BaseException) -> None:
        _give_up(entry.leader)
        if self.pauses(error):
            return  # the call comes back, and is the same one then
        if entry.leader is not None and entry.verdict.action is Action.ASK:
            entry.leader.closed = True  # whoever asked has cancelled it
        self.abandon(entry)

    def _judged(self, call: Call, native: Any) -> Entry:
        if call.tool is not None:
            self.declare(call.name, call.tool)
        notes = notes_of(call.session)
        # In one go: whoever learns that a call is a duplicate must find the call that it duplicates.
        with notes.lock:
            verdict = call.session.check(call.name, call.arguments, call_id=call.key, batch=call.batch)
            entry = functools.partial(Entry, call.name, call.call_id, verdict, call, native=native)
            if verdict.reason == _DUPLICATE and verdict.action is Action.BLOCK:
                return entry(repeats=True, first=notes.answers.leader(verdict.evidence))
            if not verdict.allowed and verdict.action is not Action.ASK:
                return entry()
            if verdict.step == 0:  # the guard itself has failed: without a number, calls would be taken for one another
                return entry(leader=Leader(call.call_id))
            # A call that is under way and comes again, id and all, is one call too.
            running = notes.answers.running(verdict.step)
            if running is not None:
                return entry(repeats=True, first=running)
            return entry(leader=notes.answers.lead(verdict.step, call.batch, call.call_id))

    # Share

    def shared(self, entry: Entry) -> Any:
        """The answer to a call that stands twice in a turn."""
        if entry.first is None:
            return self.refused(entry)
        try:
            return self.copied(entry, entry.first, entry.first.wait())
        except Unanswered:
            return self.refused(entry)

    async def ashared(self, entry: Entry) -> Any:
        """`shared`, without holding up the event loop."""
        if entry.first is None:
            return self.refused(entry)
        try:
            return self.copied(entry, entry.first, await entry.first.await_outcome())
        except Unanswered:
            return self.refused(entry)

    # Record

    @contextmanager
    def _running(self, entry: Entry, call: Call) -> Iterator[None]:
        try:
            with self.inside(call.session), called_by(call), checked_by_outer_hook(self.guard, call.name, call.tool):
                yield
        except BaseException as error:  # interrupts too: told to the session, and raised again
            self.failed(entry, error)
            raise

    def done(self, entry: Entry, result: Any) -> Any:
        """Records what a tool gave back, and puts advice on it."""

        def record(session: Session) -> None:
            outcome, error = self.outcome_of(entry, result)
            session.record(entry.verdict, outcome, error=error)

        self._close(entry, record)
        if entry.leader is not None and not entry.leader.outcome.done():
            entry.leader.outcome.set_result(result)
        return self.advised(entry, result) if entry.verdict.action is Action.WARN else result

    def failed(self, entry: Entry, error: BaseException) -> None:
        """Records an exception of the tool. What only steers the run is no outcome; a paused call comes back."""
        if not (ambient.is_control_flow(error) or self.pauses(error)):
            self._close(entry, lambda session: session.record(entry.verdict, error=self.error_of(error)))
            if entry.leader is not None and not entry.leader.outcome.done():
                entry.leader.outcome.set_exception(error)
            return
        _give_up(entry.leader)
        if not self.pauses(error):
            self.abandon(entry)

    def abandon(self, entry: Entry) -> None:
        """A call that may have run, and of which nobody will learn what came."""
        _give_up(entry.leader)
        self._close(entry, lambda session: session.cancel(entry.verdict))

    def _close(self, entry: Entry, tell: Callable[[Session], None]) -> None:
        if entry.call is None or entry.leader is None or entry.leader.closed:
            return
        entry.leader.closed = True
        try:
            tell(entry.call.session)
        except Exception as error:  # noqa: BLE001 - the call has run and its result is the host's: said, not raised
            logger().error("microloop could not record a call of %s", entry.name, exc_info=error)


def log_advice(verdict: Verdict, result: Any) -> None:
    """Says what the model cannot be told."""
    logger().warning("%s: the advice has no place in a %s: %s", verdict.tool, type(result).__name__, verdict.feedback)


def _give_up(leader: Leader | None) -> None:
    """There will be no outcome to share: whoever waits for one goes on."""
    if leader is not None and not leader.outcome.done():
        leader.outcome.set_exception(Unanswered())

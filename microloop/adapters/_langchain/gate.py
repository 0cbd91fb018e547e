"""The way of one tool call: check, run, record, in whatever hook of LangChain or LangGraph it passes."""

from __future__ import annotations

import functools
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from microloop import ambient
from microloop.adapters._langchain import approval
from microloop.adapters._langchain.answers import Leader, Unanswered
from microloop.adapters._langchain.messages import advised, outcome_of, refusal, shared_answer
from microloop.adapters._langchain.runs import current, notes_of
from microloop.adapters._langchain.schemas import declared_schema
from microloop.coverage import checked_by_outer_hook
from microloop.errors import Refused, SessionError
from microloop.judgement import fault
from microloop.log import logger
from microloop.tools import Tool
from microloop.verdict import Action, Verdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from langchain_core.tools import BaseTool

    from microloop.guardrail import Guardrail
    from microloop.session import Session

_DUPLICATE = "call.duplicate"
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the guard sees it. `key` and `batch` tell the guard which call of which model turn it is."""

    session: Session
    name: str
    arguments: Any
    call_id: str | None
    key: str | None = None
    batch: str | None = None
    tool: BaseTool | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A call that was judged. Without `call` the guard itself failed before it knew the call."""

    name: str
    call_id: str | None
    verdict: Verdict
    call: Call | None = None
    leader: Leader | None = None
    """For a call that may run: what its identical neighbours wait for."""
    repeats: bool = False
    """Whether it is such a neighbour, of `first`."""
    first: Leader | None = None

    @property
    def arguments(self) -> Any:
        """What the model wrote, for whoever is asked about the call."""
        return None if self.call is None else self.call.arguments


class Gate:
    """Stands before the tools of one hook."""

    def __init__(
        self,
        guard: Guardrail,
        hook: str,
        *,
        halted: Callable[[Verdict], None],
        on_verdict: Callable[[Verdict], None] | None = None,
    ) -> None:
        self.guard = guard
        self._hook = hook
        self._halted = halted
        self._on_verdict = on_verdict
        self._declared: dict[str, BaseTool] = {}

    def declare(self, tool: BaseTool) -> None:
        """Holds calls of a tool to the schema that it shows the model. Done once, at first sight."""
        if self._declared.get(tool.name) is not tool:
            self.unless_faulty(lambda: self.guard.tool(tool.name, declared_schema(tool)))
            self.guard.covers(tool.name, self._hook)
            self._declared[tool.name] = tool

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

    def run(self, name: str, call_id: str | None, find: Callable[[], Call], execute: Callable[[], Any]) -> Any:
        """The result of a call that may run, or the answer to one that may not."""
        entry = self.enter(name, call_id, find)
        if entry.call is None:
            return execute() if entry.verdict.allowed else self.refused(entry)
        if entry.repeats:
            return self.shared(entry)
        with self.deciding(entry):
            decision = approval.decide(self.guard, entry.verdict, entry.arguments)
        if not decision.approved:
            return self.refused(entry, decision.message)
        with self._running(entry, entry.call):
            result = execute()
        return self.done(entry, result)

    async def arun(
        self, name: str, call_id: str | None, find: Callable[[], Call], execute: Callable[[], Awaitable[Any]]
    ) -> Any:
        """`run` for an event loop."""
        entry = self.enter(name, call_id, find)
        if entry.call is None:
            return await execute() if entry.verdict.allowed else self.refused(entry)
        if entry.repeats:
            return await self._ashared(entry)
        with self.deciding(entry):
            decision = await approval.adecide(self.guard, entry.verdict, entry.arguments)
        if not decision.approved:
            return self.refused(entry, decision.message)
        with self._running(entry, entry.call):
            result = await execute()
        return self.done(entry, result)

    def refused(self, entry: Entry, said: str = "") -> Any:
        """The framework's own answer to a call that does not run."""
        _give_up(entry.leader)
        if entry.verdict.action is Action.HALT:
            self._halted(entry.verdict)
        return self._refusal(entry, f"{entry.verdict.feedback} {said}".strip())

    # Check

    def enter(self, name: str, call_id: str | None, find: Callable[[], Call]) -> Entry:
        """The verdict on a call."""
        try:
            entry = self._judged(find())
        except SessionError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever fails in us, `on_error` decides, and it is logged
            entry = Entry(name, call_id, fault(Tool(name, 0, self.guard.policy.on_error, ()), None, error))
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
        if _is_pause(error):
            return  # the call comes back, and is the same one then
        if entry.leader is not None and entry.verdict.action is Action.ASK:
            entry.leader.closed = True  # whoever asked has cancelled it
        self.abandon(entry)

    def _judged(self, call: Call) -> Entry:
        if call.tool is not None:
            self.declare(call.tool)
        notes = notes_of(call.session)
        # In one go: whoever learns that a call is a duplicate must find the call that it duplicates.
        with notes.lock:
            verdict = call.session.check(call.name, call.arguments, call_id=call.key, batch=call.batch)
            entry = functools.partial(Entry, call.name, call.call_id, verdict, call)
            if verdict.reason == _DUPLICATE and verdict.action is Action.BLOCK:
                return entry(repeats=True, first=notes.answers.leader(verdict.evidence))
            if not verdict.allowed and verdict.action is not Action.ASK:
                return entry()
            # A call that is under way and comes again, id and all, is one call too.
            running = notes.answers.running(verdict.step)
            if running is not None:
                return entry(repeats=True, first=running)
            return entry(leader=notes.answers.lead(verdict.step, call.batch, call.call_id))

    def _refusal(self, entry: Entry, text: str) -> Any:
        return refusal(entry.verdict, call_id=entry.call_id, name=entry.name, text=text)

    # Share

    def shared(self, entry: Entry) -> Any:
        """The answer to a call that stands twice in a turn."""
        if entry.first is None:
            return self.refused(entry)
        try:
            return _copied(entry, entry.first, entry.first.wait())
        except Unanswered:
            return self.refused(entry)

    async def _ashared(self, entry: Entry) -> Any:
        if entry.first is None:
            return self.refused(entry)
        try:
            return _copied(entry, entry.first, await entry.first.await_outcome())
        except Unanswered:
            return self.refused(entry)

    # Record

    @contextmanager
    def _running(self, entry: Entry, call: Call) -> Iterator[None]:
        try:
            with current(call.session), checked_by_outer_hook(self.guard, call.name, call.tool):
                yield
        except BaseException as error:  # interrupts too: told to the session, and raised again
            self.failed(entry, error)
            raise

    def done(self, entry: Entry, result: Any) -> Any:
        """Records what a tool gave back, and puts advice on it."""
        outcome, error = outcome_of(result, entry.call_id)
        self._record(entry, outcome, error)
        if entry.leader is not None:
            entry.leader.outcome.set_result(result)
        return advised(result, entry.verdict, entry.call_id) if entry.verdict.action is Action.WARN else result

    def failed(self, entry: Entry, error: BaseException) -> None:
        """Records an exception of the tool. What only steers the graph is no outcome; a paused call comes back."""
        if not ambient.is_control_flow(error):
            self._record(entry, None, error)
            if entry.leader is not None and not entry.leader.outcome.done():
                entry.leader.outcome.set_exception(error)
            return
        _give_up(entry.leader)
        if not _is_pause(error):
            self.abandon(entry)

    def abandon(self, entry: Entry) -> None:
        """A call that may have run, and of which nobody will learn what came."""
        _give_up(entry.leader)
        self._close(entry, lambda session: session.cancel(entry.verdict))

    def _record(self, entry: Entry, outcome: Any, error: BaseException | str | None) -> None:
        self._close(entry, lambda session: session.record(entry.verdict, outcome, error=error))

    def _close(self, entry: Entry, tell: Callable[[Session], None]) -> None:
        if entry.call is None or entry.leader is None or entry.leader.closed:
            return
        entry.leader.closed = True
        try:
            tell(entry.call.session)
        except Exception as error:  # noqa: BLE001 - the call has run and its result is the host's: said, not raised
            logger().error("microloop could not record a call of %s", entry.name, exc_info=error)


def _give_up(leader: Leader | None) -> None:
    """There will be no outcome to share: whoever waits for one goes on."""
    if leader is not None and not leader.outcome.done():
        leader.outcome.set_exception(Unanswered())


def _copied(entry: Entry, first: Leader, result: Any) -> Any:
    return shared_answer(result, first.call_id, call_id=entry.call_id, name=entry.name, verdict=entry.verdict)


def _is_pause(error: BaseException) -> bool:
    interrupt = getattr(sys.modules.get("langgraph.errors"), "GraphInterrupt", None)
    return interrupt is not None and isinstance(error, interrupt)

"""How a call is answered in the hooks of LangChain and LangGraph."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from microloop import ambient
from microloop.adapters._gate.gate import Gate
from microloop.adapters._langchain import approval
from microloop.adapters._langchain.messages import advised, outcome_of, refusal, shared_answer
from microloop.adapters._langchain.schemas import declared_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from microloop.adapters._gate.answers import Leader
    from microloop.adapters._gate.calls import Decision, Entry
    from microloop.guardrail import Guardrail
    from microloop.session import Session
    from microloop.verdict import Verdict


class LangChainGate(Gate):
    """Answers with tool messages. `end` ends a run where the hook around this gate has no way of its own to do it."""

    def __init__(
        self,
        guard: Guardrail,
        hook: str,
        *,
        end: Callable[[Verdict], None] | None = None,
        on_verdict: Callable[[Verdict], None] | None = None,
    ) -> None:
        super().__init__(guard, hook, on_verdict=on_verdict)
        self._end = end

    def answer(self, entry: Entry, text: str) -> Any:
        """A tool message with the status of an error."""
        return refusal(entry.verdict, call_id=entry.call_id, name=entry.name, text=text)

    def schema_of(self, tool: Any) -> Mapping[str, Any] | None:
        """See `declared_schema`."""
        return declared_schema(tool)

    def outcome_of(self, entry: Entry, result: Any) -> tuple[Any, BaseException | str | None]:
        """The content of the message that answers the call."""
        return outcome_of(result, entry.call_id)

    def advised(self, entry: Entry, result: Any) -> Any:
        """The message that answers the call, with the advice at its head."""
        return advised(result, entry.verdict, entry.call_id)

    def copied(self, entry: Entry, first: Leader, result: Any) -> Any:
        """The message that answered the first of two identical calls, for the second."""
        return shared_answer(result, first.call_id, call_id=entry.call_id, name=entry.name, verdict=entry.verdict)

    def halted(self, verdict: Verdict) -> None:
        """Ends the run as this gate was told to."""
        if self._end is not None:
            self._end(verdict)

    def decide(self, entry: Entry) -> Decision:
        """Asks a person by a pause where the run can be paused."""
        return approval.decide(self.guard, entry.verdict, entry.arguments)

    async def adecide(self, entry: Entry) -> Decision:
        """See `decide`."""
        return await approval.adecide(self.guard, entry.verdict, entry.arguments)

    def inside(self, session: Session) -> AbstractContextManager[object]:
        """What is checked inside finds its session without help where LangGraph says which run it is."""
        return nullcontext() if ambient.current_run() is None else super().inside(session)

    def pauses(self, error: BaseException) -> bool:
        """Whether an interrupt of LangGraph is what was raised."""
        interrupt = getattr(sys.modules.get("langgraph.errors"), "GraphInterrupt", None)
        return interrupt is not None and isinstance(error, interrupt)

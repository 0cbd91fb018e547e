"""A model client that ends a halted run, and tells the guard what only the model's answers show."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from autogen_core.models import ChatCompletionClient, CreateResult, RequestUsage

from microloop.adapters._autogen.runs import session_of_run
from microloop.adapters._gate.calls import Call
from microloop.adapters._gate.halting import OnHalt, halt_of
from microloop.adapters._gate.notes import notes_of
from microloop.adapters._gate.unrun import judge_text, judge_unrun
from microloop.adapters._gate.usage import Usage, spend
from microloop.errors import run_halted
from microloop.log import logger

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from autogen_core import FunctionCall
    from autogen_core.models import LLMMessage

    from microloop.adapters._autogen.gate import WorkbenchGate
    from microloop.session import Session

HALTED = "This run was halted."
"""With `on_halt="end"` the last message of a halted run begins so."""


class GuardedClient(ChatCompletionClient):
    """Another model client. A halted run ends here, when every call of the turn before is answered."""

    def __init__(self, inner: ChatCompletionClient, gate: WorkbenchGate, *, on_halt: OnHalt = "raise") -> None:
        self._inner = inner
        self._gate = gate
        self._raises = on_halt == "raise"
        self._unguarded: set[str] = set()

    async def create(self, messages: Sequence[LLMMessage], **options: Any) -> CreateResult:
        """Ask the model, if the run is not halted."""
        ending = self._ending(options)
        if ending is not None:
            return ending
        result = await self._inner.create(messages, **options)
        self._hear_safely(result, options)
        return result

    async def create_stream(self, messages: Sequence[LLMMessage], **options: Any) -> AsyncGenerator[Any, None]:
        """Ask the model, if the run is not halted, and pass its words on as they come."""
        ending = self._ending(options)
        if ending is not None:
            yield ending
            return
        async for part in self._inner.create_stream(messages, **options):
            if isinstance(part, CreateResult):
                self._hear_safely(part, options)
            yield part

    def _hear_safely(self, result: CreateResult, options: Mapping[str, Any]) -> None:
        self._gate.unless_faulty(lambda: self._hear(result, options))

    @functools.cached_property
    def _model_name(self) -> str | None:
        """The model's name, for its price. AutoGen knows it only from the configuration of the client."""
        try:
            return str(self._inner.dump_component().config["model"])
        except Exception:  # noqa: BLE001 - not every client has a configuration; that a price is missing is said later
            return None

    # Before the model is asked

    def _ending(self, options: Mapping[str, Any]) -> CreateResult | None:
        verdict = self._gate.unless_faulty(lambda: halt_of(self._session(options)))
        if verdict is None:
            return None
        # A text is no structured output: it would fail to parse, with an error that says nothing of the halt.
        if self._raises or options.get("json_output"):
            raise run_halted(verdict)
        nothing = RequestUsage(prompt_tokens=0, completion_tokens=0)
        return CreateResult(finish_reason="stop", content=f"{HALTED} {verdict.feedback}", usage=nothing, cached=False)

    def _session(self, options: Mapping[str, Any]) -> Session:
        return session_of_run(self._gate.guard, options.get("cancellation_token"))

    # When it has answered

    def _hear(self, result: CreateResult, options: Mapping[str, Any]) -> None:
        session = self._session(options)
        notes_of(session).next_turn()
        if not result.cached:
            used = Usage(result.usage.prompt_tokens, result.usage.completion_tokens)
            spend(session, used, model=self._model_name)
        if isinstance(result.content, str):
            judge_text(self._gate, session, result.content)
        else:
            self._hear_calls(session, result.content, options.get("tools") or ())

    def _hear_calls(self, session: Session, calls: Sequence[FunctionCall], tools: Sequence[Any]) -> None:
        """Judges the calls that AutoGen answers itself, so that they are no way to go round in circles."""
        names = {tool["name"] if isinstance(tool, dict) else tool.name for tool in tools}
        handoffs = {tool.name for tool in tools if not isinstance(tool, dict)}
        batch = notes_of(session).batch
        for call in calls:
            error = _unreadable(call) or (None if call.name in names else f"there is no tool {call.name}")
            if error is not None:
                judge_unrun(self._gate, Call(session, call.name, call.arguments, call.id, call.id, batch), error)
            elif call.name in handoffs:
                self._warn_of(call.name)

    def _warn_of(self, handoff: str) -> None:
        if handoff not in self._unguarded:
            self._unguarded.add(handoff)
            logger().warning("%s is a handoff, which AutoGen runs where no hook reaches it: not guarded", handoff)

    # The rest is the inner client's own

    async def close(self) -> None:
        """Close the inner client."""
        await self._inner.close()

    def actual_usage(self) -> RequestUsage:
        """What the inner client has counted."""
        return self._inner.actual_usage()

    def total_usage(self) -> RequestUsage:
        """What the inner client has counted."""
        return self._inner.total_usage()

    def count_tokens(self, messages: Sequence[LLMMessage], **options: Any) -> int:
        """The inner client's count."""
        count: int = self._inner.count_tokens(messages, **options)
        return count

    def remaining_tokens(self, messages: Sequence[LLMMessage], **options: Any) -> int:
        """The inner client's count."""
        count: int = self._inner.remaining_tokens(messages, **options)
        return count

    @property
    def capabilities(self) -> Any:
        """What the model can do, in AutoGen's older form."""
        return self._inner.capabilities

    @property
    def model_info(self) -> Any:
        """What the model can do."""
        return self._inner.model_info


def _unreadable(call: FunctionCall) -> str | None:
    try:
        json.loads(call.arguments)
    except ValueError as error:
        return str(error)
    return None

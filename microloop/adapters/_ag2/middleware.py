"""`GuardrailMiddleware`: the guard in the hooks of an AG2 agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ag2 import Context
from ag2.events import ModelMessage, ModelResponse, ToolNotFoundEvent
from ag2.middleware import BaseMiddleware
from ag2.tools.final.function_tool import FunctionToolSchema
from ag2.utils import AGENT_CONTEXT_DEPENDENCY_KEY

from microloop.adapters._ag2.gate import ToolGate
from microloop.adapters._gate.calls import Call
from microloop.adapters._gate.halting import OnHalt, check_choice, halt_of
from microloop.adapters._gate.nested import child_of_caller
from microloop.adapters._gate.notes import notes_of
from microloop.adapters._gate.sessions import session_of
from microloop.adapters._gate.unrun import judge_text, judge_unrun
from microloop.adapters._gate.usage import Usage, spend
from microloop.adapters._gate.versions import require_hooks
from microloop.errors import run_halted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ag2.events import BaseEvent, ToolCallEvent
    from ag2.middleware.base import AgentTurn, LLMCall, ToolExecution, ToolResultType

    from microloop.guardrail import Guardrail
    from microloop.session import Session
    from microloop.verdict import Verdict


require_hooks(BaseMiddleware, "on_turn", "on_llm_call", "on_tool_execution")


class GuardrailMiddleware:
    """Checks each tool call of an agent before it runs, and records what came of it.

    A refused call is answered with a `ToolErrorEvent` that carries the feedback, advice is the first part of the
    result. When the run is halted, every call of the turn is answered, and the run ends before the model is asked
    again: with a reply that says so and has the verdict under `reply.response.metadata["microloop"]` (`on_halt="end"`),
    or with `RunHalted` (`on_halt="raise"`). `on_verdict` is told of every verdict, for logs and displays.
    """

    def __init__(
        self,
        guard: Guardrail,
        *,
        on_halt: OnHalt = "end",
        on_verdict: Callable[[Verdict], None] | None = None,
    ) -> None:
        check_choice(on_halt)
        self._gate = ToolGate(guard, "GuardrailMiddleware", on_verdict=on_verdict)
        self._raises = on_halt == "raise"

    def __call__(self, event: BaseEvent, context: Context) -> BaseMiddleware:
        """The hooks for one turn of the conversation; AG2 calls this."""
        return _Turn(event, context, self._gate, raises=self._raises)


class _Turn(BaseMiddleware):
    """From a message of a person to the agent's reply."""

    def __init__(self, event: BaseEvent, context: Context, gate: ToolGate, *, raises: bool) -> None:
        super().__init__(event, context)
        self._gate = gate
        self._raises = raises
        self._calls: dict[str, ToolCallEvent] = {}

    async def on_turn(self, call_next: AgentTurn, event: BaseEvent, context: Context) -> ModelResponse:
        """Tell the session that a person has spoken, and get to know the tools."""
        self._gate.unless_faulty(lambda: self._session(context).entered_run(object()))
        for schema in await _schemas(context):
            self._gate.declare(schema.function.name, schema)
        with context.stream.where(ToolNotFoundEvent).sub_scope(self._hear_unknown):
            return await call_next(event, context)

    async def on_llm_call(self, call_next: LLMCall, events: Sequence[BaseEvent], context: Context) -> ModelResponse:
        """Ask the model, if the run is not halted, and charge what it spent."""
        verdict = self._gate.unless_faulty(lambda: halt_of(self._session(context)))
        if verdict is not None:
            return self._ending(verdict)
        response = await call_next(events, context)
        self._gate.unless_faulty(lambda: self._hear(response, context))
        return response

    async def on_tool_execution(
        self, call_next: ToolExecution, event: ToolCallEvent, context: Context
    ) -> ToolResultType:
        """Check, run, record."""
        return await self._gate.arun(
            event.name, event.id, lambda: self._call(event, context), lambda: call_next(event, context), native=event
        )

    def _ending(self, verdict: Verdict) -> ModelResponse:
        if self._raises:
            raise run_halted(verdict)
        text = f"This run was halted. {verdict.feedback}"
        return ModelResponse(ModelMessage(text, metadata={"microloop": verdict.as_dict()}))

    def _hear(self, response: ModelResponse, context: Context) -> None:
        session = self._session(context)
        notes_of(session).next_turn()
        spend(session, _usage(response.usage), model=response.model, provider=response.provider)
        self._calls = {call.id: call for call in response.tool_calls.calls}
        if not self._calls:
            judge_text(self._gate, session, response.content or "")

    async def _hear_unknown(self, event: ToolNotFoundEvent, context: Context) -> None:
        """A call of a tool that is not there passes no hook of the tools; it may be a loop all the same."""
        call = self._calls.get(event.parent_id)
        if call is not None:
            self._gate.unless_faulty(lambda: judge_unrun(self._gate, self._call(call, context), event.error))

    def _call(self, event: ToolCallEvent, context: Context) -> Call:
        session = self._session(context)
        batch = notes_of(session).batch
        return Call(session, event.name, _arguments(event), event.id, event.id if batch else None, batch)

    def _session(self, context: Context) -> Session:
        return child_of_caller(self._gate.guard) or session_of(self._gate.guard, str(context.stream.id))


async def _schemas(context: Context) -> list[FunctionToolSchema]:
    """What the agent's own tools show the model. Those that run at the model's provider are none of functions."""
    agent = context.dependencies.get(AGENT_CONTEXT_DEPENDENCY_KEY)
    tools = () if agent is None else agent.tools
    return [
        schema for tool in tools for schema in await tool.schemas(context) if isinstance(schema, FunctionToolSchema)
    ]


def _arguments(event: ToolCallEvent) -> Any:
    try:
        return event.serialized_arguments
    except ValueError:  # no JSON: the guard judges it as it was written
        return event.arguments


def _usage(usage: Any) -> Usage:
    return Usage(
        int(usage.prompt_tokens or 0), int(usage.completion_tokens or 0), int(usage.cache_read_input_tokens or 0)
    )

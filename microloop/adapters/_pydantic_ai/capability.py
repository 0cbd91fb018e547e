"""`GuardrailCapability`: the guard in the hooks of a Pydantic AI agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from pydantic_ai.capabilities import AbstractCapability

from microloop.adapters._gate import sessions
from microloop.adapters._gate.calls import Call
from microloop.adapters._gate.halting import halt_of
from microloop.adapters._gate.nested import child_of_caller
from microloop.adapters._gate.notes import notes_of
from microloop.adapters._gate.usage import Usage, spend
from microloop.adapters._gate.versions import require_hooks
from microloop.adapters._pydantic_ai.gate import PydanticGate
from microloop.errors import RunHalted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pydantic_ai import RunContext
    from pydantic_ai.messages import ModelResponse, ToolCallPart
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.tools import ToolDefinition

    from microloop.guardrail import Guardrail
    from microloop.session import Session


require_hooks(AbstractCapability, "before_run", "before_model_request", "after_model_request")
require_hooks(AbstractCapability, "wrap_tool_execute", "on_tool_validate_error")


class GuardrailCapability(AbstractCapability[Any]):
    """Checks each tool call of an agent before it runs, and records what came of it.

    agent = Agent("openai:gpt-5", tools=[search], capabilities=[GuardrailCapability(guard)])

    A refused call is answered with the feedback, as a failed result; advice stands at the head of the result. When the
    run is halted, every call of the turn is answered, and `RunHalted` is raised before the model is asked again. Calls
    that need consent are deferred for approval, unless the guard has an `ask` of its own.
    """

    def __init__(self, guard: Guardrail) -> None:
        self._guard = guard
        self._gate = PydanticGate(guard, "GuardrailCapability")

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """A guard does not come from a spec."""
        return None

    # The run

    async def before_run(self, ctx: RunContext[Any]) -> None:
        """Tell the session that a person has spoken. A run that goes on with deferred calls has no prompt."""
        self._gate.unless_faulty(lambda: _hear(self._session(ctx), ctx))

    # The model

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """End a halted run instead of asking the model again."""
        self._gate.unless_faulty(lambda: _next_turn(self._session(ctx)))
        return request_context

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """Charge the answer, and tell the session of one that calls no tool."""
        del request_context
        self._gate.unless_faulty(lambda: _heard(self._session(ctx), response))
        return response

    # The tools

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: Callable[[dict[str, Any]], Awaitable[Any]],
    ) -> Any:
        """Check, run, record."""
        return await self._gate.arun(
            call.tool_name,
            call.tool_call_id,
            lambda: self._call(ctx, call, tool_def),
            lambda: handler(args),
            native=ctx,
        )

    async def on_tool_validate_error(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any, error: Exception
    ) -> NoReturn:
        """Count a call whose arguments are wrong. Pydantic AI answers it: what it says is more exact."""
        del args
        entry = self._gate.enter(call.tool_name, call.tool_call_id, lambda: self._call(ctx, call, tool_def), ctx)
        if entry.leader is not None:
            self._gate.failed(entry, error)
        raise error

    def _call(self, ctx: RunContext[Any], call: ToolCallPart, tool_def: ToolDefinition) -> Call:
        session = self._session(ctx)
        batch = notes_of(session).batch
        # What the model wrote: validated arguments may be objects of any kind.
        return Call(session, call.tool_name, call.args or {}, call.tool_call_id, call.tool_call_id, batch, tool_def)

    def _session(self, ctx: RunContext[Any]) -> Session:
        return child_of_caller(self._guard) or sessions.session_of(self._guard, ctx.conversation_id)


def _hear(session: Session, ctx: RunContext[Any]) -> None:
    notes = notes_of(session)
    if notes.heard is not None and ctx.prompt is not None:
        session.user_turn()
    notes.heard = ctx.run_id


def _next_turn(session: Session) -> None:
    verdict = halt_of(session)
    if verdict is not None:
        raise RunHalted(verdict)
    notes_of(session).next_turn()


def _heard(session: Session, response: ModelResponse) -> None:
    used = response.usage
    spend(
        session,
        Usage(used.input_tokens, used.output_tokens, used.cache_read_tokens),
        model=response.model_name,
        provider=response.provider_name,
    )
    if not any(part.part_kind == "tool-call" for part in response.parts):
        session.assistant_turn("".join(part.content for part in response.parts if part.part_kind == "text"))

"""The guard's place around the model of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents import AgentHooks
from agents.models import get_default_model

from microloop.adapters._gate.notes import notes_of
from microloop.adapters._gate.usage import Usage, spend
from microloop.adapters._gate.versions import require_hooks
from microloop.adapters._openai_agents.runs import end_if_halted, session_of

if TYPE_CHECKING:
    from agents import Agent, ModelResponse, RunContextWrapper

    from microloop.adapters._openai_agents.gate import AgentsGate
    from microloop.session import Session


require_hooks(AgentHooks, "on_llm_start", "on_llm_end", "on_end")


class GuardHooks(AgentHooks):
    """Counts the model's turns, charges what they cost, and ends a halted run before the next of them."""

    def __init__(self, gate: AgentsGate, inner: AgentHooks[Any] | None) -> None:
        self._gate = gate
        self._inner = inner = inner or AgentHooks()
        # What the guard has no part in goes to the agent's own hooks as it is.
        self.on_start, self.on_handoff = inner.on_start, inner.on_handoff
        self.on_tool_start, self.on_tool_end = inner.on_tool_start, inner.on_tool_end

    async def on_llm_start(self, context: RunContextWrapper[Any], *args: Any) -> None:
        """End a halted run instead of asking the model again."""
        self._gate.unless_faulty(lambda: self._next_turn(self._session(context)))
        await self._inner.on_llm_start(context, *args)

    async def on_llm_end(self, context: RunContextWrapper[Any], agent: Agent[Any], response: ModelResponse) -> None:
        """Charge the answer, and tell the session of one that calls no tool."""
        self._gate.unless_faulty(lambda: _heard(self._session(context), agent, response))
        await self._inner.on_llm_end(context, agent, response)

    async def on_end(self, context: RunContextWrapper[Any], agent: Agent[Any], output: Any) -> None:
        """End a halted run whose last output is that of a tool, as `tool_use_behavior` has it: it is a refusal."""
        self._gate.unless_faulty(lambda: _end_if_refused(self._session(context)))
        await self._inner.on_end(context, agent, output)

    def _session(self, context: RunContextWrapper[Any]) -> Session:
        return session_of(self._gate.guard, context)

    def _next_turn(self, session: Session) -> None:
        end_if_halted(session)
        notes_of(session).next_turn()


def _end_if_refused(session: Session) -> None:
    # What the model said with the last of its budget is an answer all the same; that verdict is about no tool.
    if session.last_verdict is not None and session.last_verdict.tool:
        end_if_halted(session)


def _heard(session: Session, agent: Agent[Any], response: ModelResponse) -> None:
    used = response.usage
    cached = used.input_tokens_details.cached_tokens or 0
    spend(session, Usage(used.input_tokens, used.output_tokens, cached), model=_model_of(agent))
    if all(item.type in ("message", "reasoning") for item in response.output):
        session.assistant_turn(_text_of(response))


def _model_of(agent: Agent[Any]) -> str:
    # What a `RunConfig(model=…)` says is not shown to any hook.
    model = agent.model or get_default_model()
    return str(getattr(model, "model", model))


def _text_of(response: ModelResponse) -> str:
    parts = (part for item in response.output if item.type == "message" for part in item.content)
    return "".join(getattr(part, "text", "") for part in parts)

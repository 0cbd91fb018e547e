"""Guarded copies of agents and of workflows of several agents."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from llama_index.core.agent.workflow import AgentOutput, AgentWorkflow, BaseWorkflowAgent
from llama_index.core.base.llms.types import ChatMessage

from microloop.adapters._gate.calls import Call
from microloop.adapters._gate.halting import OnHalt, check_choice, halt_of
from microloop.adapters._gate.notes import notes_of
from microloop.adapters._gate.sessions import RunIds
from microloop.adapters._gate.unrun import judge_unrun
from microloop.adapters._gate.usage import spend
from microloop.adapters._gate.versions import require_hooks
from microloop.adapters._llama_index.gate import ToolGate
from microloop.adapters._llama_index.runs import session_here
from microloop.adapters._llama_index.tools import guarded
from microloop.adapters._llama_index.usage import usage_of
from microloop.errors import AdapterError, run_halted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from microloop.guardrail import Guardrail
    from microloop.session import Session
    from microloop.verdict import Verdict

    Agent = TypeVar("Agent", bound="BaseWorkflowAgent | AgentWorkflow")

require_hooks(BaseWorkflowAgent, "get_tools", "take_step", "finalize")
require_hooks(AgentWorkflow, "get_tools")

MARK = "microloop"
"""Under this key the `raw` of the output that ends a halted run has the verdict."""


def guarded_agent(
    guard: Guardrail,
    agent: Agent,
    *,
    on_halt: OnHalt = "end",
    on_verdict: Callable[[Verdict], None] | None = None,
) -> Agent:
    """A copy of an agent, or of an `AgentWorkflow`, whose tool calls are checked before they run.

    That goes for all its tools: those of a `tool_retriever` and the handoffs of a workflow too. A refused call is
    answered with a `ToolOutput` that is marked as an error. When the run is halted, every call of the turn is answered,
    and the run ends before the model is asked again: with an output that says so and has the verdict as
    `raw["microloop"]` (`on_halt="end"`), or with `RunHalted` (`on_halt="raise"`). `on_verdict` is told of every
    verdict.
    """
    check_choice(on_halt)
    made: Agent = _copy(agent, _Guide(guard, raises=on_halt == "raise", on_verdict=on_verdict))
    return made


class _Guide:
    """What a guarded agent asks at each turn of its model."""

    def __init__(self, guard: Guardrail, *, raises: bool, on_verdict: Callable[[Verdict], None] | None) -> None:
        self.gate = ToolGate(guard, "guarded_agent", on_verdict=on_verdict)
        self.raises = raises
        self._starts = RunIds()

    def asked(self, ctx: Any) -> Verdict | None:
        """The verdict that ends the run in place of the model's next turn."""
        session = self._session(ctx)
        notes_of(session).next_turn()
        return halt_of(session)

    def heard(self, ctx: Any, output: AgentOutput, tools: Sequence[Any], model: str | None) -> None:
        """Charge what the turn has cost, and tell the session of what no tool will show it."""
        session = self._session(ctx)
        spent = spend(session, usage_of(output.raw), model=model)
        spoken = not output.tool_calls and not output.retry_messages
        said = session.assistant_turn(output.response.content or "") if spoken else None
        for verdict in (spent, said):
            if verdict is not None and verdict.reason != "none":
                self.gate.tell(verdict)
        self._judge_unknown(session, output, {tool.metadata.name for tool in tools})

    def _judge_unknown(self, session: Session, output: AgentOutput, known: set[str | None]) -> None:
        batch = notes_of(session).batch
        for call in output.tool_calls:
            if call.tool_name not in known:
                found = Call(session, call.tool_name, call.tool_kwargs, call.tool_id, call.tool_id, batch)
                judge_unrun(self.gate, found, "there is no such tool")

    def _session(self, ctx: Any) -> Session:
        session = session_here(self.gate.guard)
        session.entered_run(self._starts.of(ctx.store))
        return session


def _copy(agent: Any, guide: _Guide) -> Any:
    made = copy.copy(agent)
    if isinstance(agent, AgentWorkflow):
        made.agents = {name: _copy(each, guide) for name, each in agent.agents.items()}
        made.__class__ = _named_as(type(agent), _workflow_class(type(agent), guide))
    elif isinstance(agent, BaseWorkflowAgent):
        # pydantic's own `__setattr__` takes this for a field.
        object.__setattr__(made, "__class__", _named_as(type(agent), _agent_class(type(agent), guide)))
    else:
        raise AdapterError(
            f"{type(agent).__module__}.{type(agent).__qualname__} cannot be guarded: it is neither an agent of "
            "llama_index.core.agent.workflow nor an AgentWorkflow; guard its tools with guard.wrap(tools)"
        )
    return made


def _named_as(kind: type[Any], made: type[Any]) -> type[Any]:
    """Workflows are known by the name of their class."""
    made.__name__, made.__qualname__, made.__module__ = kind.__name__, kind.__qualname__, kind.__module__
    return made


def _workflow_class(kind: type[Any], guide: _Guide) -> type[Any]:
    class Guarded(kind):
        async def get_tools(self, *args: Any, **kwargs: Any) -> list[Any]:
            return [guarded(guide.gate, tool) for tool in await super().get_tools(*args, **kwargs)]

    return Guarded


def _agent_class(kind: type[Any], guide: _Guide) -> type[Any]:
    class Guarded(_workflow_class(kind, guide)):  # type: ignore[misc]  # the base is known when the agent is
        async def take_step(self, ctx: Any, llm_input: Any, tools: Any, memory: Any) -> AgentOutput:
            verdict = guide.gate.unless_faulty(lambda: guide.asked(ctx))
            if verdict is not None:
                return _last_output(self.name, verdict)
            output = await super().take_step(ctx, llm_input, tools, memory)
            guide.gate.unless_faulty(lambda: guide.heard(ctx, output, tools, self.llm.metadata.model_name))
            return output

        async def finalize(self, ctx: Any, output: AgentOutput, memory: Any) -> AgentOutput:
            finished = await super().finalize(ctx, output, memory)
            verdict = _halt_in(output)
            if verdict is not None:
                await memory.aput(output.response)
                # What a ReAct agent has thought so far it would go on with in its next run.
                await ctx.store.set(getattr(self, "reasoning_key", MARK), [])
                if guide.raises:
                    raise run_halted(verdict)
            return finished

    return Guarded


class _Halt(dict[str, Any]):
    """The `raw` of the last output."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__({MARK: verdict.as_dict()})
        self.verdict = verdict


def _last_output(agent: str, verdict: Verdict) -> AgentOutput:
    text = f"This run was halted. {verdict.feedback}"
    response = ChatMessage(role="assistant", content=text)
    return AgentOutput(response=response, current_agent_name=agent, raw=_Halt(verdict))


def _halt_in(output: AgentOutput) -> Verdict | None:
    return output.raw.verdict if isinstance(output.raw, _Halt) else None

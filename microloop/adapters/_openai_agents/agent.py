"""Guarded copies of agents, with the agents that they hand over to."""

from __future__ import annotations

import copy
import weakref
from typing import TYPE_CHECKING, Any, ClassVar

from agents import Agent, FunctionTool, Handoff

from microloop.adapters._gate.versions import require_hooks
from microloop.adapters._openai_agents.gate import AgentsGate
from microloop.adapters._openai_agents.hooks import GuardHooks
from microloop.adapters._openai_agents.tool import guarded_tool
from microloop.errors import AdapterError
from microloop.log import logger

if TYPE_CHECKING:
    from agents import RunContextWrapper, Tool

    from microloop.guardrail import Guardrail


require_hooks(Agent, "get_all_tools")


def guarded_agent(guard: Guardrail, agent: Agent[Any]) -> Agent[Any]:
    """A copy of an agent whose tool calls the guard checks, and of all agents that it hands over to.

    agent = guarded_agent(guard, agent)
    result = await Runner.run(agent, "…")

    The function tools, the tools of MCP servers, and those that are added later are guarded. A refused call is answered
    with the feedback, advice stands at the head of the output. When the run is halted, every call of the turn is
    answered, and `RunHalted` is raised before the model is asked again; the transcript is in its `run_data`.
    """
    if not isinstance(agent, Agent):
        raise AdapterError(f"guarded_agent takes an Agent of the Agents SDK; {type(agent).__qualname__} is not one")
    return _Family(AgentsGate(guard, "guarded_agent")).member(agent)


class _Family:
    """Agents that hand over to one another, in circles too: each is copied once."""

    def __init__(self, gate: AgentsGate) -> None:
        self._gate = gate
        # With the agent itself, so that no other one takes its address.
        self._copies: dict[int, tuple[Agent[Any], Agent[Any]]] = {}

    def member(self, agent: Agent[Any]) -> Agent[Any]:
        """The guarded copy of an agent."""
        if _is_guarded(self._gate.guard, agent):
            return agent
        if id(agent) not in self._copies:
            twin = self._copy(agent)
            self._copies[id(agent)] = (agent, twin)
            twin.handoffs = [self._handoff(each) for each in agent.handoffs]
        return self._copies[id(agent)][1]

    def _copy(self, agent: Agent[Any]) -> Agent[Any]:
        for each in agent.tools:
            _warn_of(self._gate.guard, each)
        tools = [_guarded(self._gate, each) for each in agent.tools]
        twin = agent.clone(tools=tools, hooks=GuardHooks(self._gate, agent.hooks))
        twin.__class__ = _guarded_class(type(agent), self._gate)
        return twin

    def _handoff(self, handoff: Agent[Any] | Handoff[Any, Any]) -> Any:
        if not isinstance(handoff, Handoff):
            return self.member(handoff)
        twin, hand_over = copy.copy(handoff), handoff.on_invoke_handoff

        async def on_invoke_handoff(*args: Any) -> Agent[Any]:
            return self.member(await hand_over(*args))

        twin.on_invoke_handoff = on_invoke_handoff
        target = handoff._agent_ref and handoff._agent_ref()  # noqa: SLF001 - by it a paused run finds its agents
        if target is not None:
            twin._agent_ref = weakref.ref(self.member(target))  # noqa: SLF001 - see above
        return twin


def _guarded_class(kind: type[Agent[Any]], gate: AgentsGate) -> type[Agent[Any]]:
    """A subclass that guards the tools of MCP servers, which are known only when the agent runs."""

    class Guarded(kind):
        microloop_gate: ClassVar[AgentsGate] = gate

        async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Tool]:
            return [_guarded(gate, each) for each in await super().get_all_tools(run_context)]

    Guarded.__name__, Guarded.__qualname__, Guarded.__module__ = kind.__name__, kind.__qualname__, kind.__module__
    return Guarded


def _guarded(gate: AgentsGate, tool: Tool) -> Tool:
    return guarded_tool(gate, tool) if isinstance(tool, FunctionTool) else tool


def _warn_of(guard: Guardrail, tool: Tool) -> None:
    """Says what stays unguarded: tools without a body in this process, and what an unguarded sub-agent does."""
    if not isinstance(tool, FunctionTool):
        logger().warning("%s is no function tool, and no hook reaches it: it is not guarded", tool.name)
    inner = getattr(tool, "_agent_instance", None)
    if inner is not None and not _is_guarded(guard, inner):
        logger().warning("the tools of agent %s are not guarded: use guarded_agent(…).as_tool(…)", inner.name)


def _is_guarded(guard: Guardrail, agent: Agent[Any]) -> bool:
    gate = getattr(agent, "microloop_gate", None)
    return gate is not None and gate.guard is guard

"""`guard_agent`: the guard in the steps of a smolagents agent.

smolagents has no hook before a tool. A `ToolCallingAgent` runs all of its calls through a method that is made to be
overridden; a `CodeAgent` hands its tools to the code that the model wrote. So an agent becomes one of a subclass, and
one that writes code gets guarded copies of its tools as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from smolagents import CodeAgent, LocalPythonExecutor, MultiStepAgent, ToolCallingAgent

from microloop.adapters._gate.versions import require_hooks
from microloop.adapters._smolagents.runs import Runs
from microloop.adapters._smolagents.steps import with_guarded_calls, with_guarded_steps
from microloop.adapters._smolagents.tool import ToolGate, guarded_copy
from microloop.errors import AdapterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from microloop.guardrail import Guardrail
    from microloop.verdict import Verdict

require_hooks(MultiStepAgent, "run", "_step_stream", "_generate_planning_step", "provide_final_answer")
require_hooks(ToolCallingAgent, "execute_tool_call")

Agent = TypeVar("Agent", bound="MultiStepAgent")


def guard_agent(guard: Guardrail, agent: Agent, *, on_verdict: Callable[[Verdict], None] | None = None) -> Agent:
    """Checks each tool call of the agent, and of the agents that it manages, before it runs. Gives the agent back.

    A refused call is answered with the feedback; in code it raises `BlockedCall`. A halted run raises `RunHalted` from
    `run`, when the step is in the agent's memory and before the model is asked again. `on_verdict` is told of every
    verdict.
    """
    agents = _all_of(agent)
    for each in agents:
        _check(each)
    for each in reversed(agents):  # whoever is managed comes first
        _attach(each, Runs(guard, each, on_verdict))
    return agent


def unguard_agent(agent: Agent) -> Agent:
    """Takes back `guard_agent`."""
    for each in _all_of(agent):
        runs: Runs | None = vars(each).pop("microloop", None)
        if runs is not None:
            each.__class__ = runs.kind
            each.tools.update(runs.tools)
    return agent


def _all_of(agent: Any) -> list[Any]:
    return [agent, *(inner for each in _managed_by(agent) for inner in _all_of(each))]


def _managed_by(agent: Any) -> list[Any]:
    return [each for each in agent.managed_agents.values() if isinstance(each, MultiStepAgent)]


def _check(agent: Any) -> None:
    """Raise before anything is changed."""
    if hasattr(agent, "microloop"):
        raise AdapterError(f"the {type(agent).__name__} is guarded already; unguard_agent takes that back")
    if not isinstance(agent, (CodeAgent, ToolCallingAgent)):
        raise AdapterError(
            f"{type(agent).__name__} is neither a ToolCallingAgent nor a CodeAgent: use guard.wrap(tools)"
        )
    if isinstance(agent, CodeAgent) and not isinstance(agent.python_executor, LocalPythonExecutor):
        raise AdapterError(
            f"the agent's code runs in a {type(agent.python_executor).__name__}, where no guard sees its calls; "
            'only executor_type="local" can be guarded'
        )


def _attach(agent: Any, runs: Runs) -> None:
    agent.microloop = runs
    if isinstance(agent, CodeAgent):
        gate = ToolGate(runs.guard, "guard_agent", runs.session, raises=True, on_verdict=runs.on_verdict)
        agent.tools.update({name: guarded_copy(tool, gate) for name, tool in runs.tools.items()})
        for managed in _managed_by(agent):
            gate.declare(managed.name, managed)
            managed.microloop.called_by_code = gate
        agent.__class__ = with_guarded_steps(runs.kind)
    else:
        for name, tool in {**runs.tools, **agent.managed_agents}.items():
            runs.gate.declare(name, tool)
        agent.__class__ = with_guarded_calls(runs.kind)

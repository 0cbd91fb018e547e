"""Guarded copies of function tools.

The guard sits around the body of the tool, inside the SDK's own error handling. A tool guardrail would be in the place
that the SDK has for such things, but sees too little: of an exception only the sentence that stands for all of them,
and nothing at all of a call that is cancelled. Then different errors look like a loop, and identical calls of one turn
could not wait for one another.
"""

from __future__ import annotations

import copy
import functools
from typing import TYPE_CHECKING, Any

from agents import ToolGuardrailFunctionOutput, ToolOutputGuardrail

from microloop.adapters._gate.calls import Call
from microloop.adapters._gate.notes import notes_of
from microloop.adapters._openai_agents.gate import AgentsGate
from microloop.adapters._openai_agents.runs import end_if_halted, session_of
from microloop.errors import RunHalted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agents import FunctionTool, ToolOutputGuardrailData
    from agents.tool_context import ToolContext

    from microloop.guardrail import Guardrail

    Body = Callable[[ToolContext[Any], str], Awaitable[Any]]

# Where the SDK keeps the body of a tool that it made itself. If this name changes, the guard sits around the error
# handling instead, and takes what that says for the result: less is known of a call then, but none is let through.
_BODY = "_invoke_tool_impl"


def wrap_tool(guard: Guardrail, tool: FunctionTool) -> FunctionTool:
    """A guarded copy of a tool, for an agent that is not guarded itself.

    A tool cannot end a run between two turns of the model: a halted call raises `RunHalted` where it stands.
    """
    twin = guarded_tool(AgentsGate(guard, "wrap"), tool)
    if twin is not tool:
        end = ToolOutputGuardrail(functools.partial(_end_if_halted, guard), name="microloop")
        twin.tool_output_guardrails = [*(twin.tool_output_guardrails or ()), end]
    return twin


def guarded_tool(gate: AgentsGate, tool: FunctionTool) -> FunctionTool:
    """A copy of a tool whose calls pass the gate. The tool itself stays as it is."""
    if getattr(tool, "microloop_guard", None) is gate.guard:
        return tool
    twin = copy.copy(tool)
    twin.microloop_guard = gate.guard
    invoker = twin.on_invoke_tool
    body = getattr(invoker, _BODY, None)
    if body is None:
        twin.on_invoke_tool = _checked(gate, twin, invoker)
    else:
        setattr(invoker, _BODY, _checked(gate, twin, body))
    gate.declare(twin.qualified_name, twin)
    return twin


def _checked(gate: AgentsGate, tool: FunctionTool, body: Body) -> Body:
    execute = functools.partial(_run_sub_agent, body) if _is_agent(tool) else body

    @functools.wraps(body)  # with what the SDK has noted on it
    async def checked(context: ToolContext[Any], arguments: str) -> Any:
        return await gate.arun(
            tool.qualified_name,
            _call_id(context),
            lambda: _call(gate.guard, tool, context, arguments),
            lambda: execute(context, arguments),
            native=tool,
        )

    return checked


def _call(guard: Guardrail, tool: FunctionTool, context: ToolContext[Any], arguments: str) -> Call:
    session = session_of(guard, context)
    batch, call_id = notes_of(session).batch, _call_id(context)
    # Some models number their calls anew in each turn: an id alone says nothing.
    key = call_id if batch else None
    return Call(session, tool.qualified_name, arguments or "{}", call_id, key, batch, tool)


def _call_id(context: ToolContext[Any]) -> str | None:
    # A tool that asks for the plain context of the run gets one without it.
    return getattr(context, "tool_call_id", None)


def _is_agent(tool: FunctionTool) -> bool:
    return bool(getattr(tool, "_is_agent_tool", False))


async def _run_sub_agent(body: Body, context: ToolContext[Any], arguments: str) -> Any:
    """Runs an agent that is a tool. If it is halted, the agent above is told so, and goes on."""
    try:
        return await body(context, arguments)
    except RunHalted as halted:
        return halted.verdict.feedback


async def _end_if_halted(guard: Guardrail, data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
    end_if_halted(session_of(guard, data.context))
    return ToolGuardrailFunctionOutput.allow()

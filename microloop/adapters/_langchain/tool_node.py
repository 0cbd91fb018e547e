"""The guard in the hook of LangGraph's `ToolNode`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph.prebuilt import ToolNode

from microloop import ambient
from microloop.adapters._gate.halting import OnHalt, check_choice
from microloop.adapters._langchain.context import within
from microloop.adapters._langchain.gate import LangChainGate
from microloop.adapters._langchain.halting import end_after_step, raise_now
from microloop.adapters._langchain.messages import asking_message, messages_of
from microloop.adapters._langchain.requests import call_of, namespace_of
from microloop.adapters._langchain.runs import hear, session_of
from microloop.adapters._langchain.spending import charge_once

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from langchain_core.messages import ToolMessage
    from langchain_core.tools import BaseTool
    from langgraph.prebuilt.tool_node import AsyncToolCallWrapper, ToolCallRequest, ToolCallWrapper
    from langgraph.types import Command

    from microloop.adapters._gate.calls import Call
    from microloop.guardrail import Guardrail
    from microloop.session import Session
    from microloop.verdict import Verdict


def guarded_tool_node(
    guard: Guardrail,
    tools: Sequence[BaseTool | Callable[..., Any]],
    *,
    on_halt: OnHalt = "end",
    on_verdict: Callable[[Verdict], None] | None = None,
    messages_key: str = "messages",
    **options: Any,
) -> ToolNode:
    """A `ToolNode` whose tools are guarded, in `invoke` and `ainvoke`. `options` are those of `ToolNode`."""
    gate = gate_of(guard, "ToolNode", on_halt, on_verdict)
    node = ToolNode(
        tools,
        messages_key=messages_key,
        wrap_tool_call=_wrapper(gate, messages_key),
        awrap_tool_call=_async_wrapper(gate, messages_key),
        **options,
    )
    for tool in node.tools_by_name.values():
        gate.declare(tool.name, tool)
    return node


def tool_call_wrapper(
    guard: Guardrail,
    *,
    on_halt: OnHalt = "end",
    on_verdict: Callable[[Verdict], None] | None = None,
    messages_key: str = "messages",
) -> ToolCallWrapper:
    """For `ToolNode(tools, wrap_tool_call=…)`."""
    return _wrapper(gate_of(guard, "ToolNode", on_halt, on_verdict), messages_key)


def async_tool_call_wrapper(
    guard: Guardrail,
    *,
    on_halt: OnHalt = "end",
    on_verdict: Callable[[Verdict], None] | None = None,
    messages_key: str = "messages",
) -> AsyncToolCallWrapper:
    """For `ToolNode(tools, awrap_tool_call=…)`."""
    return _async_wrapper(gate_of(guard, "ToolNode", on_halt, on_verdict), messages_key)


def gate_of(
    guard: Guardrail, hook: str, on_halt: OnHalt, on_verdict: Callable[[Verdict], None] | None
) -> LangChainGate:
    """A gate in a hook that has no other way to end a run."""
    check_choice(on_halt)
    return LangChainGate(guard, hook, end=raise_now if on_halt == "raise" else end_after_step, on_verdict=on_verdict)


def current_session(guard: Guardrail, namespace: str | None, messages: Sequence[Any]) -> Session:
    """The session of the graph that is running, which is told of a new user turn."""
    session = session_of(guard, namespace, messages)
    run = ambient.current_run()
    hear(session, messages, run and run.marker)
    return session


def _wrapper(gate: LangChainGate, key: str) -> ToolCallWrapper:
    def wrap_tool_call(
        request: ToolCallRequest, execute: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        call = request.tool_call
        with within(getattr(request.runtime, "config", None)):
            answer: ToolMessage | Command[Any] = gate.run(
                call["name"], call["id"], lambda: _call(gate, request, key), lambda: execute(request)
            )
        return answer

    return wrap_tool_call


def _async_wrapper(gate: LangChainGate, key: str) -> AsyncToolCallWrapper:
    async def awrap_tool_call(
        request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        call = request.tool_call
        with within(getattr(request.runtime, "config", None)):
            answer: ToolMessage | Command[Any] = await gate.arun(
                call["name"], call["id"], lambda: _call(gate, request, key), lambda: execute(request)
            )
        return answer

    return awrap_tool_call


def _call(gate: LangChainGate, request: ToolCallRequest, key: str) -> Call:
    messages = messages_of(request.state, key)
    session = current_session(gate.guard, namespace_of(request), messages)
    asked = asking_message(messages, request.tool_call["id"])
    if asked is not None:
        charge_once(session, *asked)
    return call_of(request, session, key)

"""A guarded copy of a LangChain tool, for tools that are called outside of an agent, or by one without a hook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from langchain_core.runnables.config import set_config_context

from microloop.adapters._gate.calls import Call, Entry
from microloop.adapters._gate.halting import OnHalt, check_choice
from microloop.adapters._gate.inner import InnerGate
from microloop.adapters._langchain.context import within
from microloop.adapters._langchain.gate import LangChainGate
from microloop.adapters._langchain.halting import end_after_step, raise_now
from microloop.errors import BlockedCall
from microloop.verdict import Action

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool

    from microloop.guardrail import Guardrail
    from microloop.session import Session


def wrap_tool(guard: Guardrail, tool: BaseTool, *, on_halt: OnHalt = "end") -> BaseTool:
    """A copy of the tool that asks the guard before it runs. The tool itself stays as it is.

    The copy is of a subclass of the tool's own class and keeps all of it: schema, response format, error handling,
    injected arguments, sync and async. A refused call gives the feedback in the form in which the tool answers.
    """
    check_choice(on_halt)
    if getattr(getattr(tool, "microloop_gate", None), "guard", None) is guard:
        return tool
    gate = _ToolGate(guard, "wrap", end=raise_now if on_halt == "raise" else end_after_step)
    gate.declare(tool.name, tool)
    copy: BaseTool = tool.model_copy()
    # pydantic's own `__setattr__` takes this for a field.
    object.__setattr__(copy, "__class__", _guarded_class(type(tool), gate))
    return copy


class _ToolGate(InnerGate, LangChainGate):
    """Answers in the form that the tool's caller expects."""

    def answer(self, entry: Entry, text: str) -> Any:
        if self.guard.on_block == "raise" and entry.verdict.action is not Action.HALT:
            raise BlockedCall(entry.verdict)
        # Without a call id nobody asked for a message: the caller gets what it would get from the tool, content.
        return text if entry.call_id is None else super().answer(entry, text)


def _guarded_class(kind: type[BaseTool], gate: _ToolGate) -> type[BaseTool]:
    """A subclass that asks before `run` and `arun`; `invoke`, `ainvoke`, `batch` and the rest go through them."""

    class Guarded(kind):  # type: ignore[valid-type, misc]  # the base is known when the tool is
        microloop_gate: ClassVar[_ToolGate] = gate

        def run(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **kwargs: Any) -> Any:
            inner = super().run
            return gate.run(
                self.name,
                tool_call_id,
                lambda: _call(gate.guard, self, tool_input, tool_call_id, kwargs.get("config")),
                lambda: inner(tool_input, *args, tool_call_id=tool_call_id, **kwargs),
            )

        async def arun(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **kwargs: Any) -> Any:
            inner, config = super().arun, kwargs.get("config")
            with within(config):
                return await gate.arun(
                    self.name,
                    tool_call_id,
                    lambda: _call(gate.guard, self, tool_input, tool_call_id, config),
                    lambda: inner(tool_input, *args, tool_call_id=tool_call_id, **kwargs),
                )

    Guarded.__name__, Guarded.__qualname__, Guarded.__module__ = kind.__name__, kind.__qualname__, kind.__module__
    return Guarded


def _call(
    guard: Guardrail, tool: BaseTool, tool_input: Any, call_id: str | None, config: RunnableConfig | None
) -> Call:
    return Call(
        _session(guard, config), tool.name, _arguments(tool, tool_input), call_id, _key(config, call_id), tool=tool
    )


def _session(guard: Guardrail, config: RunnableConfig | None) -> Session:
    current = guard.current.get()
    if current is not None or config is None:
        return current or guard.here()
    with set_config_context(config) as context:
        return context.run(guard.here)


def _arguments(tool: BaseTool, tool_input: Any) -> dict[str, Any]:
    """What the model wrote. A text is the value of the only argument."""
    if isinstance(tool_input, dict):
        return tool._filter_injected_args(tool_input)  # noqa: SLF001 - LangChain's own list of what it injects
    return {next(iter(tool.args), "input"): tool_input}


def _key(config: RunnableConfig | None, call_id: str | None) -> str | None:
    """What tells a retry or a resume from a new call: LangGraph's task and the call's id.

    The id alone does not: small models number their calls anew in each turn.
    """
    task = ((config or {}).get("metadata") or {}).get("langgraph_checkpoint_ns")
    return f"{task}/{call_id}" if task and call_id else None

"""A guarded copy of a CrewAI tool, for tools that are called outside of the hooks, and for models that call by text."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any, ClassVar

from crewai.execution import get_execution_uuid
from crewai.tools import BaseTool
from crewai.tools.tool_failure import ToolFailure, failure_from_exception
from crewai.utilities.string_utils import sanitize_tool_name

from microloop.adapters._crewai.refusals import failure, schema_of
from microloop.adapters._gate.calls import Call, Entry
from microloop.adapters._gate.inner import InnerGate
from microloop.adapters._gate.sessions import session_of
from microloop.adapters._gate.versions import require_hooks
from microloop.errors import BlockedCall, run_halted
from microloop.verdict import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crewai.tools.structured_tool import CrewStructuredTool

    from microloop.guardrail import Guardrail


require_hooks(BaseTool, "run", "arun", "to_structured_tool")


def wrap_tool(guard: Guardrail, tool: BaseTool) -> BaseTool:
    """A copy of the tool that asks the guard before it runs. The tool itself stays as it is.

    A refused call gives a `ToolFailure`. Where a model calls by text, an exception becomes one too: CrewAI runs a tool
    that raises there up to six times for one call of the model.
    """
    if getattr(getattr(tool, "microloop_gate", None), "guard", None) is guard:
        return tool
    gate = _ToolGate(guard, "wrap")
    gate.declare(sanitize_tool_name(tool.name), tool)
    copy: BaseTool = tool.model_copy()
    # pydantic's own `__setattr__` takes this for a field.
    object.__setattr__(copy, "__class__", _guarded_class(type(tool), gate))
    return copy


class _ToolGate(InnerGate):
    """Answers as the tool itself reports a failure."""

    def answer(self, entry: Entry, text: str) -> ToolFailure:
        if self.guard.on_block == "raise":
            raise run_halted(entry.verdict) if entry.verdict.action is Action.HALT else BlockedCall(entry.verdict)
        return failure(entry, text)

    def schema_of(self, tool: Any) -> Mapping[str, Any] | None:
        return schema_of(tool)

    def outcome_of(self, entry: Entry, result: Any) -> tuple[Any, BaseException | str | None]:
        del entry
        return (None, result.message) if isinstance(result, ToolFailure) else (result, None)


def _guarded_class(kind: type[BaseTool], gate: _ToolGate) -> type[BaseTool]:
    """A subclass that asks in all the ways in which CrewAI runs a tool."""

    class Guarded(kind):
        microloop_gate: ClassVar[_ToolGate] = gate

        def run(self, *args: Any, **kwargs: Any) -> Any:
            return _run(gate, self, args, kwargs, super().run)

        async def arun(self, *args: Any, **kwargs: Any) -> Any:
            call = functools.partial(_call, gate.guard, self, args, kwargs)
            return await gate.arun(_name(self), None, call, functools.partial(super().arun, *args, **kwargs))

        def to_structured_tool(self) -> CrewStructuredTool:
            """The tool for models that call by text. It goes straight to the tool's body."""
            structured: CrewStructuredTool = super().to_structured_tool()
            structured.func = _without_exceptions(gate, self, structured.func)
            return structured

    Guarded.__name__, Guarded.__qualname__, Guarded.__module__ = kind.__name__, kind.__qualname__, kind.__module__
    return Guarded


def _without_exceptions(gate: _ToolGate, tool: BaseTool, body: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(body)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return _run(gate, tool, args, kwargs, lambda *a, **k: _awaited(body(*a, **k)))
        except Exception as error:  # noqa: BLE001 - what CrewAI makes of an exception itself, after it has tried again
            return failure_from_exception(error)

    return run


def _run(
    gate: _ToolGate, tool: BaseTool, args: tuple[Any, ...], kwargs: dict[str, Any], execute: Callable[..., Any]
) -> Any:
    call = functools.partial(_call, gate.guard, tool, args, kwargs)
    return gate.run(_name(tool), None, call, functools.partial(execute, *args, **kwargs))


def _awaited(result: Any) -> Any:
    return asyncio.run(result) if asyncio.iscoroutine(result) else result


def _call(guard: Guardrail, tool: BaseTool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    session = session_of(guard, get_execution_uuid())
    positional = dict(zip(tool.args_schema.model_fields, args, strict=False))
    return Call(session, _name(tool), {**positional, **kwargs}, tool=tool)


def _name(tool: BaseTool) -> str:
    """The name that CrewAI shows the model."""
    name: str = sanitize_tool_name(tool.name)
    return name

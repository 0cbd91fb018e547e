"""Guarded copies of tools."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar

from llama_index.core.tools import AsyncBaseTool, BaseTool

from microloop.adapters._gate.calls import Call
from microloop.adapters._gate.notes import notes_of
from microloop.adapters._gate.versions import require_hooks
from microloop.adapters._llama_index.gate import ToolGate
from microloop.adapters._llama_index.runs import call_here, session_here

if TYPE_CHECKING:
    from microloop.guardrail import Guardrail


require_hooks(AsyncBaseTool, "call", "acall")


def wrap_tool(guard: Guardrail, tool: BaseTool) -> BaseTool:
    """A copy of the tool that asks the guard before it runs. The tool itself stays as it is.

    The copy is of a subclass of the tool's own class: an agent still gives it a `Context`. A refused call gives a
    `ToolOutput` that is marked as an error, and so does a halt: only a guarded agent can end its run.
    """
    return guarded(ToolGate(guard, "wrap"), tool)


def guarded(gate: ToolGate, tool: Any) -> Any:
    """A copy of the tool behind this gate."""
    if getattr(getattr(tool, "microloop_gate", None), "guard", None) is gate.guard:
        return tool
    gate.declare(tool.metadata.get_name(), tool)
    wrapped = copy.copy(tool)
    wrapped.__class__ = _guarded_class(type(tool), gate)
    return wrapped


def _guarded_class(kind: type[Any], gate: ToolGate) -> type[Any]:
    """Agents ask for their tools in every turn, and some of them are made anew each time; their class is not."""
    if kind not in gate.classes:
        gate.classes[kind] = _new_class(kind, gate)
    return gate.classes[kind]


def _new_class(kind: type[Any], gate: ToolGate) -> type[Any]:
    return _async_class(kind, gate) if issubclass(kind, AsyncBaseTool) else _sync_class(kind, gate)


def _sync_class(kind: type[Any], gate: ToolGate) -> type[Any]:
    class Guarded(kind):
        microloop_gate: ClassVar[ToolGate] = gate

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            inner = super().__call__
            return _checked(gate, self, args, kwargs, lambda: inner(*args, **kwargs))

    return _named_as(kind, Guarded)


def _async_class(kind: type[Any], gate: ToolGate) -> type[Any]:
    class Guarded(kind):
        microloop_gate: ClassVar[ToolGate] = gate

        def call(self, *args: Any, **kwargs: Any) -> Any:
            inner = super().call
            return _checked(gate, self, args, kwargs, lambda: inner(*args, **kwargs))

        async def acall(self, *args: Any, **kwargs: Any) -> Any:
            inner, name, given = super().acall, self.metadata.get_name(), _arguments(self, args, kwargs)
            call_id, key = call_here(name, given)
            return await gate.arun(
                name, call_id, lambda: _call(gate, self, given, call_id, key), lambda: inner(*args, **kwargs)
            )

    return _named_as(kind, Guarded)


def _named_as(kind: type[Any], made: type[Any]) -> type[Any]:
    made.__name__, made.__qualname__, made.__module__ = kind.__name__, kind.__qualname__, kind.__module__
    return made


def _checked(gate: ToolGate, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any], execute: Any) -> Any:
    given = _arguments(tool, args, kwargs)
    return gate.run(tool.metadata.get_name(), None, lambda: _call(gate, tool, given, None, None), execute)


def _call(gate: ToolGate, tool: Any, arguments: dict[str, Any], call_id: str | None, key: str | None) -> Call:
    session = session_here(gate.guard)
    batch = notes_of(session).batch if call_id else None
    return Call(session, tool.metadata.get_name(), arguments, call_id, key, batch, tool)


def _arguments(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """What the model wrote: by name, and without what LlamaIndex has put in."""
    injected = {getattr(tool, "ctx_param_name", None), *getattr(tool, "partial_params", ())}
    names = tool.metadata.get_parameters_dict().get("properties", ()) if args else ()
    given = dict(zip(names, args, strict=False))
    return {**given, **{name: value for name, value in kwargs.items() if name not in injected}}

"""A guarded copy of a smolagents tool, for tools that code calls: a model's, in a `CodeAgent`, or your own."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar

from microloop.adapters._gate.calls import Call, Entry
from microloop.adapters._gate.inner import InnerGate
from microloop.adapters._smolagents.schemas import schema_of
from microloop.errors import BlockedCall, run_halted
from microloop.verdict import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smolagents import Tool

    from microloop.guardrail import Guardrail
    from microloop.session import Session
    from microloop.verdict import Verdict


def wrap_tool(guard: Guardrail, tool: Tool) -> Tool:
    """A copy of the tool that asks the guard before it runs. The tool itself stays as it is.

    A refused call gives the feedback, or raises it for a guard with `on_block="raise"`.
    """
    if getattr(getattr(tool, "microloop_gate", None), "guard", None) is guard:
        return tool
    return guarded_copy(tool, ToolGate(guard, "wrap", guard.here, raises=guard.on_block == "raise"))


def guarded_copy(tool: Tool, gate: ToolGate) -> Tool:
    """A copy of the tool behind a gate."""
    gate.declare(tool.name, tool)
    guarded = copy.copy(tool)
    guarded.__class__ = _guarded_class(type(tool), gate)
    return guarded


class ToolGate(InnerGate):
    """Answers with text where the model reads the answer, and with an exception where code does."""

    def __init__(
        self,
        guard: Guardrail,
        hook: str,
        session: Callable[[], Session],
        *,
        raises: bool,
        on_verdict: Callable[[Verdict], None] | None = None,
    ) -> None:
        super().__init__(guard, hook, on_verdict=on_verdict)
        self.session = session
        self._raises = raises

    def answer(self, entry: Entry, text: str) -> str:
        """The feedback."""
        if self._raises:
            raise run_halted(entry.verdict) if entry.verdict.action is Action.HALT else BlockedCall(entry.verdict)
        return text

    def schema_of(self, tool: Any) -> Mapping[str, Any] | None:
        """See `schemas.schema_of`."""
        return schema_of(tool)


def _guarded_class(kind: type[Tool], gate: ToolGate) -> type[Tool]:
    class Guarded(kind):
        microloop_gate: ClassVar[ToolGate] = gate

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            inner = super().__call__
            return gate.run(
                self.name,
                None,
                lambda: Call(gate.session(), self.name, _arguments(self, args, kwargs), tool=self),
                lambda: inner(*args, **kwargs),
            )

    Guarded.__name__, Guarded.__qualname__, Guarded.__module__ = kind.__name__, kind.__qualname__, kind.__module__
    return Guarded


def _arguments(tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """What was passed, by name. smolagents takes a single dictionary for all of the arguments."""
    named = {name: value for name, value in kwargs.items() if name != "sanitize_inputs_outputs"}
    if len(args) == 1 and not named and isinstance(args[0], dict) and set(args[0]) <= set(tool.inputs):
        return dict(args[0])
    return {**dict(zip(tool.inputs, args, strict=False)), **named}

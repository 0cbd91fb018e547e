"""A decorator for nodes that run tool calls themselves."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, TypeVar

from microloop.adapters._langchain import approval
from microloop.adapters._langchain.tool_node import gate_of
from microloop.adapters._langchain.turn import Turn
from microloop.errors import AdapterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from microloop.adapters._langchain.gate import Gate
    from microloop.adapters._langchain.halting import OnHalt
    from microloop.guardrail import Guardrail
    from microloop.verdict import Verdict

Node = TypeVar("Node", bound="Callable[..., Any]")


def guard_node(
    guard: Guardrail,
    *,
    on_halt: OnHalt = "end",
    on_verdict: Callable[[Verdict], None] | None = None,
    messages_key: str = "messages",
) -> Callable[[Node], Node]:
    """Guards a node function that runs the pending tool calls of the last model message.

    The node is given a state in which the model has asked only for calls that may run; the others are answered beside
    its own answers. Where nothing may run, the node is not called. What the node needs besides the state (`config`,
    `runtime`, `store`, …) is injected as ever.

    >>> @guard_node(guard)                                       # doctest: +SKIP
    ... def tools(state: MessagesState) -> dict[str, Any]: ...
    """
    gate = gate_of(guard, "guard_node", on_halt, on_verdict)

    def decorate(node: Node) -> Node:
        if not (inspect.isfunction(node) or inspect.ismethod(node)):
            raise AdapterError(
                f"guard_node is for functions, and this is a {type(node).__name__}; "
                "for a ToolNode there is guarded_tool_node(guard, tools)"
            )
        wrap = _async if inspect.iscoroutinefunction(node) else _sync
        return wrap(gate, node, messages_key)  # type: ignore[return-value]  # of the same kind, with the same signature

    return decorate


def _sync(gate: Gate, node: Callable[..., Any], key: str) -> Callable[..., Any]:
    place = _place_of_state(node)

    @functools.wraps(node)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        turn = Turn(gate, args[place], key)
        if not turn:
            return node(*args, **kwargs)
        result = None
        try:
            for entry in list(turn.open):
                turn.settle(entry, approval.decide(gate.guard, entry.verdict, entry.call and entry.call.arguments))
            if turn.open:
                with turn.running() as state:
                    result = node(*args[:place], state, *args[place + 1 :], **kwargs)
        except BaseException as error:
            turn.failed(error)
            raise
        return turn.answered(result)

    return guarded


def _async(gate: Gate, node: Callable[..., Any], key: str) -> Callable[..., Any]:
    place = _place_of_state(node)

    @functools.wraps(node)
    async def guarded(*args: Any, **kwargs: Any) -> Any:
        turn = Turn(gate, args[place], key)
        if not turn:
            return await node(*args, **kwargs)
        result = None
        try:
            for entry in list(turn.open):
                turn.settle(
                    entry, await approval.adecide(gate.guard, entry.verdict, entry.call and entry.call.arguments)
                )
            if turn.open:
                with turn.running() as state:
                    result = await node(*args[:place], state, *args[place + 1 :], **kwargs)
        except BaseException as error:
            turn.failed(error)
            raise
        return turn.answered(result)

    return guarded


def _place_of_state(node: Callable[..., Any]) -> int:
    """The state is the first argument; a function in a class body has `self` before it."""
    first = next(iter(inspect.signature(node).parameters), "")
    return 1 if first in ("self", "cls") and not inspect.ismethod(node) else 0

"""A decorator for nodes that run tool calls themselves."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import TYPE_CHECKING, Any, TypeVar, cast

from microloop.adapters._langchain.context import within
from microloop.adapters._langchain.tool_node import gate_of
from microloop.adapters._langchain.turn import Turn
from microloop.errors import AdapterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from microloop.adapters._gate.halting import OnHalt
    from microloop.adapters._langchain.gate import LangChainGate
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
        # What it runs is known only when the model asks for it, so it stands for every tool.
        guard.covers("*", "guard_node", f"{node.__module__}.{node.__qualname__}")
        if not inspect.iscoroutinefunction(node):
            return cast("Node", _sync(gate, node, messages_key))
        _must_know_its_run(node)
        return cast("Node", _async(gate, node, messages_key))

    return decorate


def _sync(gate: LangChainGate, node: Callable[..., Any], key: str) -> Callable[..., Any]:
    place = _place_of_state(node)

    @functools.wraps(node)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        turn = Turn(gate, args[place], key)
        if not turn:
            return node(*args, **kwargs)
        with gate.deciding(*turn.open):
            for entry in list(turn.open):
                turn.settle(entry, gate.decide(entry))
        result = None
        if turn.open:
            with turn.running() as state:
                result = node(*args[:place], state, *args[place + 1 :], **kwargs)
        return turn.answered(result)

    return guarded


def _async(gate: LangChainGate, node: Callable[..., Any], key: str) -> Callable[..., Any]:
    place = _place_of_state(node)

    async def guarded(*args: Any, **kwargs: Any) -> Any:
        turn = Turn(gate, args[place], key)
        if not turn:
            return await node(*args, **kwargs)
        with gate.deciding(*turn.open):
            for entry in list(turn.open):
                turn.settle(entry, await gate.adecide(entry))
        result = None
        if turn.open:
            with turn.running() as state:
                result = await node(*args[:place], state, *args[place + 1 :], **kwargs)
        return turn.answered(result)

    @functools.wraps(node)
    async def guarded_within(*args: Any, **kwargs: Any) -> Any:
        with within(kwargs.get("config")):
            return await guarded(*args, **kwargs)

    return guarded_within


def _place_of_state(node: Callable[..., Any]) -> int:
    """The state is the first argument; a function in a class body has `self` before it."""
    first = next(iter(inspect.signature(node).parameters), "")
    return 1 if first in ("self", "cls") and not inspect.ismethod(node) else 0


def _must_know_its_run(node: Callable[..., Any]) -> None:
    if sys.version_info < (3, 11) and "config" not in inspect.signature(node).parameters:
        raise AdapterError(
            f"{node.__name__} is async, and before Python 3.11 LangGraph tells an async node about its run only by a "
            "parameter `config: RunnableConfig`; add one, so that two runs do not share a session"
        )

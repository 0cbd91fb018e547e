"""A `ToolCallRequest` of LangGraph as a call of the guard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from microloop.adapters._gate.calls import Call
from microloop.adapters._langchain.messages import asking_message, messages_of, turn_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import ToolCall
    from langgraph.prebuilt.tool_node import ToolCallRequest

    from microloop.session import Session


def call_of(request: ToolCallRequest, session: Session, key: str = "messages") -> Call:
    """The call, with the model turn that it was made in."""
    return call_in(messages_of(request.state, key), request.tool_call, session, tool=request.tool)


def call_in(messages: Sequence[Any], call: ToolCall, session: Session, tool: Any = None) -> Call:
    """A call that stands in one of these messages. Its id counts only together with that message's."""
    asked = asking_message(messages, call["id"])
    batch = None if asked is None else turn_id(*asked)
    return Call(session, call["name"], call["args"], call["id"], call["id"] if batch else None, batch, tool)


def namespace_of(request: ToolCallRequest) -> str | None:
    """LangGraph's path of the node that makes the call."""
    info = getattr(request.runtime, "execution_info", None)
    return None if info is None else info.checkpoint_ns

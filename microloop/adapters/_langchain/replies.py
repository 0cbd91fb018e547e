"""What a model's reply tells the guard besides its tool calls: arguments that are no JSON, and turns without a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents.middleware.types import ExtendedModelResponse, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, InvalidToolCall, ToolMessage
from langgraph.types import Command

from microloop.adapters._gate.calls import Call
from microloop.adapters._langchain.gate import LangChainGate
from microloop.adapters._langchain.messages import turn_id
from microloop.adapters._langchain.spending import charge

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ModelCallResult, ResponseT

    from microloop.session import Session


def heard(gate: LangChainGate, session: Session, response: ModelResponse[ResponseT]) -> ModelCallResult[ResponseT]:
    """The reply, with an answer to each call whose arguments are no JSON.

    LangChain keeps such calls apart and runs none of them. If there is no other call it would take the reply for the
    agent's last word; it goes back to the model instead.
    """
    reply = next((message for message in response.result if isinstance(message, AIMessage)), None)
    if reply is None:
        return response
    charge(session, reply)
    refusals = [_refuse(gate, session, reply, call) for call in reply.invalid_tool_calls if call["id"]]
    if not refusals:
        if not reply.tool_calls:
            verdict = session.assistant_turn(reply.text)
            if verdict.reason != "none":
                gate.tell(verdict)
        return response
    messages: list[BaseMessage] = [*response.result, *refusals]
    answered = ModelResponse(result=messages, structured_response=response.structured_response)
    if reply.tool_calls:
        return answered
    return ExtendedModelResponse(answered, Command(update={"jump_to": "model"}))


def _refuse(gate: LangChainGate, session: Session, reply: AIMessage, call: InvalidToolCall) -> ToolMessage:
    name, call_id = call["name"] or "unknown", call["id"]
    batch = turn_id(0, reply)
    answer: ToolMessage = gate.run(
        name,
        call_id,
        lambda: Call(session, name, call["args"] or "", call_id, call_id, batch),
        lambda: _unparsed(call),
    )
    return answer


def _unparsed(call: Any) -> ToolMessage:
    """The answer where the guard has no objection: they are JSON after all, but LangChain did not read them."""
    return ToolMessage(
        f"The arguments could not be read: {call['error'] or 'they are malformed'}.",
        tool_call_id=call["id"],
        name=call["name"] or "unknown",
        status="error",
    )

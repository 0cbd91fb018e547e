"""Pydantic AI: an agent with the guard as a capability. MODEL=openai:gpt-5-mini runs it with a real model."""

from __future__ import annotations

import os

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from microloop import Guardrail
from microloop.adapters.pydantic_ai import GuardrailCapability

SHELF = {"cheese": "Brie, third shelf", "bread": "Rye, first shelf"}


def look_up(word: str) -> str:
    """Find where a product stands, by a word of the catalogue."""
    return SHELF.get(word, "nothing found")


def stubborn(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Asks for the same word until it is told not to."""
    told = str(getattr(messages[-1].parts[-1], "content", ""))
    if "shelf" in told:
        return ModelResponse(parts=[TextPart(f"Here it is: {told}")])
    word = "cheese" if "refused" in told else "fromage"
    return ModelResponse(parts=[ToolCallPart("look_up", {"word": word})])


if __name__ == "__main__":
    model = os.environ.get("MODEL") or FunctionModel(stubborn)
    guard = Guardrail(policy="strict_loop_detection")
    agent = Agent(model, tools=[look_up], capabilities=[GuardrailCapability(guard)])
    result = agent.run_sync("Where is the fromage?")
    for message in result.all_messages():
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                print(part.content)
    print(result.output)

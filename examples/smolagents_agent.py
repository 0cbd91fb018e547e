"""smolagents: a guarded agent. MODEL=gpt-5-mini runs it with a real model."""

from __future__ import annotations

import os
from typing import Any

from smolagents import ChatMessage, LogLevel, Model, OpenAIModel, ToolCallingAgent, tool
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole

from microloop import Guardrail
from microloop.adapters.smolagents import guard_agent

SHELF = {"cheese": "Brie, third shelf", "bread": "Rye, first shelf"}


@tool  # type: ignore[untyped-decorator]  # where the types are checked, smolagents need not be installed
def look_up(word: str) -> str:
    """Find where a product stands.

    Args:
        word: A word of the catalogue.
    """
    return SHELF.get(word, "nothing found")


class Stubborn(Model):  # type: ignore[misc]  # as above
    """Asks for the same word until it is told not to."""

    def generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatMessage:
        """What the model does, by the last thing that it was told."""
        told = str(messages[-1].content)
        if "shelf" in told:
            return _call("final_answer", {"answer": f"Here it is: {SHELF['cheese']}"})
        return _call("look_up", {"word": "cheese" if "refused" in told else "fromage"})


def _call(name: str, arguments: dict[str, str]) -> ChatMessage:
    function = ChatMessageToolCallFunction(name=name, arguments=arguments)
    calls = [ChatMessageToolCall(id=name, type="function", function=function)]
    return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=calls)


if __name__ == "__main__":
    name = os.environ.get("MODEL")
    model = OpenAIModel(model_id=name) if name else Stubborn()
    guard = Guardrail(policy="strict_loop_detection")
    agent = guard_agent(guard, ToolCallingAgent([look_up], model, verbosity_level=LogLevel.OFF))
    agent.run("Where is the fromage?")
    for step in agent.memory.steps[1:]:
        print(step.observations)

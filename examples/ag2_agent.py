"""AG2: an agent with the guard as middleware. MODEL=gpt-5-mini runs it with a model of OpenAI."""

from __future__ import annotations

import asyncio
import json
import os

from ag2 import Agent, MemoryStream
from ag2.config import ModelConfig
from ag2.events import ToolCallEvent, ToolResultEvent
from ag2.testing import TestConfig

from microloop import Guardrail
from microloop.adapters.ag2 import GuardrailMiddleware

SHELF = {"cheese": "Brie, third shelf", "bread": "Rye, first shelf"}
# Asks for the same word until it is told not to.
WORDS = ["fromage", "fromage", "fromage", "cheese"]


def look_up(word: str) -> str:
    """Find where a product stands, by a word of the catalogue."""
    return SHELF.get(word, "nothing found")


def choose_model() -> ModelConfig:
    """A model that needs no key, unless MODEL names one of OpenAI."""
    name = os.environ.get("MODEL")
    if name:
        from ag2.config import OpenAIConfig  # noqa: PLC0415 - only needed on this path

        return OpenAIConfig(name)
    calls = [ToolCallEvent("look_up", arguments=json.dumps({"word": word})) for word in WORDS]
    return TestConfig(*calls, "Here it is: Brie, third shelf", raise_tool_errors=False)


async def main() -> None:
    """Ask one question."""
    guard = Guardrail(policy="strict_loop_detection")
    agent = Agent("clerk", config=choose_model(), tools=[look_up], middleware=[GuardrailMiddleware(guard)])
    stream = MemoryStream()
    reply = await agent.ask("Where is the fromage?", stream=stream)
    for event in await stream.history.get_events():
        if isinstance(event, ToolResultEvent):
            print(event.result.parts[0].content)
    print(reply.body)


if __name__ == "__main__":
    asyncio.run(main())

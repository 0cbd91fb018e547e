"""Microsoft Agent Framework: an agent with the guard as middleware. MODEL=gpt-5-mini runs it with a model of OpenAI."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
)

from microloop import Guardrail
from microloop.adapters.agent_framework import guardrail_middleware

SHELF = {"cheese": "Brie, third shelf", "bread": "Rye, first shelf"}


def look_up(word: str) -> str:
    """Find where a product stands, by a word of the catalogue."""
    return SHELF.get(word, "nothing found")


class Stubborn(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Asks for the same word until it is told not to."""

    async def _inner_get_response(self, *, messages: Any, **_: Any) -> ChatResponse:
        told = str(messages[-1].contents[-1].result)
        if "shelf" in told:
            return ChatResponse(messages=Message("assistant", [f"Here it is: {told}"]))
        word = "cheese" if "refused" in told else "fromage"
        call = Content.from_function_call(f"call_{len(messages)}", "look_up", arguments=json.dumps({"word": word}))
        return ChatResponse(messages=Message("assistant", [call]))


def choose_model() -> Any:
    """A model that needs no key, unless MODEL names one of OpenAI."""
    name = os.environ.get("MODEL")
    if name:
        from agent_framework.openai import OpenAIChatClient  # noqa: PLC0415 - only needed on this path

        return OpenAIChatClient(model=name)
    return Stubborn()


async def main() -> None:
    """Ask one question."""
    guard = Guardrail(policy="strict_loop_detection")
    agent = Agent(choose_model(), tools=[look_up], middleware=guardrail_middleware(guard))
    response = await agent.run("Where is the fromage?")
    for message in response.messages:
        for content in message.contents:
            if content.type == "function_result":
                print(content.result)
    print(response.text)


if __name__ == "__main__":
    asyncio.run(main())

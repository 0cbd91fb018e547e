"""AutoGen: a guarded `AssistantAgent`. MODEL=gpt-5-mini runs it with a model of OpenAI."""

from __future__ import annotations

import asyncio
import json
import os

from autogen_agentchat.messages import ToolCallExecutionEvent
from autogen_core import FunctionCall
from autogen_core.models import ChatCompletionClient, CreateResult, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient

from microloop import Guardrail
from microloop.adapters.autogen import guarded_assistant

SHELF = {"cheese": "Brie, third shelf", "bread": "Rye, first shelf"}
# Asks for the same word until it is told not to.
WORDS = ["fromage", "fromage", "fromage", "cheese"]


def look_up(word: str) -> str:
    """Find where a product stands, by a word of the catalogue."""
    return SHELF.get(word, "nothing found")


def asking(number: int, word: str) -> CreateResult:
    """A turn of the scripted model."""
    call = FunctionCall(id=f"call_{number}", name="look_up", arguments=json.dumps({"word": word}))
    usage = RequestUsage(prompt_tokens=0, completion_tokens=0)
    return CreateResult(finish_reason="function_calls", content=[call], usage=usage, cached=False)


def choose_model() -> ChatCompletionClient:
    """A model that needs no key, unless MODEL names one of OpenAI."""
    name = os.environ.get("MODEL")
    if name:
        from autogen_ext.models.openai import OpenAIChatCompletionClient  # noqa: PLC0415 - only needed on this path

        return OpenAIChatCompletionClient(model=name)
    turns = [*(asking(number, word) for number, word in enumerate(WORDS)), "Here it is: Brie, third shelf"]
    info = {"function_calling": True, "json_output": False, "vision": False, "structured_output": False}
    return ReplayChatCompletionClient(turns, model_info={**info, "family": "unknown"})


async def main() -> None:
    """Ask one question."""
    guard = Guardrail(policy="strict_loop_detection")
    agent = guarded_assistant(guard, "clerk", choose_model(), tools=[look_up], max_tool_iterations=20)
    result = await agent.run(task="Where is the fromage?")
    for message in result.messages:
        if isinstance(message, ToolCallExecutionEvent):
            print(message.content[0].content)
    print(result.messages[-1].to_text())


if __name__ == "__main__":
    asyncio.run(main())

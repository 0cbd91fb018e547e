"""LlamaIndex: a guarded agent. MODEL=gpt-5-mini runs it with a real model; it needs llama-index-llms-openai."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from llama_index.core.agent.workflow import ReActAgent, ToolCallResult
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata

from microloop import Guardrail
from microloop.adapters.llama_index import guarded_agent

SHELF = {"cheese": "Brie, third shelf", "bread": "Rye, first shelf"}


def look_up(word: str) -> str:
    """Find where a product stands, by a word of the catalogue."""
    return SHELF.get(word, "nothing found")


class Stubborn(CustomLLM):  # type: ignore[misc]  # where the types are checked, LlamaIndex need not be installed
    """Asks for the same word until it is told not to."""

    @property
    def metadata(self) -> LLMMetadata:
        """It has no name and no native tool calls."""
        return LLMMetadata()

    def complete(self, prompt: str, *_: Any, **__: Any) -> CompletionResponse:
        """What the model does, by the last thing that it was told."""
        told = prompt.rpartition("Observation: ")[2].partition("\n")[0]
        if "shelf" in told:
            return CompletionResponse(text=f"Thought: I know.\nAnswer: Here it is: {told}")
        word = "cheese" if "refused" in told else "fromage"
        return CompletionResponse(text=f'Thought: I look.\nAction: look_up\nAction Input: {{"word": "{word}"}}')

    def stream_complete(self, prompt: str, *_: Any, **__: Any) -> Any:
        """All at once."""
        yield self.complete(prompt)


def choose_model() -> Any:
    """MODEL=… takes a real model from OpenAI."""
    name = os.environ.get("MODEL")
    if not name:
        return Stubborn()
    from llama_index.llms.openai import OpenAI  # noqa: PLC0415  only needed on this path

    return OpenAI(model=name)


async def main() -> None:
    """One question, and what the agent's tool was asked."""
    guard = Guardrail(policy="strict_loop_detection")
    agent = guarded_agent(guard, ReActAgent(tools=[look_up], llm=choose_model()))
    handler = agent.run("Where is the fromage?")
    async for event in handler.stream_events():
        if isinstance(event, ToolCallResult):
            print(event.tool_output.content)
    print(await handler)


if __name__ == "__main__":
    asyncio.run(main())

"""Google ADK: an app with the guard as a plugin. MODEL=gemini-2.5-flash runs it with a real model."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from microloop import Guardrail
from microloop.adapters.google_adk import GuardrailPlugin

SHELF = {"cheese": "Brie, third shelf", "bread": "Rye, first shelf"}


def look_up(word: str) -> str:
    """Find where a product stands, by a word of the catalogue."""
    return SHELF.get(word, "nothing found")


class Stubborn(BaseLlm):  # type: ignore[misc]  # where the types are checked, ADK need not be installed
    """Asks for the same word until it is told not to."""

    async def generate_content_async(self, llm_request: LlmRequest, *_: Any, **__: Any) -> AsyncGenerator[Any, None]:
        """What the model does, by the last thing that it was told."""
        answer = llm_request.contents[-1].parts[-1].function_response
        told = str(answer.response.get("result", answer.response)) if answer else ""
        call = types.FunctionCall(name="look_up", args={"word": "cheese" if "refused" in told else "fromage"})
        part = types.Part(text=f"Here it is: {told}") if "shelf" in told else types.Part(function_call=call)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def main() -> None:
    """One question, and every event that it leads to."""
    agent = LlmAgent(name="clerk", model=os.environ.get("MODEL") or Stubborn(model="scripted"), tools=[look_up])
    guard = Guardrail(policy="strict_loop_detection")
    app = App(name="shop", root_agent=agent, plugins=[GuardrailPlugin(guard)])
    await InMemoryRunner(app=app).run_debug("Where is the fromage?", verbose=True)


if __name__ == "__main__":
    asyncio.run(main())

"""CrewAI: a guarded crew. MODEL=gpt-5-mini runs it with a real model."""

from __future__ import annotations

import json
import os
from typing import Any

os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
os.environ.setdefault("CREWAI_TRACING_ENABLED", "false")

from crewai import LLM, Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.tools import tool

from microloop import Guardrail
from microloop.adapters.crewai import GuardrailHooks

SHELF = {"cheese": "Brie, third shelf", "bread": "Rye, first shelf"}


@tool  # type: ignore[untyped-decorator]  # where the types are checked, CrewAI need not be installed
def look_up(word: str) -> str:
    """Find where a product stands, by a word of the catalogue."""
    return SHELF.get(word, "nothing found")


class Stubborn(BaseLLM):  # type: ignore[misc]  # as above
    """Asks for the same word until it is told not to."""

    def supports_function_calling(self) -> bool:
        """It writes native tool calls."""
        return True

    def call(self, messages: Any, *_: Any, **__: Any) -> Any:
        """What the model does, by the last thing that it was told."""
        told = str(messages[-1]["content"])
        if "shelf" in told:
            return f"Here it is: {told}"
        arguments = json.dumps({"word": "cheese" if "refused" in told else "fromage"})
        call = {"id": f"call_{len(messages)}", "type": "function"}
        return [{**call, "function": {"name": "look_up", "arguments": arguments}}]


if __name__ == "__main__":
    model = os.environ.get("MODEL")
    clerk = Agent(
        role="Clerk",
        goal="Help customers.",
        backstory="You know the catalogue.",
        llm=LLM(model=model) if model else Stubborn(model="scripted"),
        tools=[look_up],
    )
    task = Task(description="Where is the fromage?", expected_output="Where it stands.", agent=clerk)
    guard = Guardrail(policy="strict_loop_detection")
    with GuardrailHooks(guard, on_verdict=lambda verdict: print(verdict.action, verdict.feedback)).scope():
        result = Crew(agents=[clerk], tasks=[task]).kickoff()
    print(result.raw)
    for refused in result.tasks_output[0].tool_failures:
        print(f"refused: {refused.tool_name} ({refused.failure.code})")

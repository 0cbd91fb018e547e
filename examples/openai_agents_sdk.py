"""The OpenAI Agents SDK: a guarded agent. MODEL=gpt-5-mini runs it with a real model."""

from __future__ import annotations

import os
from typing import Any

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from microloop import Guardrail
from microloop.adapters.openai_agents import guarded_agent

SHELF = {"cheese": "Brie, third shelf", "bread": "Rye, first shelf"}


@function_tool  # type: ignore[untyped-decorator]  # where the types are checked, the SDK need not be installed
def look_up(word: str) -> str:
    """Find where a product stands, by a word of the catalogue."""
    return SHELF.get(word, "nothing found")


def stubborn() -> ScriptedModel:
    """Asks for the same word until it is told not to."""
    return ScriptedModel([ModelStep.respond(next_turn) for _ in range(9)])


def next_turn(call: Any) -> list[Any]:
    """What the model does, by the last thing that it was told."""
    told = str(call.input[-1].get("output", ""))
    if "shelf" in told:
        return [assistant_message(f"Here it is: {told}")]
    word = "cheese" if "refused" in told else "fromage"
    return [function_call("look_up", {"word": word}, call_id=f"call_{len(call.input)}")]


if __name__ == "__main__":
    model = os.environ.get("MODEL")
    set_tracing_disabled(model is None)
    agent = Agent(name="Clerk", instructions="You help customers.", model=model or stubborn(), tools=[look_up])
    guard = Guardrail(policy="strict_loop_detection")
    result = Runner.run_sync(guarded_agent(guard, agent), "Where is the fromage?")
    for item in result.new_items:
        if item.type == "tool_call_output_item":
            print(item.output)
    print(result.final_output)

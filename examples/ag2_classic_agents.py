"""AG2 before 1.0: two agents in a chat, both guarded. MODEL=gpt-5-mini runs it with a model of OpenAI."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any

warnings.simplefilter("ignore")  # AG2 announces its own future at import

from autogen import ConversableAgent, register_function  # noqa: E402 - after the filter of its warnings

from microloop import Guardrail  # noqa: E402
from microloop.adapters.ag2_classic import guard_agents  # noqa: E402

SHELF = {"cheese": "Brie, third shelf", "bread": "Rye, first shelf"}
# Asks for the same word until it is told not to.
WORDS = ["fromage", "fromage", "fromage", "cheese"]


def look_up(word: str) -> str:
    """Find where a product stands, by a word of the catalogue."""
    return SHELF.get(word, "nothing found")


def clerk() -> ConversableAgent:
    """The agent that has the model: one that needs no key, unless MODEL names one of OpenAI."""
    name = os.environ.get("MODEL")
    if name:
        return ConversableAgent("clerk", llm_config={"model": name}, human_input_mode="NEVER")
    config = {"model": "scripted", "model_client_cls": "Scripted", "api_key": "none"}
    agent = ConversableAgent("clerk", llm_config=config, human_input_mode="NEVER")
    turns = iter([*map(_asking, range(len(WORDS)), WORDS), "Here it is: Brie, third shelf"])
    agent.register_reply([ConversableAgent, None], lambda *_, **__: (True, next(turns)), position=0)
    return agent


def _asking(number: int, word: str) -> dict[str, Any]:
    function = {"name": "look_up", "arguments": json.dumps({"word": word})}
    return {"content": "", "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}]}


if __name__ == "__main__":
    guard = Guardrail(policy="strict_loop_detection")
    assistant = clerk()
    shop = ConversableAgent(
        "shop",
        llm_config=False,
        human_input_mode="NEVER",
        is_termination_msg=lambda message: "shelf" in str(message["content"]) and "tool_responses" not in message,
    )
    register_function(look_up, caller=assistant, executor=shop, description="Finds where a product stands.")
    guard_agents(guard, assistant, shop)
    chat = shop.initiate_chat(assistant, message="Where is the fromage?", silent=True)
    for message in chat.chat_history:
        if message["content"]:
            print(message["content"])

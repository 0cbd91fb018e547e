"""`make demo`: an agent gets stuck, is advised, is refused, changes course, and finishes.

python examples/demo.py                                    # scripted model, no key, no network
MODEL=gpt-5-mini OPENAI_API_KEY=… python examples/demo.py  # a real model
MODEL=qwen3 OPENAI_BASE_URL=http://localhost:11434/v1 python examples/demo.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain.agents import create_agent
from langchain_core.messages import AIMessage

import demo_recorded
import demo_timeline as timeline
from demo_model import choose_model
from demo_shop import QUESTION, Shop
from microloop import Guardrail
from microloop.adapters.langchain import GuardrailMiddleware

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

SYSTEM = (
    "You answer questions about a shop from its SQLite database. orders(id, customer, placed 'YYYY-MM-DD', cents), "
    "customers(id, name, country). Finish with one sentence that contains the number."
)


def ask(guard: Guardrail, shop: Shop, model: BaseChatModel) -> str:
    """One question, one agent run, its timeline on the way. Returns the agent's answer."""
    agent = create_agent(
        model,
        tools=[shop.tool()],
        system_prompt=SYSTEM,
        middleware=[GuardrailMiddleware(guard, on_verdict=timeline.call)],
    )
    answer = ""
    for update in agent.stream({"messages": [("user", QUESTION)]}, stream_mode="updates"):
        for message in (update.get("model") or {}).get("messages", []):
            if isinstance(message, AIMessage):
                answer = message.text
                timeline.remark(f"model: {answer}")
    return answer


def main() -> None:
    """The live run, then the recorded one."""
    guard = Guardrail(policy="balanced")
    with Shop() as shop:
        timeline.title(f"1. A live run: {QUESTION}")
        timeline.header()
        answer = ask(guard, shop, choose_model())
        truth = f"{shop.revenue('NO', 2024):.2f}"
        found = truth in answer.replace(",", "")
        print(f"\nThe books say {truth} euros: the answer is {'right' if found else 'not right'}.")
    timeline.title("2. A recorded run of a real agent, checked by the same guard (examples/data)")
    demo_recorded.report(guard)


if __name__ == "__main__":
    main()

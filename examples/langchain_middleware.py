"""A LangChain agent with the guard as middleware: every tool of the agent is checked, none is changed."""

from __future__ import annotations

from langchain.agents import create_agent

from demo_model import choose_model
from demo_shop import QUESTION, Shop
from microloop import Guardrail
from microloop.adapters.langchain import GuardrailMiddleware

if __name__ == "__main__":
    guard = Guardrail(policy="balanced")
    with Shop() as shop:
        agent = create_agent(choose_model(), tools=[shop.tool()], middleware=[GuardrailMiddleware(guard)])
        state = agent.invoke({"messages": [("user", QUESTION)]})
    for message in state["messages"]:
        message.pretty_print()
    print("\nguarded:", guard.coverage())

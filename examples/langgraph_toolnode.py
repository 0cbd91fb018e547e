"""A graph of your own: the guard wraps the calls of its `ToolNode`."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition

from demo_model import choose_model
from demo_shop import QUESTION, Shop
from microloop import Guardrail
from microloop.adapters.langgraph import guarded_tool_node

if __name__ == "__main__":
    guard = Guardrail(policy="balanced")
    with Shop() as shop:
        tools = [shop.tool()]
        model = choose_model().bind_tools(tools)

        def call_model(state: MessagesState) -> dict[str, Any]:
            """Ask the model what to do next."""
            return {"messages": [model.invoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("model", call_model)
        graph.add_node("tools", guarded_tool_node(guard, tools))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        state = graph.compile().invoke(MessagesState(messages=[HumanMessage(QUESTION)]))
    for message in state["messages"]:
        message.pretty_print()

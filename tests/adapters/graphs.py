"""The usual graph of a model and its tools, made by hand."""

from __future__ import annotations

from typing import Any

from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition

from microloop.adapters.langgraph import guarded_tool_node


def react(model: Any, tools: list[Any], guard: Any, checkpointer: Any = None, **options: Any) -> Any:
    """With a guarded tool node."""
    return loop(model, guarded_tool_node(guard, tools, **options), checkpointer)


def loop(model: Any, tool_node: Any, checkpointer: Any = None, **of_node: Any) -> Any:
    """With a tool node of one's own."""
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", tool_node, **of_node)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(checkpointer=checkpointer)

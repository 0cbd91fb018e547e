"""LangGraph: a graph of a model and a guarded `ToolNode`, made by hand."""

from __future__ import annotations

import uuid
from typing import Any

from graphs import loop
from harness_langchain import run
from langchain_chat import Chat, finished, tools_of
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphDrained
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, RetryPolicy
from scene import Finished, Harness, Scene

from microloop.adapters.langgraph import guarded_tool_node


class LangGraph(Harness):
    name = "LangGraph"
    modes = ("sync", "async", "stream")
    pauses = repeats = True

    def play(self, scene: Scene, mode: str) -> Finished:
        model = Chat(scene=scene)
        retry = RetryPolicy(initial_interval=0.001, jitter=False) if scene.retries else None
        # Where a run can be paused the person is asked by that, and not the guard's own `ask`.
        saver = InMemorySaver() if scene.guard.ask is None else None
        graph = loop(model, node_of(scene, mode), saver, retry_policy=retry)
        config: Any = {"recursion_limit": 100, "configurable": {"thread_id": scene.run_id or uuid.uuid4().hex}}
        try:
            state = run(graph, mode, config)
            if scene.consent is not None:
                state = run(graph, mode, config, Command(resume=scene.consent))
        except GraphDrained as drained:
            return finished(graph.get_state(config).values["messages"], model, halted=True, error=drained)
        return finished(state["messages"], model, halted=False)


def node_of(scene: Scene, mode: str) -> ToolNode:
    """The node of the tools, which tells the model of errors unless the graph is to try again."""
    tools, softly = tools_of(scene, mode), not scene.retries
    if scene.attached:
        return guarded_tool_node(scene.guard, tools, handle_tool_errors=softly)
    return ToolNode(tools, handle_tool_errors=softly)


HARNESSES = [LangGraph()]

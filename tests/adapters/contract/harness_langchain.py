"""LangChain: `create_agent` with `GuardrailMiddleware`."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import ToolErrorMiddleware, ToolRetryMiddleware
from langchain_chat import Chat, finished, tools_of
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from scene import Finished, Harness, Scene

from microloop.adapters.langchain import GuardrailMiddleware


class LangChain(Harness):
    name = "LangChain"
    modes = ("sync", "async", "stream")
    pauses = repeats = True

    def play(self, scene: Scene, mode: str) -> Finished:
        model = Chat(scene=scene)
        middleware: list[Any] = [ToolErrorMiddleware(lambda error, _: str(error))]
        if scene.retries:
            middleware = [ToolRetryMiddleware(initial_delay=0)]
        if scene.attached:
            middleware.append(GuardrailMiddleware(scene.guard))
        saver = None if scene.consent is None else InMemorySaver()
        agent = create_agent(model, tools_of(scene, mode), middleware=middleware, checkpointer=saver)
        config: dict[str, Any] = {"recursion_limit": 100}
        if scene.run_id or saver:
            config["configurable"] = {"thread_id": scene.run_id or uuid.uuid4().hex}
        state = run(agent, mode, config)
        if scene.consent is not None:
            state = run(agent, mode, config, Command(resume=scene.consent))
        return finished(state["messages"], model, halted=bool(state.get("microloop_halted")))


def run(graph: Any, mode: str, config: Any, given: Any = None) -> Any:
    """The last state of a graph, in each way in which a graph is run."""
    given = given or {"messages": [("user", "find something about cats")]}
    if mode == "sync":
        return graph.invoke(given, config)
    if mode == "async":
        return asyncio.run(graph.ainvoke(given, config))
    return list(graph.stream(given, config, stream_mode="values"))[-1]


HARNESSES = [LangChain()]

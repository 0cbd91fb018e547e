"""A scripted model for agents of the OpenAI Agents SDK, and what came of a run."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable
from typing import Any

from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

ids = itertools.count()  # the SDK takes a call with an id that it has seen for the same call


def calls(times: int, tool: str = "search", arguments: Any = None) -> list[Any]:
    arguments = {"query": "cats"} if arguments is None else arguments
    return [[function_call(tool, arguments, call_id=f"c{next(ids)}")] for _ in range(times)]


def scripted(turns: Iterable[Any]) -> ScriptedModel:
    return ScriptedModel([*turns, [assistant_message("done")]])


@function_tool
def search(query: str) -> str:
    """Search."""
    return f"nothing about {query}"


def agent_of(turns: Iterable[Any], *tools: Any, **options: Any) -> Agent[Any]:
    return Agent(name="researcher", model=scripted(turns), tools=list(tools) or [search], **options)


def run(agent: Agent[Any], given: Any = "find cats", **options: Any) -> Any:
    config = RunConfig(tracing_disabled=True)
    return asyncio.run(Runner.run(agent, given, run_config=config, max_turns=60, **options))


def outputs(result: Any) -> list[Any]:
    items = result.new_items if hasattr(result, "new_items") else result.run_data.new_items
    return [item.raw_item["output"] for item in items if item.type == "tool_call_output_item"]

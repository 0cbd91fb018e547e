"""Agents of the OpenAI Agents SDK with others beside them: sub-agents, handoffs, hooks, MCP servers."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from agents import Agent, AgentHooks, WebSearchTool, function_tool, handoff
from agents.mcp import MCPServer
from agents.testing import assistant_message
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as MCPTool
from openai_agents_model import agent_of, calls, outputs, run, scripted, search

from microloop import AdapterError, Guardrail
from microloop.adapters.openai_agents import guarded_agent

pytestmark = pytest.mark.adapter
BLOCKED = "microloop"
STRICT = "strict_loop_detection"  # it refuses the third identical call


def test_the_agent_itself_stays_as_it_is() -> None:
    plain = agent_of(calls(6))
    guarded_agent(Guardrail(STRICT), plain)
    assert outputs(run(plain)) == ["nothing about cats"] * 6


def test_an_agent_that_is_a_tool_has_counters_of_its_own() -> None:
    guard = Guardrail(STRICT)
    inner = guarded_agent(guard, agent_of([*calls(2), [assistant_message("none")]] * 2))
    ask = inner.as_tool("ask", "Ask the researcher.")
    turns = [turn for text in ("cats", "dogs") for turn in calls(1, "ask", {"input": text})]
    result = run(guarded_agent(guard, agent_of([*turns, *calls(2)], ask, search)))
    assert outputs(result) == ["none", "none", "nothing about cats", "nothing about cats"]


def test_a_halted_sub_agent_does_not_end_the_run_above_it() -> None:
    guard = Guardrail()
    ask = guarded_agent(guard, agent_of(calls(20))).as_tool("ask", "Ask the researcher.")
    result = run(guarded_agent(guard, agent_of(calls(1, "ask", {"input": "cats"}), ask)))
    assert result.final_output == "done"
    assert BLOCKED in outputs(result)[0]


def test_agents_that_hand_over_to_one_another_share_a_session() -> None:
    writer = agent_of([*calls(1), *calls(1, "transfer_to_editor", {})])
    editor = agent_of([*calls(2), *calls(1, "transfer_to_writer", {}), *calls(1)])
    writer.name, editor.name = "writer", "editor"
    writer.handoffs, editor.handoffs = [editor], [handoff(writer)]
    told = [each for each in outputs(run(guarded_agent(Guardrail(STRICT), editor))) if "assistant" not in each]
    assert ["nothing about" in each for each in told] == [True, True, False, False]


def test_hooks_of_the_agent_are_called_as_before() -> None:
    heard: list[str] = []

    class Listening(AgentHooks[Any]):
        async def on_start(self, *_: Any) -> None:
            heard.append("start")

        async def on_llm_start(self, *_: Any) -> None:
            heard.append("llm start")

        async def on_llm_end(self, *_: Any) -> None:
            heard.append("llm end")

        async def on_tool_end(self, *arguments: Any) -> None:
            heard.append(f"tool: {arguments[-1]}")

        async def on_end(self, *_: Any) -> None:
            heard.append("end")

    run(guarded_agent(Guardrail(), agent_of(calls(1), hooks=Listening())))
    turn = ["llm start", "llm end"]
    assert heard == ["start", *turn, "tool: nothing about cats", *turn, "end"]


def test_tools_that_are_added_later_are_guarded_too() -> None:
    agent = guarded_agent(Guardrail(STRICT), agent_of(calls(3, "look"), search))

    @function_tool
    def look(query: str) -> str:
        """Look."""
        return "nothing"

    agent.tools.append(look)
    assert BLOCKED in outputs(run(agent))[2]
    assert BLOCKED in outputs(run(agent.clone(model=scripted(calls(3, "look")))))[2]


class Shelf(MCPServer):
    """An MCP server in this process."""

    name = "shelf"

    async def list_tools(self, *_: Any) -> list[MCPTool]:
        return [MCPTool(name="search", description="Search.", inputSchema={"type": "object"})]

    async def call_tool(self, tool_name: str, arguments: Any, *_: Any, **__: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=f"{tool_name}: nothing")])

    async def connect(self) -> None: ...
    async def cleanup(self) -> None: ...
    async def list_prompts(self) -> Any: ...
    async def get_prompt(self, *_: Any) -> Any: ...


def test_the_tools_of_an_mcp_server_are_guarded_too() -> None:
    agent = Agent(name="reader", model=scripted(calls(3)), mcp_servers=[Shelf()])
    told = [str(each) for each in outputs(run(guarded_agent(Guardrail(STRICT), agent)))]
    assert ["search: nothing" in each for each in told] == [True, True, False]


def test_what_no_hook_reaches_is_said(caplog: pytest.LogCaptureFixture) -> None:
    inner = agent_of([]).as_tool("ask", "Ask.")
    with caplog.at_level(logging.WARNING, logger="microloop"):
        guarded_agent(Guardrail(), agent_of([], WebSearchTool(), inner))
    assert "web_search" in caplog.text
    assert "the tools of agent researcher are not guarded" in caplog.text


def test_what_is_no_agent_is_refused() -> None:
    with pytest.raises(AdapterError, match="guarded_agent takes an Agent of the Agents SDK; str is not one"):
        guarded_agent(Guardrail(), "agent")

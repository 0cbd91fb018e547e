"""The frameworks are extras: where one is missing, its tests are left out, and the report says so."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from installed import installed

_NEEDS = {
    "test_ag2.py": "ag2",
    "test_ag2_classic*": "autogen",
    "test_agent_framework*": "agent_framework",
    "test_autogen*": "autogen_ext",
    "test_claude_agent_sdk*": "claude_agent_sdk",
    "test_crewai*": "crewai",
    "test_fastmcp*": "fastmcp",
    "test_google_adk*": "google.adk",
    "test_langchain*": "langchain",
    "test_langgraph*": "langgraph",
    "test_litellm*": "fastapi_sso",
    "test_llama_index*": "llama_index.core",
    "test_mcp*": "mcp.server.mcpserver",
    "test_openai_agents*": "agents",
    "test_pydantic_ai*": "pydantic_ai",
    "test_smolagents*": "smolagents",
    "test_verify_langchain*": "langchain",
}
_LEFT_OUT = {tests: package for tests, package in _NEEDS.items() if not installed(package)}
collect_ignore_glob = list(_LEFT_OUT)


def pytest_report_header() -> list[str]:
    return [f"left out: adapters/{tests}, {package} is not installed" for tests, package in _LEFT_OUT.items()]


@pytest.fixture(params=["invoke", "ainvoke"])
def run(request: pytest.FixtureRequest) -> Any:
    """`run(graph, "hello")` in both ways in which a graph is run."""

    def runner(graph: Any, said: Any = "hello", config: Any = None) -> Any:
        given = {"messages": [("user", said)]} if isinstance(said, str) else said
        if request.param == "invoke":
            return graph.invoke(given, config)
        return asyncio.run(graph.ainvoke(given, config))

    return runner

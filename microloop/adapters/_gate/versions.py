"""Whether the installed packages have the hooks that the adapters stand on."""

from __future__ import annotations

import re
from importlib import metadata
from typing import Any

from microloop.errors import AdapterError

# The oldest that the tests pass with. LangGraph 1.2 can end a run between two steps; its prebuilt part lets a halt pass
# through `ToolNode`'s error handling since 1.1.1; LangChain 1.4 can send a reply back to the model.
FLOORS = {
    "ag2": "1.0.3",
    "agent-framework-core": "1.20.0",
    "autogen-agentchat": "0.6.4",
    "claude-agent-sdk": "0.2.177",
    "crewai": "1.15.19",
    "fastmcp": "4.0.0",
    "google-adk": "2.0.0",
    "langchain": "1.4.0",
    "langchain-core": "1.6.0",
    "langgraph": "1.2.11",
    "langgraph-prebuilt": "1.1.1",
    "litellm": "1.100.0",
    "llama-index-core": "0.14.18",
    "mcp": "2.0.0",
    "openai-agents": "0.21.0",
    "pydantic-ai-slim": "2.16.0",
    "smolagents": "1.23.0",
}


def require(*packages: str) -> None:
    """Raise AdapterError for the first package that is missing or too old."""
    for package in packages:
        needed, found = FLOORS[package], _installed(package)
        if found is None:
            raise AdapterError(f"{package} is not installed; {needed} or newer is needed: {_command(package)}")
        if _numbers(found) < _numbers(needed):
            raise AdapterError(f"{package} is {found}; {needed} or newer is needed: {_command(package)}")


def require_hooks(kind: type[Any], *names: str) -> None:
    """Raise AdapterError where a framework's class has lost a method that is overridden: nothing would call ours."""
    for name in names:
        if not hasattr(kind, name):
            package = kind.__module__.partition(".")[0]
            raise AdapterError(
                f"{kind.__qualname__} of {package} has no {name}, where the guard hooks in: its tools would run "
                f"unguarded; use an older {package} or a newer microloop"
            )


def _command(package: str) -> str:
    return f"pip install --upgrade '{package}>={FLOORS[package]}'"


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])

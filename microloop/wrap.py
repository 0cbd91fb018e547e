"""Finds the adapter for a tool that exists already."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from microloop.guardrail import Guardrail

# By the module and name of a base class, so that no framework is imported to look for it.
_ADAPTERS = {
    ("agents.tool", "FunctionTool"): "microloop.adapters.openai_agents",
    ("crewai.tools.base_tool", "BaseTool"): "microloop.adapters.crewai",
    ("langchain_core.tools.base", "BaseTool"): "microloop.adapters.langchain",
    ("llama_index.core.tools.types", "BaseTool"): "microloop.adapters.llama_index",
    ("smolagents.tools", "Tool"): "microloop.adapters.smolagents",
}
# Packages whose names nobody else uses, and what guards their tools where it is not `wrap`.
_FRAMEWORKS = {
    "ag2": "AG2",
    "agent_framework": "Agent Framework",
    "autogen_core": "AutoGen",
    "crewai": "CrewAI",
    "fastmcp": "FastMCP",
    "google.adk": "Google ADK",
    "langchain_core": "LangChain",
    "llama_index": "LlamaIndex",
    "pydantic_ai": "Pydantic AI",
    "smolagents": "smolagents",
}
_INSTEAD = {
    "AG2": "microloop.adapters.ag2.GuardrailMiddleware guards its agents",
    "Agent Framework": "microloop.adapters.agent_framework.guardrail_middleware guards its agents",
    "AutoGen": "microloop.adapters.autogen.guarded_assistant guards its agents",
    "FastMCP": "microloop.adapters.fastmcp.GuardrailMiddleware guards its servers",
    "Google ADK": "microloop.adapters.google_adk.GuardrailPlugin guards its apps",
    "Pydantic AI": "microloop.adapters.pydantic_ai.GuardrailCapability guards its agents",
}


def adapter_of(tool: object) -> str | None:
    """The module that guards tools of this type."""
    keys = ((base.__module__, base.__name__) for base in type(tool).__mro__)
    return next((_ADAPTERS[key] for key in keys if key in _ADAPTERS), None)


def framework_of(tool: object) -> str | None:
    """The framework whose tool this is."""
    modules = [f"{base.__module__}." for base in type(tool).__mro__]
    return next(
        (name for package, name in _FRAMEWORKS.items() if any(each.startswith(f"{package}.") for each in modules)), None
    )


def wrapped(guard: Guardrail, tool: Any) -> Any:
    """A guarded tool. TypeError for what no adapter knows: it would run unguarded."""
    adapter = adapter_of(tool)
    if adapter is not None:
        return importlib.import_module(adapter).wrap_tool(guard, tool)
    framework = framework_of(tool)
    if framework is None and callable(tool):
        return guard.verify(tool)
    raise TypeError(f"{type(tool).__module__}.{type(tool).__qualname__} cannot be wrapped: {_why(framework)}")


def _why(framework: str | None) -> str:
    if framework is None:
        return "it is neither a tool of a framework with an adapter nor callable"
    return _INSTEAD.get(framework, f"it is no tool of {framework}; put @guard.verify below the decorator of the tool")

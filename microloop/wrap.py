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
# Packages whose names nobody else uses; the tools of the others cannot be called, which is said of them instead.
_FRAMEWORKS = {
    "autogen_core": "AutoGen",
    "crewai": "CrewAI",
    "fastmcp": "FastMCP",
    "langchain_core": "LangChain",
    "llama_index": "LlamaIndex",
    "pydantic_ai": "pydantic-ai",
    "smolagents": "smolagents",
}


def adapter_of(tool: object) -> str | None:
    """The module that guards tools of this type."""
    keys = ((base.__module__, base.__name__) for base in type(tool).__mro__)
    return next((_ADAPTERS[key] for key in keys if key in _ADAPTERS), None)


def framework_of(tool: object) -> str | None:
    """The framework whose tool this is."""
    packages = (base.__module__.partition(".")[0] for base in type(tool).__mro__)
    return next((_FRAMEWORKS[package] for package in packages if package in _FRAMEWORKS), None)


def wrapped(guard: Guardrail, tool: Any) -> Any:
    """A guarded tool. TypeError for what no adapter knows: it would run unguarded."""
    adapter = adapter_of(tool)
    if adapter is not None:
        return importlib.import_module(adapter).wrap_tool(guard, tool)
    framework = framework_of(tool)
    if framework is None and callable(tool):
        return guard.verify(tool)
    raise TypeError(
        f"{type(tool).__module__}.{type(tool).__qualname__} cannot be wrapped"
        + (
            f": there is no adapter for tools of {framework}; put @guard.verify below its decorator"
            if framework
            else ": it is neither a tool of a framework with an adapter nor callable"
        )
    )

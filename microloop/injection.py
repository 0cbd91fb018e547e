"""Parameters that a framework fills in, and not the model: state, stores, runtimes, call ids.

They are recognised by the name of their type, so that no framework is imported, and they are no part of a call.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from microloop.annotations import parts

_FRAMEWORKS = frozenset(
    {
        "ag2",
        "agent_framework",
        "agents",
        "autogen",
        "autogen_core",
        "crewai",
        "fastmcp",
        "google",
        "langchain",
        "langchain_core",
        "langgraph",
        "llama_index",
        "mcp",
        "pydantic_ai",
        "smolagents",
        "workflows",
    }
)
_TYPES = frozenset(
    {
        "AsyncCallbackManagerForToolRun",
        "BaseCallbackManager",
        "BaseStore",
        "CallbackManagerForToolRun",
        "CancellationToken",
        "Context",
        "FunctionInvocationContext",
        "InjectedState",
        "InjectedStore",
        "InjectedToolArg",
        "InjectedToolCallId",
        "RunContext",
        "RunContextWrapper",
        "RunnableConfig",
        "Runtime",
        "ToolContext",
        "ToolRuntime",
    }
)
# Too common to be taken for a framework's without its module.
_AMBIGUOUS = frozenset({"Context", "Runtime"})
_BY_NAME = frozenset({"callbacks", "run_manager"})


def is_injected(parameter: inspect.Parameter) -> bool:
    """Whether a framework fills the parameter in.

    >>> def tool(query: str, config: "RunnableConfig"): ...
    >>> [name for name, each in inspect.signature(tool).parameters.items() if is_injected(each)]
    ['config']
    """
    annotation = parameter.annotation
    if parameter.name in _BY_NAME and annotation is inspect.Parameter.empty:
        return True
    if isinstance(annotation, str):
        return _named_in(annotation)
    return any(_is_framework_type(each) for each in parts(annotation))


def _named_in(annotation: str) -> bool:
    """An annotation that could not be resolved: its words are all there is."""
    return not _TYPES.difference(_AMBIGUOUS).isdisjoint(re.findall(r"\w+", annotation))


def _is_framework_type(part: Any) -> bool:
    kind = part if isinstance(part, type) else type(part)
    return any(
        base.__name__ in _TYPES and base.__module__.partition(".")[0] in _FRAMEWORKS for base in kind.__mro__
    ) or _is_named_alias(part)


def _is_named_alias(part: Any) -> bool:
    name = getattr(part, "__forward_arg__", None)
    return isinstance(name, str) and _named_in(name)

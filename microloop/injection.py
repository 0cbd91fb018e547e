"""Parameters that a framework fills in, and not the model: state, stores, runtimes, call ids.

They are recognised by the name of their type, so that no framework is imported, and they are no part of a call.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from microloop.annotations import parts

_INJECTED = {
    "ag2": {"Context"},
    "agent_framework": {"FunctionInvocationContext"},
    "agents": {"RunContextWrapper", "ToolContext"},
    "autogen_core": {"CancellationToken"},
    "fastmcp": {"Context"},
    "google": {"ToolContext"},
    "langchain": {"ToolRuntime"},
    "langchain_core": {
        "AsyncCallbackManagerForToolRun",
        "BaseCallbackManager",
        "BaseStore",
        "CallbackManagerForToolRun",
        "InjectedToolArg",
        "InjectedToolCallId",
        "RunnableConfig",
    },
    "langgraph": {"BaseStore", "InjectedState", "InjectedStore", "Runtime", "ToolRuntime"},
    "llama_index": {"Context"},
    "mcp": {"Context"},
    "pydantic_ai": {"RunContext"},
    "workflows": {"Context"},
}
# Names that are a framework's whatever the module, for annotations that cannot be resolved.
_UNMISTAKABLE = set().union(*_INJECTED.values()) - {"BaseStore", "Context", "Runtime"}
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
    return not _UNMISTAKABLE.isdisjoint(re.findall(r"\w+", annotation))


def _is_framework_type(part: Any) -> bool:
    kind = part if isinstance(part, type) else type(part)
    return _is_unresolved(part) or any(
        base.__name__ in _INJECTED.get(base.__module__.partition(".")[0], ()) for base in kind.__mro__
    )


def _is_unresolved(part: Any) -> bool:
    name = getattr(part, "__forward_arg__", None)
    return isinstance(name, str) and _named_in(name)

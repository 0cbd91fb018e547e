"""What LangChain and LangGraph say about where a call is made. Neither is imported: whoever runs in them has them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any, NamedTuple

_CONFIG = "langchain_core.runnables.config"
_TOOLS = "langchain_core.tools."
_TOOLS_BASE = "langchain_core.tools.base"
# Farther than any decorator or partial reaches.
_FAR = 64


class Run(NamedTuple):
    """A run of a graph: what to call its session, and an object that is the same throughout the run."""

    id: str
    marker: object


def current_run() -> Run | None:
    """The LangGraph or LangChain run that the caller is in, as far as it has an identity."""
    module = sys.modules.get(_CONFIG)
    variable = getattr(module, "var_child_runnable_config", None)
    config = None if variable is None else variable.get()
    return None if config is None else _run_of(config)


def _run_of(config: Mapping[str, Any]) -> Run | None:
    settings = config.get("configurable") or {}
    runtime = settings.get("__pregel_runtime")
    # One object for each invocation of a graph, whether or not the caller gave it ids.
    marker = getattr(runtime, "control", None)
    thread = settings.get("thread_id")
    if thread is not None:
        return Run(str(thread), marker)
    run_id = settings.get("run_id") or getattr(getattr(runtime, "execution_info", None), "run_id", None)
    if run_id is not None:
        return Run(str(run_id), marker)
    return None if marker is None else Run(f"run-{id(marker):x}", marker)


def tool_around(function: object, frame: FrameType | None) -> Any | None:
    """The LangChain tool that is running `function` as its own body, seen from the frame of its wrapper.

    A helper that the body calls is not meant: its caller is code that expects a value, and not the model.
    """
    if _TOOLS_BASE not in sys.modules:
        return None
    for each in _outwards(frame):
        # A coroutine of a tool's own class runs in a task of its own, with nobody above it to be seen.
        if each is frame or each.f_globals.get("__name__", "").startswith(_TOOLS):
            tool = each.f_locals.get("self")
            if _is_tool(tool) and any(body is function for body in bodies(tool)):
                return tool
            if each is not frame:
                return None
    return None


def _is_tool(candidate: object) -> bool:
    return any(base.__name__ == "BaseTool" and base.__module__.startswith(_TOOLS) for base in type(candidate).__mro__)


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    for _ in range(_FAR):
        if frame is None:
            return
        yield frame
        frame = frame.f_back


def bodies(tool: object) -> Iterator[object]:
    """The functions of a tool, and what they wrap."""
    for name in ("func", "coroutine", "_run", "_arun"):
        body: object = getattr(tool, name, None)
        for _ in range(_FAR):
            if body is None:
                break
            yield body
            body = getattr(body, "__wrapped__", None) or getattr(body, "__func__", None) or getattr(body, "func", None)


def is_control_flow(error: BaseException) -> bool:
    """Whether an exception steers the program and says nothing about the call: an interrupt, an exit."""
    if not isinstance(error, Exception):
        return True
    bubble = getattr(sys.modules.get("langgraph.errors"), "GraphBubbleUp", None)
    return bubble is not None and isinstance(error, bubble)

"""LangGraph: a guarded `ToolNode`, wrappers for one that you make yourself, and a decorator for custom tool nodes.

A halt lets the step finish with every call answered, and then ends the run: LangGraph raises `GraphDrained` with the
feedback, and the conversation in the checkpointer is whole (`on_halt="end"`). With `on_halt="raise"` the run ends at
once with `RunHalted`, which passes through `ToolNode`'s error handling; the calls of that step stay unanswered.
"""

from __future__ import annotations

from microloop.adapters._gate.versions import require

require("langgraph", "langgraph-prebuilt", "langchain-core")

# The check comes first: its message helps more than that of a failing import.
from microloop.adapters._langchain.node import guard_node  # noqa: E402
from microloop.adapters._langchain.tool_node import (  # noqa: E402
    async_tool_call_wrapper,
    guarded_tool_node,
    tool_call_wrapper,
)

__all__ = ["async_tool_call_wrapper", "guard_node", "guarded_tool_node", "tool_call_wrapper"]

"""LlamaIndex: guarded agents and workflows, and guarded copies of tools.

agent = guarded_agent(guard, FunctionAgent(tools=tools, llm=llm))
tools = guard.wrap(tools)
"""

from __future__ import annotations

from microloop.adapters._gate.versions import require

require("llama-index-core")

# The check comes first: its message helps more than that of a failing import.
from microloop.adapters._llama_index.agents import guarded_agent  # noqa: E402
from microloop.adapters._llama_index.asking import ask_in_stream  # noqa: E402
from microloop.adapters._llama_index.tools import wrap_tool  # noqa: E402

__all__ = ["guarded_agent", "wrap_tool", "ask_in_stream"]

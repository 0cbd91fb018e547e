"""smolagents: guarded agents, and guarded copies of tools.

agent = guard_agent(guard, ToolCallingAgent(tools, model))
tools = guard.wrap(tools)
"""

from __future__ import annotations

from microloop.adapters._gate.versions import require

require("smolagents")

from microloop.adapters._smolagents.agents import (  # noqa: E402 - the check comes first, its message helps more
    guard_agent,
    unguard_agent,
)
from microloop.adapters._smolagents.tool import wrap_tool  # noqa: E402

__all__ = ["guard_agent", "unguard_agent", "wrap_tool"]

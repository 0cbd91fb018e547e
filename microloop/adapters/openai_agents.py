"""OpenAI Agents SDK: guarded agents, and guarded copies of function tools.

agent = guarded_agent(guard, agent)
result = await Runner.run(agent, "…")
"""

from __future__ import annotations

from microloop.adapters._gate.versions import require

require("openai-agents")

# The check comes first: its message helps more than that of a failing import.
from microloop.adapters._openai_agents.agent import guarded_agent  # noqa: E402
from microloop.adapters._openai_agents.tool import wrap_tool  # noqa: E402

__all__ = ["guarded_agent", "wrap_tool"]

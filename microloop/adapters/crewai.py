"""CrewAI: hooks around the tools and models of its agents, and guarded copies of tools.

with GuardrailHooks(guard).scope():
    crew.kickoff()
tools = guard.wrap(tools)
"""

from __future__ import annotations

from microloop.adapters._gate.versions import require

require("crewai")

from microloop.adapters._crewai.hooks import GuardrailHooks  # noqa: E402 - the check comes first, its message helps more
from microloop.adapters._crewai.tool import wrap_tool  # noqa: E402

__all__ = ["GuardrailHooks", "wrap_tool"]

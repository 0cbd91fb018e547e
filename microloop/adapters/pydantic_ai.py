"""Pydantic AI: a capability for agents.

agent = Agent("openai:gpt-5", tools=[search], capabilities=[GuardrailCapability(guard)])
"""

from __future__ import annotations

from microloop.adapters._gate.versions import require

require("pydantic-ai-slim")

# The check comes first: its message helps more than that of a failing import.
from microloop.adapters._pydantic_ai.capability import GuardrailCapability  # noqa: E402

__all__ = ["GuardrailCapability"]

"""Microsoft Agent Framework: middleware for its agents.

agent = Agent(client, tools=[search], middleware=guardrail_middleware(guard))
"""

from __future__ import annotations

from microloop.adapters._gate.versions import require

require("agent-framework-core")

from microloop.adapters._agent_framework.middleware import guardrail_middleware  # noqa: E402 - the check comes first

__all__ = ["guardrail_middleware"]

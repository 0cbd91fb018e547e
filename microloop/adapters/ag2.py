"""AG2 1.x: a middleware for its agents.

agent = Agent("researcher", config=config, tools=[search], middleware=[GuardrailMiddleware(guard)])
"""

from __future__ import annotations

from microloop.adapters._gate.versions import require

require("ag2")

from microloop.adapters._ag2.middleware import GuardrailMiddleware  # noqa: E402 - the check comes first, it helps more

__all__ = ["GuardrailMiddleware"]

"""MCP: a middleware that guards the tools of a server, and a client whose calls are guarded.

server = MCPServer("shop", middleware=[GuardrailMiddleware(guard)])
async with GuardedClient(guard, Client("https://example.org/mcp")) as client: ...
"""

from __future__ import annotations

from microloop.adapters._gate.versions import require

require("mcp")

from microloop.adapters._mcp.client import GuardedClient  # noqa: E402 - the check comes first: it says more
from microloop.adapters._mcp.server import GuardrailMiddleware  # noqa: E402

__all__ = ["GuardedClient", "GuardrailMiddleware"]

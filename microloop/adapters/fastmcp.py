"""FastMCP: a middleware that guards the tools of a server, or of any server behind a proxy.

server = FastMCP("shop", middleware=[GuardrailMiddleware(guard)])
proxy = create_proxy("https://example.org/mcp")
proxy.add_middleware(GuardrailMiddleware(guard))
"""

from __future__ import annotations

from microloop.adapters._gate.versions import require

require("fastmcp")

from microloop.adapters._mcp.fastmcp import GuardrailMiddleware  # noqa: E402 - the check comes first: it says more

__all__ = ["GuardrailMiddleware"]

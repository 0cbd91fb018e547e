"""Claude Agent SDK: options whose hooks guard every tool of an agent, built-in, MCP and your own.

options = guarded_options(guard, ClaudeAgentOptions(mcp_servers={"shop": server}))
async for message in charged(guard, query(prompt="Find cats.", options=options)): ...
"""

from __future__ import annotations

from microloop.adapters._gate.versions import require

require("claude-agent-sdk")

from microloop.adapters._claude.options import guarded_options  # noqa: E402 - the check comes first: it says more
from microloop.adapters._claude.spending import charged  # noqa: E402

__all__ = ["charged", "guarded_options"]

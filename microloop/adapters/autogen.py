"""AutoGen: an `AssistantAgent` whose tools are guarded, or its two halves, for agents of your own.

agent = guarded_assistant(guard, "researcher", model_client, tools=[search], max_tool_iterations=20)
"""

from __future__ import annotations

from microloop.adapters._gate.versions import require

require("autogen-agentchat")

from microloop.adapters._autogen.attach import (  # noqa: E402 - the check comes first, its message helps more
    guarded_assistant,
    guarded_client,
    guarded_workbench,
)
from microloop.adapters._autogen.client import HALTED  # noqa: E402

__all__ = ["HALTED", "guarded_assistant", "guarded_client", "guarded_workbench"]

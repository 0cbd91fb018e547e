"""LangChain: an agent middleware, and guarded copies of tools.

agent = create_agent(model, tools, middleware=[GuardrailMiddleware(guard)])
tools = guard.wrap(tools)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from microloop.adapters._gate.versions import require

require("langchain-core")

from microloop.adapters._langchain.tool import wrap_tool  # noqa: E402 - the check comes first, its message helps more

if TYPE_CHECKING:
    from microloop.adapters._langchain.middleware import GuardrailMiddleware

__all__ = ["GuardrailMiddleware", "wrap_tool"]


def __getattr__(name: str) -> object:
    # Importing LangChain's agents takes seconds; who only wraps tools does without.
    if name != "GuardrailMiddleware":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require("langchain", "langgraph", "langgraph-prebuilt")
    from microloop.adapters._langchain.middleware import GuardrailMiddleware

    return GuardrailMiddleware

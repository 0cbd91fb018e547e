"""Google ADK: a plugin for an app, and callbacks for a single agent.

app = App(name="research", root_agent=agent, plugins=[GuardrailPlugin(guard)])
agent = LlmAgent(name="researcher", model=…, tools=tools, **guardrail_callbacks(guard))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from microloop.adapters._gate.versions import require, require_hooks

require("google-adk")

# The check comes first: its message helps more than that of a failing import.
from google.adk.plugins.base_plugin import BasePlugin  # noqa: E402

from microloop.adapters._google_adk.hooks import Hooks  # noqa: E402
from microloop.adapters._google_adk.replies import HALTED  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models import LlmRequest, LlmResponse
    from google.adk.tools import BaseTool, ToolContext

    from microloop.guardrail import Guardrail
    from microloop.verdict import Verdict

require_hooks(BasePlugin, "before_tool_callback", "after_tool_callback", "on_tool_error_callback")
require_hooks(BasePlugin, "before_model_callback", "after_model_callback")

__all__ = ["GuardrailPlugin", "guardrail_callbacks", "HALTED"]


class GuardrailPlugin(BasePlugin):
    """Checks each tool call of every agent of an app before it runs, and records what came of it.

    Put it before other plugins: one that answers first hides the call from those after it. A refused call is answered
    with `{"error": feedback}`. When the run is halted, every call of the turn is answered, and in place of the model's
    next answer comes an event with `error_code` `HALTED`. `on_verdict` is told of every verdict.
    """

    def __init__(self, guard: Guardrail, *, on_verdict: Callable[[Verdict], None] | None = None) -> None:
        super().__init__(name="microloop")
        self._hooks = Hooks(guard, "GuardrailPlugin", on_verdict)

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Check."""
        answer: dict[str, Any] | None = await self._hooks.before_tool(tool, tool_args, tool_context)
        return answer

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> dict[str, Any] | None:
        """Record."""
        del tool, tool_args
        given: dict[str, Any] | None = await self._hooks.after_tool(tool_context, result)
        return given

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: BaseException
    ) -> None:
        """Record an exception, which goes on to whoever handles it."""
        del tool, tool_args
        self._hooks.tool_failed(tool_context, error)

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """End a halted run instead of asking the model again."""
        return self._hooks.before_model(callback_context, llm_request)

    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        """Charge tokens."""
        self._hooks.after_model(callback_context, llm_response)


def guardrail_callbacks(
    guard: Guardrail, *, on_verdict: Callable[[Verdict], None] | None = None
) -> dict[str, Callable[..., Any]]:
    """The same hooks as callbacks of one agent, for `LlmAgent(…, **guardrail_callbacks(guard))`."""
    hooks = Hooks(guard, "guardrail_callbacks", on_verdict)

    async def before_tool(tool: BaseTool, args: dict[str, Any], tool_context: ToolContext) -> Any:
        return await hooks.before_tool(tool, args, tool_context)

    async def after_tool(tool: BaseTool, args: dict[str, Any], tool_context: ToolContext, tool_response: Any) -> Any:
        del tool, args
        return await hooks.after_tool(tool_context, tool_response)

    def tool_failed(tool: BaseTool, args: dict[str, Any], tool_context: ToolContext, error: BaseException) -> None:
        del tool, args
        hooks.tool_failed(tool_context, error)

    def before_model(callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        return hooks.before_model(callback_context, llm_request)

    def after_model(callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        hooks.after_model(callback_context, llm_response)

    return {
        "before_tool_callback": before_tool,
        "after_tool_callback": after_tool,
        "on_tool_error_callback": tool_failed,
        "before_model_callback": before_model,
        "after_model_callback": after_model,
    }

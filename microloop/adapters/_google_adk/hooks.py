"""The five hooks, whoever calls them: ADK's plugin manager, or the callbacks of one agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.adk.tools.base_tool import BaseTool
from google.adk.tools.set_model_response_tool import SetModelResponseTool

from microloop.adapters._gate.calls import Call
from microloop.adapters._gate.halting import halt_of
from microloop.adapters._gate.usage import spend
from microloop.adapters._google_adk.gate import AdkGate, Paused
from microloop.adapters._google_adk.replies import halted_reply, last_words, usage_of
from microloop.adapters._google_adk.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.adk.models import LlmRequest, LlmResponse

    from microloop.guardrail import Guardrail
    from microloop.verdict import Verdict


class Hooks:
    """Translates ADK's events for the gate."""

    def __init__(self, guard: Guardrail, hook: str, on_verdict: Callable[[Verdict], None] | None) -> None:
        self._runs = Runs(guard)
        self._gate = AdkGate(guard, hook, on_verdict=on_verdict)

    # The tools

    async def before_tool(self, tool: BaseTool, args: dict[str, Any], context: Any) -> Any:
        """The answer to a call that may not run; None for one that may."""
        if isinstance(tool, SetModelResponseTool):
            return None  # the model's structured answer, which ADK takes for a call
        return await self._gate.abefore(
            context, tool.name, context.function_call_id, lambda: self._call(tool, args, context), native=context
        )

    async def after_tool(self, context: Any, result: Any) -> Any:
        """The result with advice; None for one that stays as it is."""
        call_id, actions = context.function_call_id, context.actions
        if call_id in actions.requested_tool_confirmations or call_id in actions.requested_auth_configs:
            self._gate.after_error(context, Paused())
            return None
        given = self._gate.after(context, result)
        return None if given is result else given

    def tool_failed(self, context: Any, error: BaseException) -> None:
        """The tool raised, or was cancelled."""
        self._gate.after_error(context, error)

    def _call(self, tool: BaseTool, args: dict[str, Any], context: Any) -> Call:
        session, call_id = self._runs.session(context), context.function_call_id
        batch = self._runs.batch(session, context)
        # ADK stands a bare `BaseTool` in for a tool that does not exist.
        declared = None if type(tool) is BaseTool else tool
        return Call(session, tool.name, args, call_id, call_id if batch else None, batch, declared)

    # The model

    def before_model(self, context: Any, request: LlmRequest) -> LlmResponse | None:
        """The reply that ends a halted run; None for a run that goes on."""
        return self._gate.unless_faulty(lambda: self._asked(context, request))

    def _asked(self, context: Any, request: LlmRequest) -> LlmResponse | None:
        session = self._runs.session(context)
        verdict = halt_of(session)
        if verdict is not None:
            context.actions.escalate = True  # a `LoopAgent` around the agent would start it anew
            return halted_reply(verdict)
        for name, tool in request.tools_dict.items():
            if not isinstance(tool, SetModelResponseTool):
                self._gate.declare(name, tool)
        turns = self._runs.turns(session, context)
        turns.count += 1
        turns.model = request.model
        return None

    def after_model(self, context: Any, response: LlmResponse) -> None:
        """Charge what the answer has cost, and tell the session of one without a call."""
        if not response.partial:
            self._gate.unless_faulty(lambda: self._heard(context, response))

    def _heard(self, context: Any, response: LlmResponse) -> None:
        session = self._runs.session(context)
        model = response.model_version or self._runs.turns(session, context).model
        text = last_words(response)
        said = None if text is None else session.assistant_turn(text)
        for verdict in (said, spend(session, usage_of(response), model=model)):
            if verdict is not None and verdict.reason != "none":
                self._gate.tell(verdict)

"""How a call is answered in the hooks of Pydantic AI."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ToolFailed
from pydantic_ai.messages import ToolReturn

from microloop.adapters._gate.calls import Decision
from microloop.adapters._gate.gate import Gate
from microloop.verdict import Action

if TYPE_CHECKING:
    from collections.abc import Mapping

    from microloop.adapters._gate.calls import Entry


class PydanticGate(Gate):
    """Answers with failed tool results. The run is ended elsewhere, before the next request to the model."""

    def answer(self, entry: Entry, text: str) -> Any:
        """`ToolFailed` costs none of the tool's retries, as `ModelRetry` would: one more of those ends the run."""
        del entry
        raise ToolFailed(text)

    def schema_of(self, tool: Any) -> Mapping[str, Any] | None:
        """What the tool's definition shows the model."""
        schema: Mapping[str, Any] | None = tool.parameters_json_schema
        return schema

    def outcome_of(self, entry: Entry, result: Any) -> tuple[Any, BaseException | str | None]:
        """Without what goes to the application beside the result."""
        del entry
        return (result.return_value if isinstance(result, ToolReturn) else result), None

    def advised(self, entry: Entry, result: Any) -> Any:
        """Advice stands at the head of a text. Beside any other result it is content of its own."""
        advice = entry.verdict.feedback
        if isinstance(result, str):
            return f"{advice}\n\n{result}"
        if not isinstance(result, ToolReturn):
            return ToolReturn(return_value=result, content=advice)
        content = result.content or ()
        return replace(result, content=[advice, *([content] if isinstance(content, str) else content)])

    async def adecide(self, entry: Entry) -> Decision:
        """Without a `Guardrail(ask=…)` the call is deferred until somebody has approved it."""
        if entry.verdict.action is not Action.ASK or self.guard.ask is not None:
            return await super().adecide(entry)
        if not entry.native.tool_call_approved:
            raise ApprovalRequired(metadata={"microloop": entry.verdict.as_dict()})
        return Decision(approved=True)

    def pauses(self, error: BaseException) -> bool:
        """Whether the call is deferred: it comes back when somebody has approved it."""
        return isinstance(error, (ApprovalRequired, CallDeferred))

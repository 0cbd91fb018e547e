"""How a call is answered in the function hook of the Agent Framework."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_framework import Content

from microloop.adapters._gate.calls import Decision
from microloop.adapters._gate.gate import Gate
from microloop.verdict import Action

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_framework import FunctionInvocationContext

    from microloop.adapters._gate.calls import Entry


class Paused(Exception):
    """The run ends here with a question, and the call comes back with the answer."""


class FunctionGate(Gate):
    """Answers with text. `Entry.native` is the `FunctionInvocationContext` of the call."""

    def answer(self, entry: Entry, text: str) -> str:
        """A plain result: an error would count towards the framework's own limit, which ends runs without a word."""
        del entry
        return text

    def schema_of(self, tool: Any) -> Mapping[str, Any] | None:
        """The parameters that the model is shown."""
        parameters: Mapping[str, Any] | None = tool.parameters()
        return parameters

    def outcome_of(self, entry: Entry, result: Any) -> tuple[Any, BaseException | str | None]:
        """What the tool gave back, without the framework's wrapping."""
        del entry
        if not isinstance(result, list):
            return result, None
        parts = [_plain(part) for part in result]
        return (parts[0] if len(parts) == 1 else parts), None

    def advised(self, entry: Entry, result: Any) -> Any:
        """The result with the advice as its first part."""
        if isinstance(result, list):
            return [Content.from_text(f"{entry.verdict.feedback}\n\n"), *result]
        return super().advised(entry, result)

    async def adecide(self, entry: Entry) -> Decision:
        """Asks a person in the framework's own way, unless `Guardrail(ask=…)` decides."""
        if entry.verdict.action is not Action.ASK or self.guard.ask is not None:
            return await super().adecide(entry)
        # The framework hands on only what was approved, and has made sure that this call is what was asked about.
        if "approval_response" in entry.native.metadata:
            return Decision(approved=True)
        entry.native.result = question(entry)
        raise Paused

    def pauses(self, error: BaseException) -> bool:
        """Whether a person is asked."""
        return isinstance(error, Paused)


def question(entry: Entry) -> Content:
    """What a person is asked, in the form of the framework's own approval requests."""
    context: FunctionInvocationContext = entry.native
    place = context.metadata.get("function_call_occurrence_id") or entry.call_id
    call = Content.from_function_call(entry.call_id or "", entry.name, arguments=entry.arguments, id=place)
    return Content.from_function_approval_request(
        place, call, additional_properties={"reason": entry.verdict.feedback, "microloop": entry.verdict.as_dict()}
    )


def _plain(part: Any) -> Any:
    if isinstance(part, Content):
        return part.text if part.type == "text" else part.to_dict()
    return part

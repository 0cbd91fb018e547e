"""How a call is answered in CrewAI's hooks around a tool.

A hook before the tool can only say no; what the model is told instead is up to the hook after it, which CrewAI calls
for refused calls too. It passes no id of the call, but one and the same dictionary of arguments to both.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from crewai.tools.tool_failure import ToolFailure

from microloop.adapters._crewai.refusals import failure, schema_of
from microloop.adapters._gate.gate import log_advice
from microloop.adapters._gate.paired import PairedGate
from microloop.coverage import checked_by_outer_hook

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from crewai.hooks import ToolCallHookContext

    from microloop.adapters._gate.calls import Entry

# CrewAI shows a tool's exception and another hook's refusal as text only.
_RAISED = ("Error executing tool: ", "\nI encountered an error while trying to use the tool. This was the error: ")
_BLOCKED = "Tool execution blocked by hook."


class HookGate(PairedGate):
    """Results are the contexts of the hook after the tool; an entry's `native` is what surrounds the tool."""

    def answer(self, entry: Entry, text: str) -> ToolFailure:
        """A failure of the tool."""
        return failure(entry, text)

    def schema_of(self, tool: Any) -> Mapping[str, Any] | None:
        """See `refusals.schema_of`."""
        return schema_of(tool)

    def outcome_of(self, entry: Entry, result: ToolCallHookContext) -> tuple[Any, BaseException | str | None]:
        """What the tool gave back before it was made into text."""
        del entry
        raw = result.raw_tool_result
        if isinstance(raw, ToolFailure):
            return None, raw.message
        prefix = next((each for each in _RAISED if isinstance(raw, str) and raw.startswith(each)), None)
        return (raw, None) if prefix is None else (None, raw.removeprefix(prefix))

    def advised(self, entry: Entry, result: ToolCallHookContext) -> Any:
        """The text for the model. A result that is the agent's answer is for a person, and stays as it is."""
        if getattr(result.tool, "result_as_answer", False):
            log_advice(entry.verdict, result.raw_tool_result)
            return result
        return f"{entry.verdict.feedback}\n\n{result.tool_result}"

    def shared(self, entry: Entry) -> Any:
        """Nobody waits for the first of two identical calls: if it is interrupted, the hook after it never comes."""
        return self.refused(entry)

    def done(self, entry: Entry, result: ToolCallHookContext) -> Any:
        """See `Gate.done`. A hook after ours may have refused what we let through."""
        if isinstance(result.raw_tool_result, str) and result.raw_tool_result.startswith(_BLOCKED):
            self.abandon(entry)
            return result
        return super().done(entry, result)

    def _opened(self, key: Hashable, entry: Entry) -> None:
        super()._opened(key, entry)
        around: ExitStack = entry.native
        if entry.call is not None:
            around.enter_context(self.inside(entry.call.session))
            around.enter_context(checked_by_outer_hook(self.guard, entry.name, entry.call.tool))

    def _closed(self, key: Hashable) -> Entry | None:
        entry = super()._closed(key)
        if entry is not None:
            entry.native.close()
        return entry

"""How a call is answered in an AutoGen workbench."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autogen_core.tools import TextResultContent, ToolResult

from microloop.adapters._gate.gate import Gate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from microloop.adapters._gate.calls import Entry


class WorkbenchGate(Gate):
    """Answers with tool results. A halt ends the run where the model would be asked again: see `GuardedClient`."""

    def answer(self, entry: Entry, text: str) -> ToolResult:
        """A tool result that is an error."""
        return failed(entry.name, text)

    def schema_of(self, tool: Any) -> Mapping[str, Any] | None:
        """The parameters in the schema that the workbench lists."""
        schema: Mapping[str, Any] | None = tool.get("parameters")
        return schema

    def outcome_of(self, entry: Entry, result: Any) -> tuple[Any, str | None]:
        """The text that the model gets."""
        del entry
        text = result.to_text()
        return (None, text) if result.is_error else (text, None)

    def advised(self, entry: Entry, result: Any) -> ToolResult:
        """The result with the advice as its first part."""
        # AutoGen puts one line break between the parts.
        advice = TextResultContent(content=f"{entry.verdict.feedback}\n")
        advised: ToolResult = result.model_copy(update={"result": [advice, *result.result]})
        return advised


def failed(name: str, text: str) -> ToolResult:
    """What the model reads of a call that came to nothing."""
    return ToolResult(name=name, result=[TextResultContent(content=text)], is_error=True)

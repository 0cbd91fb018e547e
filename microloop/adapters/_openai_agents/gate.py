"""How a call of a function tool is answered in the Agents SDK."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from agents import ToolOutputFileContent, ToolOutputImage, ToolOutputText

from microloop.adapters._gate.gate import Gate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from microloop.adapters._gate.calls import Entry

_PARTS = (ToolOutputText, ToolOutputImage, ToolOutputFileContent)


class AgentsGate(Gate):
    """Answers with the text of the tool's output. What ends the run is not here, but around the model and the tool."""

    def answer(self, entry: Entry, text: str) -> Any:
        """The output that the model gets to see in the place of the tool's own."""
        del entry
        return text

    def schema_of(self, tool: Any) -> Mapping[str, Any] | None:
        """What the tool shows the model."""
        schema: Mapping[str, Any] | None = tool.params_json_schema
        return schema

    def advised(self, entry: Entry, result: Any) -> Any:
        """Output that has parts gets the advice as its first part."""
        parts = result if isinstance(result, list) else [result]
        if parts and all(isinstance(part, _PARTS) for part in parts):
            return [ToolOutputText(text=entry.verdict.feedback), *parts]
        return super().advised(entry, result)

    def failed(self, entry: Entry, error: BaseException) -> None:
        """A tool's timeout comes as a cancellation. Where it was the run that was cancelled, the error does no harm."""
        seconds = getattr(entry.native, "timeout_seconds", None)
        if seconds is not None and isinstance(error, asyncio.CancelledError):
            error = TimeoutError(f"{entry.name} timed out after {seconds:g} seconds")
        super().failed(entry, error)

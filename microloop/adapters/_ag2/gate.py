"""How a call is answered in the tool hook of AG2."""

from __future__ import annotations

import copy
import dataclasses
from typing import TYPE_CHECKING, Any

from ag2 import ToolResult
from ag2.events import ClientToolCallEvent, DataInput, TextInput, ToolErrorEvent

from microloop.adapters._gate.gate import Gate, log_advice
from microloop.errors import BlockedCall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ag2.tools.final.function_tool import FunctionToolSchema

    from microloop.adapters._gate.answers import Leader
    from microloop.adapters._gate.calls import Entry


class ToolGate(Gate):
    """Answers with AG2's tool events. `Entry.native` is the event of the call."""

    def answer(self, entry: Entry, text: str) -> Any:
        """An event that is an error. Its text is the feedback alone: AG2 itself would show the model a traceback."""
        call = entry.native
        error = BlockedCall(entry.verdict)
        return ToolErrorEvent(parent_id=call.id, name=call.name, error=error, result=ToolResult(text))

    def schema_of(self, tool: FunctionToolSchema) -> Mapping[str, Any] | None:
        """The parameters that the model is shown."""
        parameters: Mapping[str, Any] | None = tool.function.parameters
        return parameters

    def outcome_of(self, entry: Entry, result: Any) -> tuple[Any, BaseException | str | None]:
        """The tool's exception, or what it gave back."""
        del entry
        if isinstance(result, ToolErrorEvent):
            return None, result.error
        parts = [_plain(part) for part in result.result.parts]
        return (parts[0] if len(parts) == 1 else parts), None

    def done(self, entry: Entry, result: Any) -> Any:
        """A call that is the client's to run ends the turn, and nobody here will learn what came of it."""
        if isinstance(result, ClientToolCallEvent):
            self.abandon(entry)
            return result
        return super().done(entry, result)

    def advised(self, entry: Entry, result: Any) -> Any:
        """The event with the advice as its first part."""
        if result.result.final:
            log_advice(entry.verdict, result)  # the result is the agent's reply, and may have one part only
            return result
        parts = [TextInput(entry.verdict.feedback), *result.result.parts]
        return _changed(result, result=dataclasses.replace(result.result, parts=parts))

    def copied(self, entry: Entry, first: Leader, result: Any) -> Any:
        """The event that answered the first of two identical calls, for the second."""
        del first
        return _changed(result, parent_id=entry.native.id)


def _plain(part: Any) -> Any:
    if isinstance(part, TextInput):
        return part.content
    return part.data if isinstance(part, DataInput) else repr(part)


def _changed(event: Any, **fields: Any) -> Any:
    changed = copy.copy(event)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed

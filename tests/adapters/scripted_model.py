"""A chat model whose turns are written down, and what the tests read from a finished run."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult


class Scripted(BaseChatModel):
    """Turn n is `turns[n]`: a text to finish with, or a list of (tool, arguments). The last one comes again."""

    turns: list[Any]
    same_ids: bool = False
    """Whether each turn uses the call ids of the turn before, as small models do."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Scripted:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        spoken = sum(isinstance(message, AIMessage) for message in messages)
        turn = self.turns[min(spoken, len(self.turns) - 1)]
        message = AIMessage(turn) if isinstance(turn, str) else AIMessage("", tool_calls=self._calls(turn, spoken))
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _calls(self, turn: list[tuple[str, Any]], spoken: int) -> list[dict[str, Any]]:
        first = "call" if self.same_ids else f"call{spoken}"
        return [{"name": n, "args": a, "id": f"{first}.{i}", "type": "tool_call"} for i, (n, a) in enumerate(turn)]


def same(times: int, tool: str = "search", **arguments: Any) -> list[Any]:
    """A model that makes one call again and again, and then finishes."""
    return [*[[(tool, arguments or {"query": "cats"})]] * times, "done"]


def answers(messages: list[BaseMessage]) -> list[ToolMessage]:
    return [message for message in messages if isinstance(message, ToolMessage)]


def verdicts(messages: list[BaseMessage]) -> list[str]:
    """`action reason` of each tool message; empty where the guard had nothing to say."""
    marks = [message.additional_kwargs.get("microloop") for message in answers(messages)]
    return [f"{mark['action']} {mark['reason']}" if mark else "" for mark in marks]


def assert_valid(messages: list[BaseMessage]) -> None:
    """Every call of the model is answered exactly once, before anybody else speaks."""
    open_calls: set[Any] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            assert message.tool_call_id in open_calls, f"answered twice, or never asked: {message!r}"
            open_calls.remove(message.tool_call_id)
        else:
            assert not open_calls, f"not answered: {open_calls}"
            open_calls = {call["id"] for call in message.tool_calls} if isinstance(message, AIMessage) else set()
    assert not open_calls, f"not answered: {open_calls}"

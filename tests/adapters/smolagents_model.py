"""A scripted model of smolagents, for agents that call tools and for agents that write code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from smolagents import ChatMessage, CodeAgent, LogLevel, Model, ToolCallingAgent, tool
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole
from smolagents.monitoring import TokenUsage

Turn = str | list[tuple[str, dict[str, Any]]]


class Scripted(Model):
    """Takes its turns from a list; the last one comes again."""

    def __init__(
        self,
        turns: Sequence[Turn],
        *,
        usage: tuple[int, int] = (0, 0),
        ids: Callable[[int, int], str] = lambda turn, place: f"call{turn}.{place}",
    ) -> None:
        super().__init__(model_id="scripted")
        self._turns = turns
        self._usage = TokenUsage(*usage)
        self._ids = ids
        self.asked = 0
        self.heard: list[list[Any]] = []
        """The messages of each time it was asked."""

    def generate(self, messages: list[Any], *_: Any, tools_to_call_from: Any = None, **__: Any) -> ChatMessage:
        self.heard.append(messages)
        turn, number = self._turns[min(self.asked, len(self._turns) - 1)], self.asked
        self.asked += 1
        if tools_to_call_from is None:
            return ChatMessage(MessageRole.ASSISTANT, _code(turn), token_usage=self._usage)
        calls = [("final_answer", {"answer": turn})] if isinstance(turn, str) else turn
        made = [
            ChatMessageToolCall(
                id=self._ids(number, place),
                type="function",
                function=ChatMessageToolCallFunction(name=name, arguments=arguments),
            )
            for place, (name, arguments) in enumerate(calls)
        ]
        return ChatMessage(MessageRole.ASSISTANT, "", tool_calls=made, token_usage=self._usage)


def _code(turn: Turn) -> str:
    if isinstance(turn, str):
        return f"<code>\nfinal_answer({turn!r})\n</code>"
    lines = (f"print({name}({', '.join(f'{key}={value!r}' for key, value in given.items())}))" for name, given in turn)
    return "<code>\n" + "\n".join(lines) + "\n</code>"


def agent_of(kind: type, model: Model, functions: Sequence[Any], **options: Any) -> Any:
    """An agent that says nothing on the screen."""
    tools = [each if hasattr(each, "forward") else tool(each) for each in functions]
    return kind(tools=tools, model=model, verbosity_level=LogLevel.OFF, max_steps=100, **options)


__all__ = ["CodeAgent", "Scripted", "ToolCallingAgent", "agent_of"]

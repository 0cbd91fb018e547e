"""A scripted model of LlamaIndex."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, TextBlock, ToolCallBlock
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection


class ScriptedLLM(FunctionCallingLLM):
    """A turn is a text to finish with, or calls, which a ReAct agent gets as text; the last one comes again."""

    turns: list[Any]
    tokens: tuple[int, int] = (0, 0)
    same_ids: bool = False
    react: bool = False
    asked: int = 0
    seen: list[Any] = []  # noqa: RUF012 - a field of pydantic, which copies it

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=not self.react, model_name="scripted")

    def _next(self, messages: Sequence[ChatMessage]) -> ChatResponse:
        self.seen.append(list(messages))
        turn = self.turns[min(self.asked, len(self.turns) - 1)]
        blocks = _react(turn) if self.react else _blocks(turn, "call" if self.same_ids else f"call{self.asked}")
        self.asked += 1
        spent, given = self.tokens
        raw = {"usage": {"prompt_tokens": spent, "completion_tokens": given}}
        return ChatResponse(message=ChatMessage(role="assistant", blocks=blocks), raw=raw)

    def _prepare_chat_with_tools(self, tools: Any, user_msg: Any = None, chat_history: Any = None, **_: Any) -> Any:
        return {"messages": chat_history or []}

    def get_tool_calls_from_response(self, response: ChatResponse, **_: Any) -> list[ToolSelection]:
        return [
            ToolSelection(tool_id=block.tool_call_id, tool_name=block.tool_name, tool_kwargs=block.tool_kwargs)
            for block in response.message.blocks
            if isinstance(block, ToolCallBlock)
        ]

    def chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        return self._next(messages)

    async def achat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        return self._next(messages)

    def stream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> Any:
        yield self._next(messages)

    async def astream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> Any:
        async def chunks() -> Any:
            yield self._next(messages)

        return chunks()

    def complete(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    acomplete = stream_complete = astream_complete = complete


def _blocks(turn: Any, call: str) -> list[Any]:
    if isinstance(turn, str):
        return [TextBlock(text=turn)]
    return [
        ToolCallBlock(tool_call_id=f"{call}.{place}", tool_name=name, tool_kwargs=args)
        for place, (name, args) in enumerate(turn)
    ]


def _react(turn: Any) -> list[TextBlock]:
    if isinstance(turn, str):
        return [TextBlock(text=f"Thought: I know.\nAnswer: {turn}")]
    [(name, args)] = turn
    return [TextBlock(text=f"Thought: I look.\nAction: {name}\nAction Input: {json.dumps(args)}")]

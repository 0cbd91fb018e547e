"""A scripted model of Google ADK."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.genai import types


class ScriptedLlm(BaseLlm):
    """A turn is a text to finish with, or a list of calls; the last one comes again."""

    model: str = "scripted"
    turns: list[Any]
    tokens: tuple[int, int] = (0, 0)
    same_ids: bool = False
    asked: int = 0
    seen: list[Any] = []  # noqa: RUF012 - a field of pydantic, which copies it

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - ADK's own signature
    ) -> AsyncGenerator[LlmResponse, None]:
        self.seen.append(list(llm_request.contents))
        response = self._response(self.turns[min(self.asked, len(self.turns) - 1)])
        self.asked += 1
        if stream:
            yield response.model_copy(update={"partial": True})
        yield response

    def _response(self, turn: Any) -> LlmResponse:
        parts = [types.Part(text=turn)] if isinstance(turn, str) else self._calls(turn)
        spent, given = self.tokens
        usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=spent, candidates_token_count=given)
        return LlmResponse(content=types.Content(role="model", parts=parts), usage_metadata=usage)

    def _calls(self, turn: Any) -> list[types.Part]:
        name = "call" if self.same_ids else f"call{self.asked}"
        calls = (
            types.FunctionCall(id=f"{name}.{place}", name=tool, args=args) for place, (tool, args) in enumerate(turn)
        )
        return [types.Part(function_call=call) for call in calls]

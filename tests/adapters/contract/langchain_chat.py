"""A scripted chat model of LangChain, and what a list of its messages says of a run."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from pydantic import PrivateAttr
from scene import Finished, Scene, call_id, turn_of


class Chat(BaseChatModel):
    """Speaks the turns of a scene."""

    scene: Any
    _asked: int = PrivateAttr(default=0)

    @property
    def asked(self) -> int:
        return self._asked

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Chat:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        message = _message(self.scene, self._asked)
        self._asked += 1
        return ChatResult(generations=[ChatGeneration(message=message)])


def _message(scene: Scene, asked: int) -> AIMessage:
    turn = turn_of(scene, asked)
    spent, given = scene.tokens
    usage: Any = {"input_tokens": spent, "output_tokens": given, "total_tokens": spent + given}
    if isinstance(turn, str):
        return AIMessage(turn, usage_metadata=usage)
    calls: Any = [
        {"name": name, "args": args, "id": call_id(asked, place, same_ids=scene.same_ids), "type": "tool_call"}
        for place, (name, args) in enumerate(turn)
    ]
    return AIMessage("", tool_calls=calls, usage_metadata=usage)


def tools_of(scene: Scene, mode: str) -> list[StructuredTool]:
    """The scene's tools as LangChain has them."""
    if mode == "async":
        return [StructuredTool.from_function(coroutine=each) for each in scene.tools.functions(asynchronous=True)]
    return [StructuredTool.from_function(each) for each in scene.tools.functions()]


def finished(messages: list[BaseMessage], model: Chat, *, halted: bool, error: BaseException | None = None) -> Finished:
    """Reads a run from its messages. Every call is answered exactly once, before anybody else speaks."""
    told: list[str | None] = []
    for place, message in enumerate(messages):
        if isinstance(message, AIMessage) and message.tool_calls:
            ids = [call["id"] for call in message.tool_calls]
            answers = {
                each.tool_call_id: each
                for each in messages[place + 1 : place + 1 + len(ids)]
                if isinstance(each, ToolMessage)
            }
            assert not answers or set(answers) == set(ids), f"{ids} were answered by {sorted(answers)}"
            told += [str(answers[each].content) if each in answers else None for each in ids]
    return Finished(told, model.asked, "halted" if halted else "raised" if error else "finished", error)

"""Microsoft Agent Framework: an `Agent` with `guardrail_middleware`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)
from scene import Finished, Harness, Scene, call_id, turn_of

from microloop.adapters.agent_framework import guardrail_middleware


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Speaks the turns of a scene."""

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        # The framework's own limits stand out of the way: three failed turns, and errors that say nothing.
        self.function_invocation_configuration["max_consecutive_errors_per_request"] = 100
        self.function_invocation_configuration["include_detailed_errors"] = True
        self.scene = scene
        self.asked = 0
        self.heard: list[Message] = []

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        return (
            ResponseStream(self._updates(messages), finalizer=ChatResponse.from_updates)
            if stream
            else self._whole(messages)
        )

    async def _whole(self, messages: Any) -> ChatResponse:
        return ChatResponse.from_updates([update async for update in self._updates(messages)])

    async def _updates(self, messages: Any) -> AsyncIterator[ChatResponseUpdate]:
        self.heard = list(messages)
        contents = _contents(self.scene, self.asked)
        self.asked += 1
        yield ChatResponseUpdate(contents=contents, role="assistant", message_id=f"m{self.asked}")


class AgentFramework(Harness):
    name = "Agent Framework"
    modes = ("async", "stream")
    pauses = True

    def play(self, scene: Scene, mode: str) -> Finished:
        client = Scripted(scene)
        middleware = guardrail_middleware(scene.guard) if scene.attached else []
        tools = scene.tools.functions(asynchronous=mode == "async")
        agent = Agent(client, tools=tools, middleware=middleware)
        return asyncio.run(_run(agent, client, scene, mode))


async def _run(agent: Agent, client: Scripted, scene: Scene, mode: str) -> Finished:
    session = agent.create_session(session_id=scene.run_id)
    spoken = [Message("user", ["find something about cats"])]
    said: list[Message] = []
    while True:
        response = await _ask(agent, spoken, session, mode)
        said += response.messages
        questions = response.user_input_requests
        if not questions:
            break
        spoken = [Message("user", [each.to_function_approval_response(bool(scene.consent)) for each in questions])]
    halted = "microloop" in response.additional_properties
    return Finished(_told(said), client.asked, "halted" if halted else "finished")


async def _ask(agent: Agent, spoken: list[Message], session: Any, mode: str) -> Any:
    if mode == "stream":
        stream = agent.run(spoken, session=session, stream=True)
        async for _ in stream:
            pass
        return await stream.get_final_response()
    return await agent.run(spoken, session=session)


def _contents(scene: Scene, asked: int) -> list[Content]:
    turn = turn_of(scene, asked)
    spent, given = scene.tokens
    usage: Any = {"input_token_count": spent, "output_token_count": given, "total_token_count": spent + given}
    contents = [Content.from_usage(usage)]
    if isinstance(turn, str):
        return [Content.from_text(turn), *contents]
    calls = [
        Content.from_function_call(
            call_id(asked, place, same_ids=scene.same_ids), name, arguments=json.dumps(arguments)
        )
        for place, (name, arguments) in enumerate(turn)
    ]
    return [*calls, *contents]


def _told(messages: list[Message]) -> list[str | None]:
    """What the conversation says: each call is answered once, before the model speaks again."""
    told: list[str | None] = []
    open_calls: list[str] = []
    for content in (content for message in messages for content in message.contents):
        if content.type == "function_call":
            open_calls.append(content.call_id)
            told.append(None)
        elif content.type == "function_result":
            place = len(told) - len(open_calls) + open_calls.index(content.call_id)
            assert told[place] is None
            told[place] = str(content.result)
            if None not in told:
                open_calls = []
    return told


HARNESSES = [AgentFramework()]

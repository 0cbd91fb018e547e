"""Claude Agent SDK: the real SDK with `guarded_options`, and a scripted Claude Code at its other end."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable
from typing import Any, ClassVar

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    create_sdk_mcp_server,
    query,
    tool,
)
from claude_cli import SERVER, ScriptedCli, Turn
from scene import Finished, Harness, Scene, call_id, turn_of

from microloop.adapters.claude_agent_sdk import charged, guarded_options


class ClaudeAgentSdk(Harness):
    name = "Claude Agent SDK"
    modes = ("async", "stream")
    """`query`, and a `ClaudeSDKClient`."""
    pauses = True
    lacks: ClassVar[dict[str, str]] = {
        "a_tool_that_cannot_be_declared_follows_on_error_and_the_others_work": "its hooks see no schemas of tools",
    }

    def play(self, scene: Scene, mode: str) -> Finished:
        return asyncio.run(run(scene, mode))


async def run(scene: Scene, mode: str) -> Finished:
    cli = ScriptedCli(lambda asked: calls_of(scene, asked), required(scene), scene.run_id, scene.tokens)
    messages = (one_shot if mode == "async" else client)(options_of(scene), cli)
    async for _ in charged(scene.guard, messages) if scene.attached else messages:
        pass
    return Finished(cli.told, cli.asked, "halted" if cli.stopped else "finished")


async def one_shot(options: ClaudeAgentOptions, cli: ScriptedCli) -> AsyncIterator[Any]:
    async def said() -> AsyncIterator[dict[str, Any]]:
        yield {"type": "user", "message": {"role": "user", "content": "find something about cats"}}

    async for message in query(prompt=said(), options=options, transport=cli):
        yield message


async def client(options: ClaudeAgentOptions, cli: ScriptedCli) -> AsyncIterator[Any]:
    async with ClaudeSDKClient(options, transport=cli) as agent:
        await agent.query("find something about cats")
        async for message in agent.receive_response():
            yield message


def options_of(scene: Scene) -> ClaudeAgentOptions:
    async def consent(*_: Any) -> PermissionResultAllow | PermissionResultDeny:
        return PermissionResultAllow() if scene.consent else PermissionResultDeny(message="not today")

    server = create_sdk_mcp_server(SERVER, tools=[made(each) for each in scene.tools.functions(asynchronous=True)])
    options = ClaudeAgentOptions(mcp_servers={SERVER: server}, can_use_tool=None if scene.consent is None else consent)
    return guarded_options(scene.guard, options) if scene.attached else options


def made(function: Callable[..., Any]) -> Any:
    """A tool of the SDK; an exception in it is an error that the model reads."""

    @tool(function.__name__, inspect.getdoc(function) or "", dict.fromkeys(inspect.signature(function).parameters, str))
    async def called(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": await function(**arguments)}]}

    return called


def required(scene: Scene) -> dict[str, list[str]]:
    return {each.__name__: list(inspect.signature(each).parameters) for each in scene.tools.functions()}


def calls_of(scene: Scene, asked: int) -> Turn:
    turn = turn_of(scene, asked)
    if isinstance(turn, str):
        return turn
    return [(call_id(asked, place, same_ids=scene.same_ids), name, given) for place, (name, given) in enumerate(turn)]


HARNESSES = [ClaudeAgentSdk()]

"""MCP: a server with `GuardrailMiddleware`, and an unguarded server behind a `GuardedClient`."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable
from typing import Any

from mcp.client import Client
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_client import LACKS, on_the_wire, play_turns
from scene import Finished, Harness, Scene

from microloop.adapters.mcp import GuardedClient, GuardrailMiddleware


class McpServer(Harness):
    name = "MCP server"
    modes = ("sync", "async")
    """What differs is whether the tools are functions or coroutine functions."""
    lacks = LACKS

    def play(self, scene: Scene, mode: str) -> Finished:
        server = server_of(scene, mode)
        if scene.attached:
            server.middleware.append(GuardrailMiddleware(scene.guard))
        return asyncio.run(run(scene, Client(server)))


class McpClient(Harness):
    name = "MCP client"
    modes = ("async",)
    lacks = LACKS

    def play(self, scene: Scene, mode: str) -> Finished:
        client = Client(server_of(scene, mode))
        return asyncio.run(run(scene, GuardedClient(scene.guard, client) if scene.attached else client))


def server_of(scene: Scene, mode: str) -> MCPServer:
    server = MCPServer("workshop")
    for function in scene.tools.functions(asynchronous=mode == "async"):
        server.tool()(telling(function))
    return server


def telling(function: Callable[..., Any]) -> Callable[..., Any]:
    """A tool whose errors reach the model: of all others the server says only that there was one."""

    @functools.wraps(function)
    async def tool(*args: Any, **kwargs: Any) -> Any:
        try:
            result = function(*args, **kwargs)
            return await result if inspect.isawaitable(result) else result
        except OSError as error:
            raise ToolError(str(error)) from error

    @functools.wraps(function)
    def plain(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except OSError as error:
            raise ToolError(str(error)) from error

    return tool if inspect.iscoroutinefunction(function) else plain


async def run(scene: Scene, connection: Any) -> Finished:
    async with connection as client:
        await client.list_tools()

        async def call_tool(name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
            return on_the_wire(await client.call_tool(name, arguments, meta=meta))

        return await play_turns(scene, call_tool)


HARNESSES = [McpServer(), McpClient()]

"""FastMCP: a server with `GuardrailMiddleware`, and an unguarded server behind a guarded proxy."""

from __future__ import annotations

import asyncio
from typing import Any

from fastmcp import Client, FastMCP
from fastmcp.server import create_proxy
from mcp_client import LACKS, on_the_wire, play_turns
from scene import Finished, Harness, Scene

from microloop.adapters.fastmcp import GuardrailMiddleware


class FastMcp(Harness):
    name = "FastMCP"
    modes = ("sync", "async")
    """What differs is whether the tools are functions or coroutine functions."""
    lacks = LACKS

    def play(self, scene: Scene, mode: str) -> Finished:
        return asyncio.run(run(scene, self.server(scene, mode)))

    def server(self, scene: Scene, mode: str) -> FastMCP:
        server = FastMCP("workshop")
        for function in scene.tools.functions(asynchronous=mode == "async"):
            server.tool(function)
        return guarded(scene, server)


class FastMcpProxy(FastMcp):
    name = "FastMCP proxy"
    modes = ("async",)

    def server(self, scene: Scene, mode: str) -> FastMCP:
        remote = FastMCP("remote")
        for function in scene.tools.functions(asynchronous=True):
            remote.tool(function)
        return guarded(scene, create_proxy(remote))


def guarded(scene: Scene, server: FastMCP) -> FastMCP:
    if scene.attached:
        server.add_middleware(GuardrailMiddleware(scene.guard))
    return server


async def run(scene: Scene, server: FastMCP) -> Finished:
    async with Client(server) as client:

        async def call_tool(name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
            return on_the_wire(await client.call_tool_mcp(name, arguments, meta=meta))

        return await play_turns(scene, call_tool)


HARNESSES = [FastMcp(), FastMcpProxy()]

"""An agent that calls the tools of an MCP server, which knows nothing of a guard, through a guarded client."""

from __future__ import annotations

import asyncio

from mcp.client import Client
from mcp.server.mcpserver import MCPServer

from microloop import Guardrail
from microloop.adapters.mcp import GuardedClient

SHELF = {"cheese": "Brie, third shelf", "bread": "Rye, first shelf"}

server = MCPServer("shop")


@server.tool()  # type: ignore[untyped-decorator]  # where the types are checked, the SDK need not be installed
def look_up(word: str) -> str:
    """Find where a product stands, by a word of the catalogue."""
    return SHELF.get(word, "nothing found")


async def stubborn(guard: Guardrail) -> None:
    """Asks for the same word until it is told not to."""
    told = ""
    async with GuardedClient(guard, Client(server)) as client:
        await client.list_tools()
        while "shelf" not in told:
            word = "cheese" if "refused" in told else "fromage"
            result = await client.call_tool("look_up", {"word": word})
            told = result.content[0].text
            print(told)
    print(f"Here it is: {told}")


if __name__ == "__main__":
    asyncio.run(stubborn(Guardrail(policy="strict_loop_detection")))

"""A FastMCP server with a guard, and an agent that calls its tools."""

from __future__ import annotations

import asyncio

from fastmcp import Client, FastMCP

from microloop import Guardrail
from microloop.adapters.fastmcp import GuardrailMiddleware

SHELF = {"cheese": "Brie, third shelf", "bread": "Rye, first shelf"}

server = FastMCP("shop", middleware=[GuardrailMiddleware(Guardrail(policy="strict_loop_detection"))])


@server.tool  # type: ignore[untyped-decorator]  # where the types are checked, FastMCP need not be installed
def look_up(word: str) -> str:
    """Find where a product stands, by a word of the catalogue."""
    return SHELF.get(word, "nothing found")


async def stubborn() -> None:
    """Asks for the same word until it is told not to."""
    told = ""
    async with Client(server) as client:
        while "shelf" not in told:
            word = "cheese" if "refused" in told else "fromage"
            result = await client.call_tool(
                "look_up", {"word": word}, raise_on_error=False, meta={"run_id": "customer-1"}
            )
            told = result.content[0].text
            print(told)
    print(f"Here it is: {told}")


if __name__ == "__main__":
    asyncio.run(stubborn())

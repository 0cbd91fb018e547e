"""Claude Code with a guard in its hooks. MODEL=sonnet starts it; else a stand-in asks the hooks as it does."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, create_sdk_mcp_server, query, tool

from microloop import Guardrail
from microloop.adapters.claude_agent_sdk import charged, guarded_options

SHELF = {"cheese": "Brie, third shelf", "bread": "Rye, first shelf"}
LOOK_UP = "mcp__shop__look_up"


@tool("look_up", "Find where a product stands, by a word of the catalogue.", {"word": str})  # type: ignore[untyped-decorator]  # where the types are checked, the SDK need not be installed
async def look_up(arguments: dict[str, Any]) -> dict[str, Any]:
    """What the SDK calls."""
    return {"content": [{"type": "text", "text": SHELF.get(arguments["word"], "nothing found")}]}


class StandIn:
    """Asks for the same word until it is told not to."""

    def __init__(self, options: ClaudeAgentOptions) -> None:
        self._hooks = options.hooks

    async def ask(self, event: str, call_id: str, **about: Any) -> dict[str, Any]:
        """The output of an event's hook."""
        data = {"hook_event_name": event, "session_id": "customer-1", **about}
        output: dict[str, Any] = await self._hooks[event][0].hooks[0](data, call_id, {"signal": None})
        decided: dict[str, Any] = output.get("hookSpecificOutput", {})
        return decided

    async def run(self) -> None:
        """One call in each turn."""
        told, turn = "", 0
        while "shelf" not in told:
            turn += 1
            word = "cheese" if "refused" in told else "fromage"
            told = await self.call(f"toolu_{turn}", {"tool_name": LOOK_UP, "tool_input": {"word": word}})
            print(told)
        print(f"Here it is: {told}")

    async def call(self, call_id: str, about: dict[str, Any]) -> str:
        """What the model is told of a call."""
        decided = await self.ask("PreToolUse", call_id, **about)
        if decided.get("permissionDecision") == "deny":
            told = str(decided["permissionDecisionReason"])
        else:
            response = (await look_up.handler(about["tool_input"]))["content"]
            await self.ask("PostToolUse", call_id, **about, tool_response=response)
            told = str(response[0]["text"])
        call = {**about, "tool_use_id": call_id, "tool_response": told}
        await self.ask("PostToolBatch", call_id, tool_calls=[call])
        return told


async def main() -> None:
    """Claude Code, or the stand-in."""
    guard, model = Guardrail(policy="strict_loop_detection"), os.environ.get("MODEL")
    server = create_sdk_mcp_server("shop", tools=[look_up])
    options = ClaudeAgentOptions(model=model, mcp_servers={"shop": server}, allowed_tools=[LOOK_UP])
    guarded = guarded_options(guard, options)
    if model is None:
        await StandIn(guarded).run()
    else:
        async for message in charged(guard, query(prompt="Where is the fromage?", options=guarded)):
            print(message)


if __name__ == "__main__":
    asyncio.run(main())

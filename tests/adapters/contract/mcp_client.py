"""A scripted agent over MCP: it lists the tools, calls what the script says, and stops at a halt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from scene import Finished, Scene, turn_of

from microloop import RunHalted

CallTool = Callable[[str, dict[str, Any], dict[str, Any]], Awaitable[Any]]
"""Calls a tool with a name, arguments and the request's `_meta`; the result as it is on the wire."""

LACKS = {
    "tokens_are_charged_and_the_last_of_them_are_kept_for_the_answer": "MCP carries tool calls, and no model's usage",
    "call_ids_that_come_again_each_turn_hide_no_loop": "MCP numbers its requests itself; a model's ids are not sent",
}


async def play_turns(scene: Scene, call_tool: CallTool) -> Finished:
    told: list[str | None] = []
    for asked in range(100):
        turn = turn_of(scene, asked)
        if isinstance(turn, str):
            return Finished(told, asked + 1, "finished")
        meta = {"turn": asked, **({"run_id": scene.run_id} if scene.run_id else {})}
        answers = await asyncio.gather(
            *(call_tool(name, arguments, meta) for name, arguments in turn), return_exceptions=True
        )
        told += [None if isinstance(each, BaseException) else text_of(each) for each in answers]
        halts = [each for each in answers if isinstance(each, RunHalted) or action_of(each) == "halt"]
        if halts:
            return Finished(told, asked + 1, "halted")
        errors = [each for each in answers if isinstance(each, BaseException)]
        if errors:
            return Finished(told, asked + 1, "raised", errors[0])
    raise AssertionError("the run does not end")


def text_of(wire: dict[str, Any]) -> str:
    return "\n".join(each["text"] for each in wire["content"])


def action_of(wire: Any) -> str | None:
    return None if isinstance(wire, BaseException) else (wire.get("_meta") or {}).get("microloop", {}).get("action")


def on_the_wire(result: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dumped

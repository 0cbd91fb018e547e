"""A scripted Claude Code: it speaks the control protocol of the CLI, and the real SDK answers it.

What the real one does around a tool call is done here as well: it checks the arguments, asks the `PreToolUse` hooks,
and `can_use_tool` where they say "ask", runs tools of the SDK's own MCP servers, and ends a turn with `PostToolBatch`.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from claude_agent_sdk import Transport

SERVER = "workshop"
Turn = str | list[tuple[str, str, dict[str, Any]]]
"""A text, or calls: id, tool, arguments."""


@dataclass
class Answer:
    """What the model is told of one call."""

    text: str
    ran: bool = False
    stops: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def told(self) -> str:
        return "\n".join([self.text, *self.notes])


class ScriptedCli(Transport):
    """Plays turns until one is a text, or a hook stops the run."""

    supported = True
    """Whether it honours `on_failure`; old releases do not."""
    asks_anyway = False
    """Whether a person is asked about every call, as they are about tools that nothing allows."""
    omitted: frozenset[str] = frozenset()
    """What hooks are not told, by some fault."""

    def __init__(
        self, turns: Callable[[int], Turn], required: dict[str, list[str]], session: str | None, tokens: tuple[int, int]
    ) -> None:
        self._turns = turns
        self._required = required
        self._base = {"session_id": session or uuid.uuid4().hex, "transcript_path": "", "cwd": "."}
        self._usage = {"input_tokens": tokens[0], "output_tokens": tokens[1]}
        self._sent: asyncio.Queue[Any] = asyncio.Queue()
        self._waiting: dict[str, asyncio.Future[Any]] = {}
        self._ids = itertools.count()
        self._hooks: dict[str, Any] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.agent: dict[str, str] = {}
        """What marks the calls of a sub-agent."""
        self.told: list[str | None] = []
        self.asked = 0
        self.stopped: str | None = None

    async def connect(self) -> None: ...

    def is_ready(self) -> bool:
        return True

    async def close(self) -> None:
        self._sent.put_nowait(None)

    async def end_input(self) -> None:
        self._sent.put_nowait(None)

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        while (message := await self._sent.get()) is not None:
            yield message

    async def write(self, data: str) -> None:
        message = json.loads(data)
        if message["type"] == "control_request":
            self._acknowledge(message)
        elif message["type"] == "control_response":
            self._waiting.pop(message["response"]["request_id"]).set_result(message["response"])
        elif message["type"] == "user":
            task = asyncio.get_running_loop().create_task(self._run(message["message"]["content"]))
            self._tasks.add(task)

    def _acknowledge(self, message: Any) -> None:
        if message["request"]["subtype"] == "initialize":
            self._hooks = message["request"].get("hooks") or {}
        answer = {"commands": [], "hook_on_failure_supported": self.supported}
        response = {"subtype": "success", "request_id": message["request_id"], "response": answer}
        self._sent.put_nowait({"type": "control_response", "response": response})

    async def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        name = f"cli-{next(self._ids)}"
        self._waiting[name] = asyncio.get_running_loop().create_future()
        self._sent.put_nowait({"type": "control_request", "request_id": name, "request": request})
        response: dict[str, Any] = await self._waiting[name]
        return response

    async def _hook(self, event: str, call_id: str | None = None, **fields: Any) -> list[dict[str, Any]]:
        """The outputs of an event's hooks. One that fails denies the call if its matcher says so."""
        given = {**self._base, **self.agent, "hook_event_name": event, **fields}
        if call_id is not None:
            given["tool_use_id"] = call_id
        given = {key: value for key, value in given.items() if key not in self.omitted}
        outputs = []
        for matcher in self._hooks.get(event, ()):
            for callback in matcher["hookCallbackIds"]:
                request = {"subtype": "hook_callback", "callback_id": callback, "tool_use_id": call_id, "input": given}
                response = await self._ask(request)
                if response["subtype"] == "success":
                    outputs.append(response["response"])
                elif matcher.get("onFailure") == "block":
                    outputs.append(denial(response["error"]))
        return outputs

    async def _mcp(self, method: str, **params: Any) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if not method.startswith("notifications/"):
            message["id"] = next(self._ids)
        response = await self._ask({"subtype": "mcp_message", "server_name": SERVER, "message": message})
        result: dict[str, Any] = response["response"]["mcp_response"]["result"]
        return result

    async def _meet(self) -> None:
        """What an MCP client does before it calls a tool."""
        about = {"name": "scripted", "version": "1"}
        await self._mcp("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=about)
        await self._mcp("notifications/initialized")

    async def _run(self, prompt: Any) -> None:
        await self._meet()
        await self._hook("UserPromptSubmit", prompt=prompt)
        self.stopped = None
        while self.stopped is None:
            turn = self._turns(self.asked)
            self.asked += 1
            self._say(turn)
            if isinstance(turn, str):
                await self._hook("Stop", stop_hook_active=False, last_assistant_message=turn)
                break
            await self._play(turn)
        result = {"duration_ms": 1, "duration_api_ms": 1, "is_error": False, "num_turns": self.asked}
        self._sent.put_nowait(
            {"type": "result", "subtype": "success", **result, "session_id": self._base["session_id"]}
        )

    def _say(self, turn: Turn) -> None:
        content = (
            [{"type": "text", "text": turn}]
            if isinstance(turn, str)
            else [{"type": "tool_use", "id": each, "name": name, "input": given} for each, name, given in turn]
        )
        message = {"role": "assistant", "model": "scripted", "id": f"msg-{self.asked}", "usage": self._usage}
        session = {"session_id": self._base["session_id"]}
        self._sent.put_nowait({"type": "assistant", "message": {**message, "content": content}, **session})

    async def _play(self, turn: list[tuple[str, str, dict[str, Any]]]) -> None:
        answers = await asyncio.gather(*(self._call(*each) for each in turn))
        calls = [
            {"tool_use_id": each, "tool_name": name, "tool_input": given, "tool_response": answer.text}
            for (each, name, given), answer in zip(turn, answers, strict=True)
        ]
        self.told += [each.told for each in answers]
        ended = await self._hook("PostToolBatch", tool_calls=calls)
        if any(each.stops for each in answers) or any(each.get("continue") is False for each in ended):
            self.stopped = "hook_stopped"

    async def _call(self, call_id: str, name: str, given: dict[str, Any]) -> Answer:
        if name not in self._required:
            return Answer(f"<tool_use_error>Error: No such tool available: {name}</tool_use_error>")
        if missing := [key for key in self._required[name] if key not in given]:
            return Answer(f"<tool_use_error>InputValidationError: {missing[0]} is missing</tool_use_error>")
        about = {"tool_name": name, "tool_input": given}
        before = await self._hook("PreToolUse", call_id, **about)
        decided = [each.get("hookSpecificOutput", {}) for each in before]
        for each in decided:
            if each.get("permissionDecision") == "deny":
                stops = any(output.get("continue") is False for output in before)
                return Answer(each["permissionDecisionReason"], stops=stops)
        asking = [each for each in decided if each.get("permissionDecision") == "ask"]
        if (asking or self.asks_anyway) and (refusal := await self._refusal(call_id, about, asking)):
            return Answer(refusal)
        return await self._execute(call_id, about)

    async def _refusal(self, call_id: str, about: dict[str, Any], asking: list[Any]) -> str | None:
        why = asking[0]["permissionDecisionReason"] if asking else None
        request = {"tool_name": about["tool_name"], "input": about["tool_input"], "tool_use_id": call_id}
        response = await self._ask({"subtype": "can_use_tool", **request, "decision_reason": why})
        if response["subtype"] == "error":
            return "Permission to use the tool was not granted"
        decision = response["response"]
        return None if decision["behavior"] == "allow" else str(decision["message"] or "denied")

    async def _execute(self, call_id: str, about: dict[str, Any]) -> Answer:
        name = about["tool_name"].removeprefix(f"mcp__{SERVER}__")
        result = await self._mcp("tools/call", name=name, arguments=about["tool_input"])
        text = "\n".join(each["text"] for each in result["content"])
        after = (
            await self._hook("PostToolUseFailure", call_id, **about, error=text)
            if result.get("isError")
            else await self._hook("PostToolUse", call_id, **about, tool_response=result["content"])
        )
        notes = [each.get("hookSpecificOutput", {}).get("additionalContext") for each in after]
        return Answer(text, ran=True, notes=[each for each in notes if each])


def denial(reason: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": reason}}

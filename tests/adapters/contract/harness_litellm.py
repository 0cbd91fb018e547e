"""LiteLLM: the real proxy with `MicroloopGuardrail`, between a scripted model and an agent that talks to it by HTTP."""

from __future__ import annotations

import inspect
import itertools
import json
import threading
import warnings
from collections.abc import Callable
from typing import Any

import httpx
from litellm_proxy import KEY, address, serve
from scene import Finished, Harness, Scene, Watched, call_id, turn_of

_names = itertools.count()
_registering = threading.Lock()


class LiteLlm(Harness):
    name = "LiteLLM"
    modes = ("sync", "stream")

    def play(self, scene: Scene, mode: str) -> Finished:
        # LiteLLM warns about itself in its own threads; pytest takes this back after each test.
        warnings.simplefilter("ignore")
        model = Model(scene)
        ended = run(scene, mode, serve(model), [registered(scene.guard)] if scene.attached else [])
        return Finished(model.told, model.asked, ended)


class Model:
    """Speaks the turns of a scene, and reads in each request what became of its calls before."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.asked = 0
        self.told: list[str | None] = []

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        self.told += answers(request["messages"])
        turn = turn_of(self._scene, self.asked)
        spent, given = self._scene.tokens
        usage = {"prompt_tokens": spent, "completion_tokens": given, "total_tokens": spent + given}
        message = {"role": "assistant", "content": turn} if isinstance(turn, str) else self._calls(turn)
        self.asked += 1
        return {"message": message, "usage": usage}

    def _calls(self, turn: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
        calls = [
            {
                "id": call_id(self.asked, place, same_ids=self._scene.same_ids),
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(given)},
            }
            for place, (name, given) in enumerate(turn)
        ]
        return {"role": "assistant", "content": None, "tool_calls": calls}


def answers(messages: list[dict[str, Any]]) -> list[str]:
    """What the model is told of its last calls, each of which is answered exactly once."""
    place = max((place for place, each in enumerate(messages) if each.get("tool_calls")), default=None)
    if place is None:
        return []
    told = {each["tool_call_id"]: each["content"] for each in messages[place + 1 :]}
    ids = [each["id"] for each in messages[place]["tool_calls"]]
    assert sorted(ids) == sorted(told), f"{ids} were answered by {sorted(told)}"
    assert len(messages[place + 1 :]) == len(ids)
    return [told[each] for each in ids]


def registered(guard: Watched) -> str:
    """Adds a guardrail to the running proxy; requests ask for it by name."""
    address()  # the settings that LiteLLM reads when it is imported are made there
    import litellm

    from microloop.adapters.litellm import MicroloopGuardrail

    name = f"microloop-{next(_names)}"
    with _registering:
        litellm.logging_callback_manager.add_litellm_callback(MicroloopGuardrail(guard, guardrail_name=name))
    return name


def run(scene: Scene, mode: str, model: str, guardrails: list[str]) -> str:
    """An agent: it asks, runs what it is told to, and stops when there are no calls."""
    functions = {each.__name__: each for each in scene.tools.functions()}
    messages: list[dict[str, Any]] = [{"role": "user", "content": "find something about cats"}]
    request = {"model": model, "tools": list(map(described, functions.values())), "guardrails": guardrails}
    headers = {"Authorization": f"Bearer {KEY}", **({"x-litellm-session-id": scene.run_id} if scene.run_id else {})}
    with httpx.Client(headers=headers, timeout=100) as client:
        for _ in range(100):
            message, reason = (streamed if mode == "stream" else posted)(client, {**request, "messages": messages})
            messages.append(message)
            if not message.get("tool_calls"):
                return "halted" if reason == "content_filter" else "finished"
            messages += [answered(functions, each) for each in message["tool_calls"]]
    raise AssertionError("the run does not end")


def described(function: Callable[..., Any]) -> dict[str, Any]:
    given = {name: {"type": "string"} for name in inspect.signature(function).parameters}
    schema = {"type": "object", "properties": given, "required": list(given)}
    return {"type": "function", "function": {"name": function.__name__, "parameters": schema}}


def answered(functions: dict[str, Callable[..., Any]], call: dict[str, Any]) -> dict[str, Any]:
    function = functions.get(call["function"]["name"])
    try:
        content = "Error: no such tool" if function is None else function(**json.loads(call["function"]["arguments"]))
    except OSError as error:
        content = f"Error: {error}"
    return {"role": "tool", "tool_call_id": call["id"], "content": content}


def posted(client: httpx.Client, request: dict[str, Any]) -> tuple[dict[str, Any], str]:
    response = client.post(f"{address()}/chat/completions", json=request)
    assert response.status_code == 200, response.text
    choice = response.json()["choices"][0]
    return choice["message"], choice["finish_reason"]


def streamed(client: httpx.Client, request: dict[str, Any]) -> tuple[dict[str, Any], str]:
    text, reason, calls = "", "", {}
    with client.stream("POST", f"{address()}/chat/completions", json={**request, "stream": True}) as response:
        for line in response.iter_lines():
            if not line.startswith("data: {"):
                continue
            event = json.loads(line.removeprefix("data: "))
            assert "error" not in event, event
            for choice in event["choices"]:
                text += choice["delta"].get("content") or ""
                reason = choice.get("finish_reason") or reason
                for part in choice["delta"].get("tool_calls") or ():
                    whole = calls.setdefault(
                        part["index"], {"type": "function", "function": {"name": "", "arguments": ""}}
                    )
                    whole["id"] = part.get("id") or whole["id"]
                    whole["function"]["name"] += part["function"].get("name") or ""
                    whole["function"]["arguments"] += part["function"].get("arguments") or ""
    message = {"role": "assistant", "content": text or None}
    return {**message, "tool_calls": list(calls.values())} if calls else message, reason


HARNESSES = [LiteLlm()]

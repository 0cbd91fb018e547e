"""The real LiteLLM proxy, on a port of this machine, in front of a scripted model that speaks OpenAI's protocol."""

from __future__ import annotations

import functools
import itertools
import json
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

KEY = "sk-of-the-test"
CONFIGURED = {
    "guardrail_name": "configured",
    "litellm_params": {
        "guardrail": "microloop.adapters.litellm.MicroloopGuardrail",
        "mode": ["pre_call", "post_call"],
        "policy": "strict_loop_detection",
    },
}
Model = Callable[[dict[str, Any]], dict[str, Any]]
"""Gives a message and its usage for a request."""

_names = itertools.count()
_models: dict[str, Model] = {}


def serve(model: Model) -> str:
    """Puts a model behind the proxy; the name to ask it by."""
    address()  # the settings that LiteLLM reads when it is imported are made there
    import litellm

    # One that was left here by the example, which runs in the same process, would guard these requests too.
    litellm.callbacks[:] = [each for each in litellm.callbacks if not getattr(each, "default_on", False)]
    name = f"scripted-{next(_names)}"
    _models[name] = model
    return name


class Upstream(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = _models[asked["model"]](asked)
        if asked.get("stream"):
            self.reply("text/event-stream", b"".join(events(asked, answer)))
        else:
            self.reply("application/json", json.dumps(whole(asked, answer)).encode())

    def reply(self, kind: str, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


def whole(asked: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    choice = {"index": 0, "message": answer["message"], "finish_reason": reason(answer)}
    return {**head(asked), "object": "chat.completion", "choices": [choice], "usage": answer["usage"]}


def events(asked: dict[str, Any], answer: dict[str, Any]) -> Iterator[bytes]:
    """The answer in parts: the arguments of each call come one character at a time."""
    parts: list[dict[str, Any]] = [{"role": "assistant", "content": answer["message"].get("content")}]
    for place, call in enumerate(answer["message"].get("tool_calls") or ()):
        function = call["function"]
        parts.append({"tool_calls": [{**call, "index": place, "function": {**function, "arguments": ""}}]})
        parts += [{"tool_calls": [{"index": place, "function": {"arguments": each}}]} for each in function["arguments"]]
    choices = [*({"index": 0, "delta": each} for each in parts), {"delta": {}, "finish_reason": reason(answer)}]
    for each in choices:
        yield event({**head(asked), "object": "chat.completion.chunk", "choices": [{"index": 0, **each}]})
    yield event({**head(asked), "object": "chat.completion.chunk", "choices": [], "usage": answer["usage"]})
    yield b"data: [DONE]\n\n"


def event(data: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def head(asked: dict[str, Any]) -> dict[str, Any]:
    return {"id": "chatcmpl-scripted", "created": 0, "model": asked["model"]}


def reason(answer: dict[str, Any]) -> str:
    return "tool_calls" if answer["message"].get("tool_calls") else "stop"


@functools.cache
def address() -> str:
    """Starts both servers, once in a process; the address of the proxy's API."""
    upstream = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    at = f"http://127.0.0.1:{upstream.server_port}/v1"
    route = {"model_name": "*", "litellm_params": {"model": "openai/*", "api_base": at, "api_key": "none"}}
    settings = {"model_list": [route], "guardrails": [CONFIGURED], "litellm_settings": {"num_retries": 0}}
    config = Path(tempfile.mkdtemp()) / "config.yaml"
    config.write_text(json.dumps(settings), encoding="utf-8")
    os.environ.update(
        LITELLM_MASTER_KEY=KEY, CONFIG_FILE_PATH=str(config), LITELLM_LOCAL_MODEL_COST_MAP="True", LITELLM_LOG="ERROR"
    )
    return f"http://127.0.0.1:{_started()}/v1"


def _started() -> int:
    import uvicorn
    from litellm.proxy.proxy_server import app

    ready = threading.Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            ready.set()

    server = Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    assert ready.wait(120), "the proxy did not start"
    port: int = server.servers[0].sockets[0].getsockname()[1]
    return port

"""A LiteLLM proxy with the guard as a guardrail, and an agent behind it. MODEL=gpt-5-mini asks a real model."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("LITELLM_MASTER_KEY", "sk-example")
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from fastapi.testclient import TestClient
from litellm import CustomLLM, ModelResponse

SHELF = {"cheese": "Brie, third shelf", "bread": "Rye, first shelf"}
LOOK_UP = {
    "name": "look_up",
    "description": "Find where a product stands, by a word of the catalogue.",
    "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
}


class Stubborn(CustomLLM):  # type: ignore[misc]  # where the types are checked, LiteLLM need not be installed
    """Asks for the same word until it is told not to."""

    async def acompletion(self, *_: Any, **request: Any) -> ModelResponse:
        """Answer by the last thing that it was told."""
        messages = request["messages"]
        told = str(messages[-1]["content"])
        print("the model is told:", told)
        if "shelf" in told:
            message: dict[str, Any] = {"role": "assistant", "content": f"Here it is: {told}"}
        else:
            word = "cheese" if "refused" in told else "fromage"
            function = {"name": "look_up", "arguments": json.dumps({"word": word})}
            call = {"id": f"call_{len(messages)}", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return ModelResponse(choices=[{"index": 0, "message": message}], model="stubborn")


stubborn = Stubborn()


def configuration(model: str) -> str:
    """What stands in the proxy's config.yaml."""
    guardrail = {
        "guardrail": "microloop.adapters.litellm.MicroloopGuardrail",
        "mode": ["pre_call", "post_call"],
        "default_on": True,
        "policy": "strict_loop_detection",
    }
    return json.dumps(
        {
            "model_list": [{"model_name": "clerk", "litellm_params": {"model": model}}],
            "guardrails": [{"guardrail_name": "microloop", "litellm_params": guardrail}],
        }
    )


def proxy() -> TestClient:
    """The proxy in this process; `litellm --config config.yaml` serves it to others."""
    import litellm  # noqa: PLC0415 - see above
    from litellm.proxy.proxy_server import app  # noqa: PLC0415

    litellm.custom_provider_map = [{"provider": "scripted", "custom_handler": stubborn}]
    config = Path(tempfile.mkdtemp()) / "config.yaml"
    config.write_text(configuration(os.environ.get("MODEL") or "scripted/stubborn"), encoding="utf-8")
    os.environ["CONFIG_FILE_PATH"] = str(config)
    return TestClient(app, headers={"Authorization": f"Bearer {os.environ['LITELLM_MASTER_KEY']}"})


if __name__ == "__main__":
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Where is the fromage?"}]
    with proxy() as client:
        while messages[-1]["role"] != "assistant":
            request = {"model": "clerk", "messages": messages, "tools": [{"type": "function", "function": LOOK_UP}]}
            message = client.post("/v1/chat/completions", json=request).json()["choices"][0]["message"]
            messages.append(message)
            for call in message.get("tool_calls") or ():
                word = json.loads(call["function"]["arguments"])["word"]
                found = SHELF.get(word, "nothing found")
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": found})
    print(messages[-1]["content"])

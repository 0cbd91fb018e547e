"""The JSON Schema of a smolagents tool, or of an agent that is called like one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NO_JSON = frozenset({"any", "audio", "image"})


def schema_of(tool: Any) -> dict[str, Any]:
    """What the model is shown of the arguments. Any of them may be a text: the name of one of the agent's variables.

    >>> from types import SimpleNamespace
    >>> schema_of(SimpleNamespace(inputs={"n": {"type": "integer", "description": "", "nullable": True}}))["properties"]
    {'n': {'type': ['integer', 'string', 'null']}}
    """
    return {
        "type": "object",
        "properties": {name: _property(given) for name, given in tool.inputs.items()},
        "required": [name for name, given in tool.inputs.items() if not given.get("nullable")],
        "additionalProperties": False,
    }


def _property(given: Mapping[str, Any]) -> dict[str, Any]:
    types = [given["type"]] if isinstance(given["type"], str) else list(given["type"])
    if not _NO_JSON.isdisjoint(types):
        return {}
    more = ["string", "null"] if given.get("nullable") else ["string"]
    return {"type": [*types, *(each for each in more if each not in types)]}

"""Whether the arguments are JSON and fit the tool's schema."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

from oracle.policy import Tool

Failure = tuple[str, str]


def read(tool: Tool, raw: Any) -> tuple[Any, Failure | None]:
    """The arguments and what is wrong with them: a reason, and what tells one failure from another.

    A string is the raw text of the arguments.
    """
    value = raw
    if isinstance(raw, str):
        try:
            value = json.loads(raw)
        except ValueError:
            return None, ("args.malformed", "")
    if tool.schema is None:
        return value, None
    errors = sorted(jsonschema.Draft202012Validator(tool.schema).iter_errors(value), key=lambda error: list(error.path))
    if errors:
        return value, ("args.schema", f"{errors[0].validator} {list(errors[0].path)}")
    return value, None

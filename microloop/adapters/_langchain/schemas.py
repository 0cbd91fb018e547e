"""The JSON Schema that a LangChain tool shows the model, without what the framework injects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.tools import Tool

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


def declared_schema(tool: BaseTool) -> dict[str, Any] | None:
    """The schema of a tool's arguments; None for an old single-input `Tool`, which has none of its own."""
    if isinstance(tool, Tool) and tool.args_schema is None:
        return None
    schema: Any = tool.tool_call_schema
    if isinstance(schema, dict):
        return schema
    # A pydantic 1 model has the older name.
    make = getattr(schema, "model_json_schema", None) or schema.schema
    found: dict[str, Any] = make()
    return found

"""A gate for hooks that show schemas, made anew each time, and not the tools themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from microloop.adapters._gate.gate import Gate

if TYPE_CHECKING:
    from collections.abc import Mapping


class SchemaGate(Gate):
    """Here the schema that the model is shown stands for the tool."""

    def schema_of(self, tool: Any) -> Mapping[str, Any] | None:
        """The tool itself."""
        schema: Mapping[str, Any] | None = tool
        return schema

    def declare(self, name: str, tool: Any) -> None:
        """Declares a tool unless its schema is the one that is known."""
        if name not in self._declared or self._declared[name] != tool:
            super().declare(name, tool)

"""How CrewAI is told that a call does not run, and that a run is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crewai.hooks import HookAborted
from crewai.tools.tool_failure import ToolFailure

from microloop.errors import RunHalted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from microloop.adapters._gate.calls import Entry
    from microloop.verdict import Verdict

SOURCE = "microloop"


class CrewHalted(RunHalted, HookAborted):
    """`RunHalted` in the only form that CrewAI lets out of a hook: everything else it swallows."""

    def __init__(self, verdict: Verdict) -> None:
        HookAborted.__init__(self, verdict.feedback, SOURCE)
        RunHalted.__init__(self, verdict)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.verdict,)


def failure(entry: Entry, text: str) -> ToolFailure:
    """A refused call as CrewAI reports tools that ran and failed, so that it stands in `TaskOutput.tool_failures`."""
    return ToolFailure(message=text, code=entry.verdict.reason, details={SOURCE: entry.verdict.as_dict()})


def schema_of(tool: Any) -> Mapping[str, Any] | None:
    """The schema of a tool's arguments; None for one that has no model of them."""
    if tool.args_schema is None:
        return None
    schema: Mapping[str, Any] = tool.args_schema.model_json_schema()
    return schema

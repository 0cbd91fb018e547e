"""Results of ADK's tools: a dict, or anything else, which ADK puts into a dict under `result`."""

from __future__ import annotations

from typing import Any

from google.genai import types

from microloop.adapters._gate.gate import log_advice
from microloop.verdict import Verdict

_ADVICE = "advice"


def error_of(result: Any) -> str | None:
    """The error that a tool reports in ADK's own words, `error` alone or `status` and `error_message`."""
    if not isinstance(result, dict):
        return None
    if result.get("status") == "error":
        return str(result.get("error_message") or result)
    return str(result["error"]) if set(result) == {"error"} else None


def advised(verdict: Verdict, tool: Any, result: Any) -> Any:
    """The result with the advice at its head. `result` itself is the tool's own and stays as it is."""
    if isinstance(result, types.FunctionResponse) or (getattr(tool, "is_long_running", False) and not result):
        log_advice(verdict, result)  # an empty result says that the answer comes later; it must stay empty
        return result
    if isinstance(result, str):
        return {"result": f"{verdict.feedback}\n\n{result}"}
    if isinstance(result, dict):
        return {_ADVICE: verdict.feedback, **result}
    return {_ADVICE: verdict.feedback, "result": result}

"""Finds the harnesses whose frameworks are installed here, and keeps which case each adapter passed, for the table."""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from installed import installed

# A harness module, and the packages without which it is left out.
HARNESSES = {
    "harness_langchain": ("langchain",),
    "harness_langgraph": ("langgraph",),
    "harness_crewai": ("crewai",),
    "harness_autogen": ("autogen_agentchat", "autogen_ext"),
    "harness_ag2": ("ag2",),
    "harness_ag2_classic": ("autogen",),
    "harness_openai_agents": ("agents",),
    "harness_pydantic_ai": ("pydantic_ai",),
    "harness_google_adk": ("google.adk",),
    "harness_smolagents": ("smolagents",),
    "harness_llama_index": ("llama_index.core",),
    "harness_agent_framework": ("agent_framework",),
    "harness_mcp": ("mcp.server.mcpserver",),
    "harness_fastmcp": ("fastmcp",),
    "harness_litellm": ("litellm", "fastapi_sso"),
    "harness_claude_agent_sdk": ("claude_agent_sdk",),
}


def _harnesses() -> list[Any]:
    here = [name for name, needs in HARNESSES.items() if all(map(installed, needs))]
    return [harness for name in here if installed(name) for harness in import_module(name).HARNESSES]


_FOUND = _harnesses()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "harness" in metafunc.fixturenames:
        pairs = [(harness, mode) for harness in _FOUND for mode in harness.modes]
        cases = [pytest.param(each, mode, id=f"{each.name}-{mode}", marks=_marks(each)) for each, mode in pairs]
        metafunc.parametrize(("harness", "mode"), cases)


def _marks(harness: Any) -> list[pytest.MarkDecorator]:
    return [pytest.mark.filterwarnings(f"ignore:{warning}") for warning in harness.warns]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    record = os.environ.get("MICROLOOP_CONTRACT_TABLE")
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    if record and "harness" in parameters and (call.when == "call" or report.skipped or report.failed):
        harness, mode = parameters["harness"], parameters["mode"]
        why = str(report.longrepr[2]) if report.skipped and isinstance(report.longrepr, tuple) else ""
        line = {"adapter": harness.name, "mode": mode, "case": item.originalname, "outcome": report.outcome, "why": why}
        line["line"] = item.location[1]
        with Path(record).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    return report

"""The frameworks are extras: where one is missing, its tests are left out, and the report says so."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import Any

import pytest

_NEEDS = {"test_langgraph*": "langgraph", "test_langchain*": "langchain", "test_verify_langchain*": "langchain"}
_LEFT_OUT = {tests: package for tests, package in _NEEDS.items() if find_spec(package) is None}
collect_ignore_glob = list(_LEFT_OUT)


def pytest_report_header() -> list[str]:
    return [f"left out: adapters/{tests}, {package} is not installed" for tests, package in _LEFT_OUT.items()]


@pytest.fixture(params=["invoke", "ainvoke"])
def run(request: pytest.FixtureRequest) -> Any:
    """`run(graph, "hello")` in both ways in which a graph is run."""

    def runner(graph: Any, said: Any = "hello", config: Any = None) -> Any:
        given = {"messages": [("user", said)]} if isinstance(said, str) else said
        if request.param == "invoke":
            return graph.invoke(given, config)
        return asyncio.run(graph.ainvoke(given, config))

    return runner

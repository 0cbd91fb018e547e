"""Functions that become LangChain tools, annotated with objects: some parameters are LangGraph's to fill in."""

import dataclasses
from typing import Annotated, Any, Optional

from langchain.tools import ToolRuntime
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolArg, InjectedToolCallId
from langgraph.prebuilt import InjectedState, InjectedStore
from pydantic import BaseModel, Field


class Filter(BaseModel):
    """A model of the user's."""

    field: str
    value: int = 0


@dataclasses.dataclass
class Point:
    x: int


def plain(query: str, limit: int = 10) -> str:
    """Search for something."""
    return f"{query}:{limit}"


async def coroutine(query: str, limit: int = 10) -> str:
    """Search for something, slowly."""
    return f"{query}:{limit}"


def model(filters: list[Filter], first: Optional[Filter] = None) -> str:  # noqa: UP045 - one of the ways to write it
    """Search with filters."""
    return ",".join(f"{each.field}={each.value}" for each in [*filters, *([first] if first else [])])


def point(at: Point) -> str:
    """Look at a point."""
    return f"{at}"


def annotated(query: Annotated[str, Field(description="what to look for", min_length=2)]) -> str:
    """Search with words."""
    return query


def injected_config(query: str, config: RunnableConfig) -> str:
    """Search as somebody."""
    return f"{query}:{config['configurable'].get('user')}"


def injected_id(query: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Search and say which call it was."""
    return f"{query}:{call_id}"


def injected_argument(query: str, secret: Annotated[str, InjectedToolArg] = "secret") -> str:
    """Search with something that the model does not see."""
    return f"{query}:{secret}"


def injected_state(query: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
    """Search, knowing the conversation."""
    return f"{query}:{len(state['messages'])}"


def injected_store(query: str, store: Annotated[Any, InjectedStore]) -> str:
    """Search in the store."""
    return f"{query}:{store is not None}"


def injected_runtime(query: str, runtime: ToolRuntime) -> str:
    """Search with everything at hand."""
    return f"{query}:{runtime.tool_call_id}"


CALLS = [
    (plain, {"query": "cats"}),
    (coroutine, {"query": "cats", "limit": 3}),
    (model, {"filters": [{"field": "a"}], "first": {"field": "b", "value": 2}}),
    (point, {"at": {"x": 1}}),
    (annotated, {"query": "cats"}),
    (injected_config, {"query": "cats"}),
    (injected_argument, {"query": "cats"}),
]
IN_GRAPH = [
    *CALLS,
    (injected_id, {"query": "cats"}),
    (injected_state, {"query": "cats"}),
    (injected_store, {"query": "cats"}),
    (injected_runtime, {"query": "cats"}),
]

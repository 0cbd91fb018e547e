"""The run that a hook is called in, where LangGraph cannot say so by itself.

Before Python 3.11 a task is not started in a context of one's choice, and in async nodes LangGraph's config is missing
from it: `get_config`, `get_runtime` and `interrupt` fail there. What was passed along by hand takes its place.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from langchain_core.runnables.config import var_child_runnable_config

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langchain_core.runnables import RunnableConfig
    from langgraph.runtime import Runtime


@contextmanager
def within(config: RunnableConfig | None) -> Iterator[None]:
    """Makes a config the current one, if there is none."""
    if config is None or var_child_runnable_config.get() is not None:
        yield
        return
    token = var_child_runnable_config.set(config)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def config_of(runtime: Runtime[Any]) -> RunnableConfig:
    """What LangGraph's config would say of the run, as far as a node's runtime knows it."""
    info = runtime.execution_info
    return {"configurable": {"thread_id": None if info is None else info.thread_id, "__pregel_runtime": runtime}}

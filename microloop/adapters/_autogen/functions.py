"""Plain functions as tools: AutoGen runs them in threads that know nothing of the current session."""

from __future__ import annotations

import asyncio
import functools
import inspect
import typing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def in_context(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as a coroutine function that runs it in a thread with the caller's context variables."""
    if inspect.iscoroutinefunction(function) or not inspect.isroutine(function):
        return function
    try:
        # AutoGen looks annotations that are strings up in the module of the function that it is given.
        annotations = typing.get_type_hints(function, include_extras=True)
    except NameError:
        return function

    @functools.wraps(function)
    async def run(*args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(function, *args, **kwargs)

    run.__annotations__ = annotations
    return run

"""Calls that a node was allowed to make: a decorator of the same guard on one of its tools lets each pass once."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from microloop.coverage import passage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from microloop.guardrail import Guardrail


class _Passages:
    """What `coverage` asks of a passage, for several calls at once."""

    def __init__(self, guard: Guardrail, names: list[str]) -> None:
        self._guard = guard
        self._names = names
        self._lock = threading.Lock()
        self.used = False

    def is_for(self, guard: Guardrail, name: str, function: object) -> bool:
        """Whether a call of that name is still to come; it is counted off."""
        del function
        with self._lock:
            if guard is not self._guard or name not in self._names:
                return False
            self._names.remove(name)
            return True


@contextmanager
def checked_by_node(guard: Guardrail, names: list[str]) -> Iterator[None]:
    """Around the running of a node whose calls have been checked."""
    token = passage.set(cast("Any", _Passages(guard, names)))
    try:
        yield
    finally:
        passage.reset(token)

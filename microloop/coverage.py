"""Which tools are guarded, and who says so twice: a call is counted once however many hooks it passes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

from microloop.ambient import bodies

if TYPE_CHECKING:
    from microloop.guardrail import Guardrail


class Covered(NamedTuple):
    """A tool, the hook that guards it, and where that hook sits."""

    tool: str
    hook: str
    where: str = ""


class Coverage:
    """The hooks of one guard."""

    __slots__ = ("_hooks",)

    def __init__(self) -> None:
        self._hooks: dict[Covered, None] = {}

    def add(self, covered: Covered) -> None:
        """Notes a hook."""
        self._hooks[covered] = None

    def all(self) -> list[Covered]:
        """Every hook, in the order in which they were attached."""
        return list(self._hooks)


class _Passage:
    """A call that an outer hook has checked and will record, until the inner hook has let it pass."""

    __slots__ = ("guard", "name", "tool", "used")

    def __init__(self, guard: Guardrail, name: str, tool: object) -> None:
        self.guard = guard
        self.name = name
        self.tool = tool
        self.used = False

    def is_for(self, guard: Guardrail, name: str, function: object) -> bool:
        if self.used or self.guard is not guard:
            return False
        return self.name == name or any(body is function for body in bodies(self.tool))


passage: ContextVar[_Passage | None] = ContextVar("microloop.passage", default=None)


@contextmanager
def checked_by_outer_hook(guard: Guardrail, name: str, tool: object = None) -> Iterator[None]:
    """Around the running of a tool that an adapter has checked: a decorator of the same guard inside lets it pass.

    The decorator belongs to the tool if it has the same name, or is on a function that the tool object runs.
    """
    token = passage.set(_Passage(guard, name, tool))
    try:
        yield
    finally:
        passage.reset(token)


def take_passage(guard: Guardrail, name: str, function: object) -> bool:
    """Whether an outer hook of this guard has checked the call that is being made. It holds for one call."""
    found = passage.get()
    if found is None or not found.is_for(guard, name, function):
        return False
    found.used = True
    return True

"""Functions of every shape that tools have, annotated with objects. See `tool_shapes_future` for the same as text."""

import dataclasses
import typing

from microloop import Guardrail


@dataclasses.dataclass
class Filter:
    field: str
    value: int = 0


def plain(query: str, limit: int = 10) -> str:
    """Search for something."""
    return f"{query}:{limit}"


async def coroutine(query: str, limit: int = 10) -> str:
    """Search for something, slowly."""
    return f"{query}:{limit}"


def annotated(query: typing.Annotated[str, "what to look for"], *, deep: bool = False) -> list[str]:
    """Search with words."""
    return [query, str(deep)]


def model(filters: list[Filter], first: typing.Optional[Filter] = None) -> int:  # noqa: UP045 - one of the ways
    """Search with filters."""
    return len(filters) + (first is not None)


def generator(query: str) -> typing.Iterator[str]:
    """Search and give one after the other."""
    yield query


async def async_generator(query: str) -> typing.AsyncIterator[str]:
    """Search and give one after the other, slowly."""
    yield query


def everything(a: int, b: int = 2, /, c: int = 3, *rest: int, d: int, e: int = 5, **more: int) -> int:
    """Take all kinds of parameters."""
    return sum([a, b, c, *rest, d, e, *more.values()])


def nothing():
    return None


SHAPES = [plain, coroutine, annotated, model, generator, async_generator, everything, nothing]
GUARD = Guardrail()


@GUARD.verify
def guarded_search(query: str) -> str:
    """Search, guarded."""
    return query

"""Functions of every shape that tools have, annotated with text that has to be resolved here, in this module."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Annotated, Optional

if TYPE_CHECKING:
    from decimal import Decimal


@dataclasses.dataclass
class Choice:
    """A type that no other module knows."""

    field: str
    value: int = 0


def plain(query: str, limit: int = 10) -> str:
    """Search for something."""
    return f"{query}:{limit}"


async def coroutine(choice: Choice, limit: int = 10) -> str:
    """Search for something, slowly."""
    return f"{choice.field}:{limit}"


def annotated(query: Annotated[str, "what to look for"], *, deep: bool = False) -> list[str]:
    """Search with words."""
    return [query, str(deep)]


def model(choices: list[Choice], first: Optional[Choice] = None) -> int:  # noqa: UP045 - one of the ways to write it
    """Search with choices."""
    return len(choices) + (first is not None)


def generator(query: str) -> Iterator[str]:
    """Search and give one after the other."""
    yield query


async def async_generator(query: str) -> AsyncIterator[str]:
    """Search and give one after the other, slowly."""
    yield query


SHAPES = [plain, coroutine, annotated, model, generator, async_generator]


def for_type_checkers(amount: Decimal) -> str:
    """Take what exists for type checkers only."""
    return str(amount)

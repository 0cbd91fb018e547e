"""What a user's type checker sees of decorated functions. Checked by mypy --strict; every ignore has to be needed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

from typing_extensions import assert_type

from microloop import Guardrail

guard = Guardrail(policy="strict_loop_detection", on_block="raise")


@guard.verify
def search(query: str, *, limit: int = 10) -> list[str]:
    """Keep the signature."""
    return [query] * limit


@guard.verify
async def fetch(url: str) -> bytes:
    """Stay a coroutine function."""
    return url.encode()


@guard.verify
def rows(sql: str) -> Iterator[int]:
    """Stay a generator."""
    yield len(sql)


@guard.verify
async def pages(url: str) -> AsyncIterator[int]:
    """Stay an async generator."""
    yield len(url)


@guard.verify(name="db.query", schema={"type": "object"})
def query(sql: str) -> int:
    """Keep the signature with options too."""
    return len(sql)


class Database:
    """Methods of every kind."""

    @guard.verify
    def query(self, sql: str) -> int:
        return len(sql)

    @classmethod
    @guard.verify
    def open(cls, path: str) -> Database:
        return cls()

    @staticmethod
    @guard.verify(schema=False)
    def quote(text: str) -> str:
        return text


assert_type(search("cats", limit=3), list[str])
assert_type(rows("select"), Iterator[int])
assert_type(pages("url"), AsyncIterator[int])
assert_type(query("select"), int)
assert_type(Database().query("select"), int)
assert_type(Database.open("x.db"), Database)
assert_type(Database.quote("x"), str)

handed_on: Callable[[str], int] = query
awaited: Callable[[str], Coroutine[Any, Any, bytes]] = fetch

search(1)  # type: ignore[arg-type]
search("cats", limit="3")  # type: ignore[arg-type]
search("cats", depth=3)  # type: ignore[call-arg]
query()  # type: ignore[call-arg]
Database().query(1)  # type: ignore[arg-type]
guard.verify(name=1)  # type: ignore[call-overload]
Guardrail(on_block="explode")  # type: ignore[arg-type]


async def main() -> None:
    """Await what is to be awaited."""
    assert_type(await fetch("url"), bytes)

"""The tools of the contract: plain functions, from which each harness makes tools of its framework."""

import threading
from collections.abc import Callable
from typing import Any


class Workshop:
    """Five tools, and a list of which of them really ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.gate = threading.Event()
        """`slow` waits until this is set."""
        self.started = threading.Event()
        """Set when `slow` has begun."""
        self.release: Callable[[], None] = lambda: None
        """Called by `search` each time it runs."""

    def functions(self, *, asynchronous: bool = False) -> list[Callable[..., Any]]:
        """The tools as plain functions, or as coroutine functions."""
        return self._coroutines() if asynchronous else self._plain()

    def _search(self, query: str) -> str:
        self.ran.append("search")
        self.release()
        return f"nothing about {query}"

    def _read_page(self, url: str) -> str:
        self.ran.append("read_page")
        return f"{url} is an empty page"

    def _broken(self, path: str) -> str:
        self.ran.append("broken")
        raise OSError(f"no such volume: {path.split('/')[1]}")

    def _flaky(self, query: str) -> str:
        self.ran.append("flaky")
        if self.ran.count("flaky") == 1:
            raise ConnectionError("the line is down")
        return f"nothing about {query}"

    def _slow(self, query: str) -> str:
        self.ran.append("slow")
        self.started.set()
        assert self.gate.wait(60), "nobody released the slow tool"
        return f"at last something about {query}"

    def _plain(self) -> list[Callable[..., Any]]:
        def search(query: str) -> str:
            """Search the web for a query.

            Args:
                query: What to search for.
            """
            return self._search(query)

        def read_page(url: str) -> str:
            """Read a page of the web.

            Args:
                url: The address of the page.
            """
            return self._read_page(url)

        def broken(path: str) -> str:
            """Read a file.

            Args:
                path: The path of the file.
            """
            return self._broken(path)

        def slow(query: str) -> str:
            """Search thoroughly.

            Args:
                query: What to search for.
            """
            return self._slow(query)

        def flaky(query: str) -> str:
            """Search over a bad line.

            Args:
                query: What to search for.
            """
            return self._flaky(query)

        return [search, read_page, broken, slow, flaky]

    def _coroutines(self) -> list[Callable[..., Any]]:
        async def search(query: str) -> str:
            """Search the web for a query.

            Args:
                query: What to search for.
            """
            return self._search(query)

        async def read_page(url: str) -> str:
            """Read a page of the web.

            Args:
                url: The address of the page.
            """
            return self._read_page(url)

        async def broken(path: str) -> str:
            """Read a file.

            Args:
                path: The path of the file.
            """
            return self._broken(path)

        async def slow(query: str) -> str:
            """Search thoroughly.

            Args:
                query: What to search for.
            """
            import asyncio

            return await asyncio.to_thread(self._slow, query)

        async def flaky(query: str) -> str:
            """Search over a bad line.

            Args:
                query: What to search for.
            """
            return self._flaky(query)

        return [search, read_page, broken, slow, flaky]

"""A small shop in SQLite, and the one tool that the demo's agent has: a real database, asked with real SQL."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.tools import BaseTool, ToolException, tool

if TYPE_CHECKING:
    from typing_extensions import Self

QUESTION = "What was our revenue in Norway in 2024, in euros?"

SCHEMA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers, placed TEXT NOT NULL,
                     cents INTEGER NOT NULL);
"""

# The country is kept as an ISO code. An agent that does not look will ask for 'Norway', and get nothing.
CUSTOMERS = [
    (1, "Fjord Kaffe", "NO"),
    (2, "Berliner Bohne", "DE"),
    (3, "Oslo Bakeri", "NO"),
    (4, "Stockholms Te", "SE"),
]

ORDERS = [
    (1, 1, "2023-11-20", 41_000),
    (2, 2, "2024-01-15", 98_500),
    (3, 1, "2024-02-03", 12_450),
    (4, 3, "2024-03-18", 30_999),
    (5, 4, "2024-05-22", 77_120),
    (6, 3, "2024-08-09", 5_001),
    (7, 1, "2024-12-30", 64_250),
    (8, 3, "2025-01-02", 19_900),
]


class Shop:
    """The database file, gone when the `with` block ends."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="shop-")
        self._file = Path(self._folder.name) / "shop.db"
        with closing(sqlite3.connect(self._file)) as database, database:
            database.executescript(SCHEMA)
            database.executemany("INSERT INTO customers VALUES (?, ?, ?)", CUSTOMERS)
            database.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", ORDERS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """Run one query, read-only: whoever asks, nothing is changed."""
        with closing(sqlite3.connect(f"{self._file.as_uri()}?mode=ro", uri=True)) as database:
            return database.execute(sql).fetchmany(50)

    def revenue(self, country: str, year: int) -> float:
        """What the agent should find out, in euros."""
        customers = {number for number, _, home in CUSTOMERS if home == country}
        orders = [cents for _, who, placed, cents in ORDERS if who in customers and placed.startswith(f"{year}-")]
        return sum(orders) / 100

    def tool(self) -> BaseTool:
        """The agent's tool."""

        @tool
        def query_database(sql: str) -> str:
            """Run a read-only SQL query (SQLite) on the shop database. Tables: customers, orders."""
            try:
                return json.dumps(self.rows(sql))
            except sqlite3.Error as error:
                raise ToolException(f"{type(error).__name__}: {error}") from error

        query_database.handle_tool_error = True  # the model reads the database's message and can correct its query
        return query_database

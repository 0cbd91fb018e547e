"""The example of the README, with a database behind it."""

from __future__ import annotations

import sqlite3

from langchain.tools import tool

from microloop import Guardrail

db = sqlite3.connect(":memory:", check_same_thread=False)
db.execute("CREATE TABLE visits (day TEXT, guests INTEGER)")
db.execute("INSERT INTO visits VALUES ('monday', 12), ('tuesday', 30)")

guard = Guardrail(policy="strict_loop_detection")


@tool
@guard.verify
def query_database(sql: str) -> str:
    """Executes a SQL query."""
    return str(db.execute(sql).fetchall())


if __name__ == "__main__":
    with guard.session("run-7"):
        for _ in range(4):
            print(query_database.invoke({"sql": "SELECT guests FROM visits WHERE day = 'sunday'"}))

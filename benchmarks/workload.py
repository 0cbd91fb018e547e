"""The one workload that every row works on: distinct calls of one tool, its JSON Schema, and ten rules about it."""

from typing import Any

TOOL = "query_database"

# Each call and each outcome is new, as in a run that gets somewhere: no detector may have anything to say.
CALLS = 4096


def arguments(number: int) -> dict[str, Any]:
    """Return the arguments of one call: 120 bytes as compact JSON."""
    sql = f"SELECT id, total, state FROM orders WHERE customer = {number:08d} ORDER BY placed_at"  # noqa: S608 - text
    return {"sql": sql, "limit": 50, "database": "sales"}


def outcome(number: int) -> str:
    """Return what the tool answers to that call."""
    return f'[{{"id": {number * 7 + 1}, "total": "{number}.50"}}, {{"id": {number * 7 + 4}, "total": "18.00"}}]'


SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "sql": {"type": "string", "minLength": 1, "maxLength": 2000},
        "limit": {"type": "integer", "minimum": 1, "maximum": 1000},
        "database": {"type": "string", "enum": ["sales", "stock", "staff"]},
    },
    "required": ["sql", "limit"],
    "additionalProperties": False,
}

# What the SQL must not hold; shared with the peers that know only "this pattern is forbidden".
FORBIDDEN_SQL = (
    r"(?i)\bdrop\s+(table|database|schema)\b",
    r"(?i)\btruncate\b",
    r"(?i)\bdelete\s+from\b",
    r"(?i)\bupdate\s+\w+\s+set\b",
    r"(?i)\bgrant\b",
    r"(?i)\binto\s+outfile\b",
    r"(?i)\bpg_sleep\b",
)
RULES: list[dict[str, Any]] = [
    *({"id": f"sql-{n}", "path": "sql", "deny": {"regex": pattern}} for n, pattern in enumerate(FORBIDDEN_SQL)),
    {"id": "known-database", "path": "database", "require": {"one_of": ["sales", "stock", "staff"]}},
    {"id": "small-page", "path": "limit", "require": {"range": {"min": 1, "max": 500}}},
    {"id": "short-query", "path": "sql", "require": {"max_length": 1000}},
]

# The loop limits of `balanced`, without its halts: a row that measures refusals needs a session that lives on.
POLICY: dict[str, Any] = {
    "version": 1,
    "name": "benchmark",
    "loops": {
        "repeat": {"warn": 3, "block": 5},
        "write": {"warn": 2, "block": 3},
        "cycle": {"warn": 3, "block": 4},
        "error": {"warn": 3, "block": 6},
        "near": {"warn": 5},
        "stall": {"warn": 8},
        "recur": {"warn": 6},
    },
    "tools": [{"match": TOOL, "effect": "read", "rules": RULES}],
    "budgets": {"calls": 1_000_000_000_000},
}

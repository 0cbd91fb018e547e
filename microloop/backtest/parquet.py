"""Steps out of Parquet: a row a step, the columns named as the keys of microloop's own lines. DuckDB reads it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from microloop.recorded import BrokenLine, Line, step_of

_BATCH = 2048


def read_parquet(path: Path, noted: dict[str, object], field: str) -> Iterator[Line]:
    """The steps, and the rows that are none; outcomes are noted by run id."""
    counts: dict[str, int] = {}
    for number, row in enumerate(rows(path), 1):
        outcome = row.pop(field, None)
        if outcome is not None:
            noted[str(row.get("run_id") or "")] = outcome
        try:
            yield step_of(row, counts)
        except (ValueError, OverflowError) as error:
            yield BrokenLine(number, str(error))


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows as mappings, without the columns that are null in them."""
    duckdb = _duckdb()
    with duckdb.connect() as connection:
        try:
            table = connection.execute("SELECT * FROM read_parquet(?)", [str(path)])
        except duckdb.Error as error:
            raise ValueError(f"not Parquet: {error}") from None
        names = [column[0] for column in table.description]
        while batch := table.fetchmany(_BATCH):
            for values in batch:
                yield {
                    name: _without_nulls(value) for name, value in zip(names, values, strict=True) if value is not None
                }


def _without_nulls(value: Any) -> Any:
    """A column of mappings has the keys of all rows in each of them."""
    return {key: each for key, each in value.items() if each is not None} if isinstance(value, dict) else value


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise ValueError('Parquet needs the package duckdb: pip install "microloop[backtest]"') from None
    return duckdb

"""Parquet files, through DuckDB, which works within a bounded memory and spills to disk."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_FETCHED: Final = 1_000


def connected(spill: Path, megabytes: int) -> DuckDBPyConnection:
    """A database of nothing but files, of at most so many ``megabytes``; what is more goes into ``spill``."""
    # Only triage needs it, and it is an extra.
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET memory_limit = '{megabytes:d}MB'")
    connection.execute("SET threads = 1")
    connection.execute(f"SET temp_directory = {quoted(spill)}")
    return connection


def quoted(value: Path | str) -> str:
    """``value`` as a literal of SQL, for statements that take no parameters."""
    return "'" + str(value).replace("'", "''") + "'"


def name(connection: DuckDBPyConnection, view: str, paths: Sequence[Path]) -> None:
    """From now on ``view``, a word of ours, is what the Parquet files at ``paths`` hold."""
    connection.execute(f"CREATE OR REPLACE VIEW {view} AS FROM read_parquet([{', '.join(map(quoted, paths))}])")


def rows_of(connection: DuckDBPyConnection, query: str, parameters: Sequence[Any] = ()) -> Iterator[dict[str, Any]]:
    """The rows that ``query`` finds, by column, some at a time."""
    found = connection.cursor().execute(query, list(parameters))
    names = [column[0] for column in found.description or ()]
    while batch := found.fetchmany(_FETCHED):
        for row in batch:
            yield dict(zip(names, row, strict=True))


def write_rows(
    connection: DuckDBPyConnection, path: Path, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Write ``rows`` to the Parquet file at ``path``, whole or not at all; ``columns`` are names and types."""
    # One value for all of them: row by row takes a hundred times as long.
    listed = "SELECT unnest(from_json(?, ?), recursive := true)"
    described = json.dumps([dict(columns)])
    source = listed if rows else f"{listed} LIMIT 0"
    values = list(rows) or [dict.fromkeys(columns)]
    write_query(connection, path, source, [json.dumps(values), described])


def write_query(connection: DuckDBPyConnection, path: Path, query: str, parameters: Sequence[Any] = ()) -> None:
    """Write what ``query`` finds to the Parquet file at ``path``, whole or not at all."""
    temporary = path.with_name(f"{path.name}.part")
    connection.execute(f"COPY ({query}) TO {quoted(temporary)} (FORMAT parquet, COMPRESSION zstd)", list(parameters))
    temporary.replace(path)

"""Parquet files, through DuckDB, which works within bounded memory and spills to disk."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SPILL: Final = "spill-"
PART: Final = ".part"
_FETCHED: Final = 1_000
_SHARDS: Final = 4
"""Shards for each process at least: none has to wait long for the others at the end."""
_CHARACTERS: Final = 4_000_000
"""Characters of a shard, without its last query: memory is bounded even if queries are long."""
_connections = itertools.count()


def connected(work: Path | None, megabytes: int) -> DuckDBPyConnection:
    """A database without tables of its own, of at most this many ``megabytes``.

    It spills what exceeds them into a folder of its own in ``work``: two databases that share one overwrite each
    other's files.  Without ``work`` it fails instead.
    """
    # Only triage needs it, and it is an extra.
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET memory_limit = '{megabytes:d}MB'")
    connection.execute("SET threads = 1")
    spill = "" if work is None else spill_folder(work)
    connection.execute(f"SET temp_directory = {quoted(spill or '')}")
    return connection


def spill_folder(work: Path) -> Path:
    """The name of a folder in ``work`` that nothing else uses: the next command removes it if this one is killed."""
    return work.absolute() / f"{SPILL}{os.getpid()}-{next(_connections)}"


def shards(work: Path, part: str) -> list[Path]:
    """The shards of this ``part`` of the folder ``work``, in order."""
    return sorted((work / part).glob("*.parquet"))


def quoted(value: Path | str) -> str:
    """``value`` as a literal of SQL, for statements that take no parameters."""
    return "'" + str(value).replace("'", "''") + "'"


def file_name(path: Path) -> str:
    """``path`` as a literal that names exactly this file: as read by DuckDB, ``*``, ``?`` and ``[`` would
    be a pattern.
    """
    # Absolute, so that `~` and what looks like a URL scheme are ordinary parts of the path.
    return quoted(re.sub(r"[*?\[]", r"[\g<0>]", str(path.absolute())))


def identifier(name: str) -> str:
    """The column ``name`` as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def name(
    connection: DuckDBPyConnection, view: str, paths: Sequence[Path], *, numbered: bool = False, where: str = ""
) -> None:
    """Define ``view`` as the rows of the Parquet files at ``paths``; ``view`` and ``where`` must not come from input.

    ``numbered``: with a column ``file_row_number``, from 0.  ``where``: only the rows with this condition.
    """
    names = ", ".join(map(file_name, paths))
    # Otherwise folders such as `a=1` would add a column.
    read = f"read_parquet([{names}], hive_partitioning = false{', file_row_number = true' if numbered else ''})"
    connection.execute(f"CREATE OR REPLACE VIEW {view} AS FROM {read}" + (f" WHERE {where}" if where else ""))


def row_count(connection: DuckDBPyConnection, path: Path) -> int:
    """The number of rows in the metadata of the Parquet file at ``path``."""
    (found,) = rows_of(connection, f"SELECT num_rows FROM parquet_file_metadata({file_name(path)})")
    return int(found["num_rows"])


def rows_of(
    connection: DuckDBPyConnection, query: str, parameters: Sequence[Any] = (), fetched: int = _FETCHED
) -> Iterator[dict[str, Any]]:
    """The rows of ``query``, by column, ``fetched`` at a time."""
    found = connection.cursor().execute(query, list(parameters))
    names = [column[0] for column in found.description or ()]
    while batch := found.fetchmany(fetched):
        for row in batch:
            yield dict(zip(names, row, strict=True))


def columns_of(connection: DuckDBPyConnection, query: str, fetched: int) -> Iterator[tuple[tuple[Any, ...], ...]]:
    """The columns of ``query``, ``fetched`` rows at a time."""
    found = connection.cursor().execute(query)
    while batch := found.fetchmany(fetched):
        yield tuple(zip(*batch, strict=True))


class RowFiles:
    """Files of rows in a ``folder`` of their own, each of which is read once, row by row, and then removed.

    The database cannot do it: what it sorts together with lists and texts has to fit into its memory.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count()

    def __enter__(self) -> RowFiles:
        self._folder.mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder)

    def write(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Write ``rows`` to a file; returns them, to be read from there when they are asked for."""
        path = self._folder / f"{next(self._numbers)}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(row)}\n" for row in rows)
        return self._read(path)

    def _read(self, path: Path) -> Iterator[dict[str, Any]]:
        with path.open(encoding="utf-8") as file:
            yield from map(json.loads, file)
        path.unlink()


def write_rows(
    connection: DuckDBPyConnection, path: Path, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Write ``rows`` to the Parquet file at ``path``, completely or not at all; ``columns`` are names and types."""
    # One parameter with all rows: row by row takes a hundred times as long.
    listed = "SELECT unnest(from_json(?, ?), recursive := true)"
    described = json.dumps([dict(columns)])
    source = listed if rows else f"{listed} LIMIT 0"
    values = list(rows) or [dict.fromkeys(columns)]
    write_query(connection, path, source, [json.dumps(values), described])


def write_query(connection: DuckDBPyConnection, path: Path, query: str, parameters: Sequence[Any] = ()) -> None:
    """Write the result of ``query`` to the Parquet file at ``path``, completely or not at all."""
    # The name contains the process id: a process that outlives its parent may still write the same file.
    temporary = path.with_name(f"{path.name}.{os.getpid()}{PART}")
    try:
        connection.execute(
            f"COPY ({query}) TO {quoted(temporary.absolute())} (FORMAT parquet, COMPRESSION zstd)", list(parameters)
        )
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def emptied(folder: Path) -> Path:
    """``folder``, without the Parquet files of an earlier run."""
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.parquet"):
        path.unlink()
    return folder


def rows_of_shard(rows: int, most: int, processes: int) -> int:
    """How many of so many ``rows`` are in a shard: ``most`` or so few that the ``processes`` share the work."""
    return min(most, rows // (_SHARDS * processes) + 1)


def in_shards(rows: Iterable[dict[str, Any]], most: int) -> Iterator[list[dict[str, Any]]]:
    """``rows`` in shards of ``most``, of fewer if their texts are long; one empty shard if there are none."""
    found: list[dict[str, Any]] = []
    characters = number = 0
    for row in rows:
        found.append(row)
        characters += sum(map(len, row["turns"]))
        if len(found) == most or characters > _CHARACTERS:
            yield found
            found, characters = [], 0
            number += 1
    if found or not number:
        yield found

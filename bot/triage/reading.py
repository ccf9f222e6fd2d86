"""Rows of production traffic from Parquet, JSON Lines and CSV files, one at a time and always in the same order."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, cast

from bot.config import Limits
from bot.errors import InputError, Problem, UsageError, foreign_list
from bot.masking import masked
from bot.suggest import perhaps
from bot.triage.tables import connected, name, rows_of

QUERY_COLUMNS: Final = ("query", "question", "prompt", "text", "input", "message", "utterance", "turns", "messages")
ID_COLUMNS: Final = ("id", "query_id", "request_id", "conversation_id", "trace_id")
_LONGEST_ID: Final = 200
_FIX: Final = "mend the row, or leave it: the others were read"


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns of the inputs hold what; ``query`` and ``id`` by their usual names if not named."""

    query: str | None = None
    id: str | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One query of the traffic; ``place`` counts from 0 over all rows of all inputs, ``row`` from 1 in its file."""

    place: int
    file: str
    row: int
    id: str | None
    agent: str
    turns: tuple[str, ...]


def read_rows(
    inputs: Sequence[Path], columns: Columns, agents: frozenset[str], limits: Limits, megabytes: int
) -> Iterator[Row | Problem]:
    """Each row of ``inputs``, in their order, or what is wrong with it.

    ``agents`` are the names that an agent's column may hold; without that column the only one.  Raises
    :class:`InputError` where a column is missing or a file is none that can be read.
    """
    place = 0
    for path in inputs:
        found: tuple[str, str | None] | None = None
        for row, record in _records(path, limits, megabytes):
            if isinstance(record, str):
                yield Problem(str(path), row, record, _FIX)
            else:
                if found is None or (columns.query is None and found[0] not in record):
                    found = _columns(path, record, columns)
                yield _row(place, path, row, record, found, columns.agent, agents, limits)
            place += 1


def _row(
    place: int,
    path: Path,
    row: int,
    record: Mapping[str, Any],
    found: tuple[str, str | None],
    agent_column: str | None,
    agents: frozenset[str],
    limits: Limits,
) -> Row | Problem:
    turns = turns_of(record.get(found[0]))
    if isinstance(turns, str):
        return Problem(str(path), row, f"{found[0]}: {turns}", _FIX)
    if len(turns) > limits.turns or any(len(turn) > limits.turn_characters for turn in turns):
        fix = "shorten it, or raise limits.turns and limits.turn_characters in config/curation.yaml"
        return Problem(str(path), row, "the query is longer than the limits", fix)
    agent = next(iter(agents)) if agent_column is None else record.get(agent_column)
    if not isinstance(agent, str) or agent not in agents:
        return Problem(str(path), row, f"there is no agent {agent!r}", f"name one of {foreign_list(sorted(agents))}")
    id = _id(None if found[1] is None else record.get(found[1]))
    return Row(place=place, file=path.name, row=row, id=id, agent=agent, turns=turns)


def _id(value: object) -> str | None:
    """The row's own id, if it has one that can be shown as it is."""
    id = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    is_name = isinstance(id, str) and bool(id.strip()) and id.isprintable() and masked(id) == id
    return str(id) if is_name and len(str(id)) <= _LONGEST_ID else None


def turns_of(value: object) -> tuple[str, ...] | str:
    """What a cell says the user said, turn by turn, or what is wrong with it.

    A text is one turn, unless it is the JSON of a list; a list holds turns, or messages, of which the user's count.
    """
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            listed = json.loads(value)
        except (ValueError, RecursionError):
            listed = value
        value = listed if isinstance(listed, list) and _is_turns(listed) else value
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not _is_turns(value):
        return "this is no text, no list of texts and no list of messages"
    turns = tuple(
        item if isinstance(item, str) else item["content"]
        for item in value
        if isinstance(item, str) or item.get("role") == "user"
    )
    if not turns or not all(turn.strip() for turn in turns):
        return "the user says nothing"
    if any("\ud800" <= sign <= "\udfff" or sign == "\0" for turn in turns for sign in turn):
        return "it holds a sign that no file can hold"
    return turns


def _is_turns(listed: list[object]) -> bool:
    return bool(listed) and all(
        isinstance(item, str) or (isinstance(item, dict) and isinstance(item.get("content"), str)) for item in listed
    )


def _columns(path: Path, record: Mapping[str, Any], wanted: Columns) -> tuple[str, str | None]:
    """The columns of query and id; raises :class:`InputError` where one is missing."""
    there = [str(name) for name in record]
    problems = []
    query = wanted.query or next((name for name in QUERY_COLUMNS if name in record), None)
    for option, column in (("--query-column", query), ("--id-column", wanted.id), ("--agent-column", wanted.agent)):
        if column is None and option == "--query-column":
            problems.append(_missing(path, f"no column is called {' or '.join(QUERY_COLUMNS)}", option, there))
        elif column is not None and column not in record:
            problems.append(_missing(path, f"there is no column {column}{perhaps(column, there)}", option, there))
    if query is None or problems:
        raise InputError(problems)
    return query, wanted.id or next((name for name in ID_COLUMNS if name in record), None)


def _missing(path: Path, message: str, option: str, there: Sequence[str]) -> Problem:
    return Problem(str(path), None, message, f"name one with {option}; there are {foreign_list(there)}")


def _records(path: Path, limits: Limits, megabytes: int) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    """Number and columns of each row, or what is wrong with it."""
    called = path.name.removesuffix(".gz").lower()
    if called.endswith(".parquet"):
        yield from _parquet(path, megabytes)
    elif called.endswith((".jsonl", ".ndjson", ".csv")):
        try:
            with _opened(path) as stream:
                yield from _csv(stream) if called.endswith(".csv") else _json_lines(stream, limits.file_bytes)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise InputError([Problem(str(path), None, "it is broken, or no gzip file", "compress it anew")]) from None
    else:
        raise UsageError(f"{path}: the ending says of no input what it is; use .parquet, .jsonl, .csv, or .gz of these")


def _opened(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path)) if path.name.lower().endswith(".gz") else path.open("rb")


def _parquet(path: Path, megabytes: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
    import duckdb

    try:
        with connected(path.parent, megabytes) as connection:
            name(connection, "traffic", [path])
            yield from enumerate(rows_of(connection, "FROM traffic"), 1)
    except duckdb.InvalidInputException:
        raise InputError([Problem(str(path), None, "this is no Parquet file", "write it anew")]) from None


def _json_lines(stream: IO[bytes], longest: int) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    number = 0
    while line := stream.readline(longest + 1):
        number += 1
        if len(line) > longest:
            while line and not line.endswith(b"\n"):
                line = stream.readline(longest)
            yield number, "the line is longer than limits.file_bytes"
            continue
        if not line.strip():
            continue
        try:
            record = json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            yield number, "the line is no JSON"
            continue
        yield number, record if isinstance(record, dict) else "the line holds no object"


def _csv(stream: IO[bytes]) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
    rows = csv.reader(text)
    head: list[str] | None = None
    number = 0
    while True:
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            number += 1
            yield number, str(error)
            continue
        if head is None:
            head = cells
            continue
        number += 1
        if len(cells) == len(head):
            yield number, dict(zip(head, cells, strict=True))
        elif cells:
            yield number, f"there are {len(cells)} cells under {len(head)} columns"

"""Rows of production traffic from Parquet, JSON Lines and CSV files, one at a time and always in the same order."""

from __future__ import annotations

import csv
import gzip
import json
import re
import zlib
from array import array
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

from incumbent.errors import InputError, Problem, UsageError, untrusted_list
from incumbent.intake.query import ID_CHARACTERS, fault_of_id
from incumbent.taxonomy.config import Limits
from incumbent.text.did_you_mean import did_you_mean
from incumbent.text.masking import masked
from incumbent.text.personal_data.model import PLACEHOLDER
from incumbent.text.plain_text import is_shown
from incumbent.triage.tables import connected, identifier, name, quoted, row_count, rows_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from duckdb.sqltypes import DuckDBPyType

QUERY_COLUMNS: Final = ("query", "question", "prompt", "text", "input", "message", "utterance", "turns", "messages")
ID_COLUMNS: Final = ("id", "query_id", "request_id", "conversation_id", "trace_id")
_KINDS: Final = (".parquet", ".jsonl", ".ndjson", ".csv")
_LONGEST_NAME: Final = 200
_FIRST: Final = 100
"""At least one of this many first rows must have the columns."""
_HELD: Final = 32_000_000
"""Bytes of rows of a Parquet file that are read at a time."""
_ROW_NUMBER: Final = "file_row_number"
"""DuckDB's name of the number of a row; a file may have a column of that name."""
_TOO_LONG: Final = "the line is longer than limits.file_bytes"
_UNFIT: Final = re.compile("[\0\ud800-\udfff]")
_FIX: Final = "correct the row, or leave it: the others were read"


@dataclass(frozen=True, kw_only=True)
class TrafficColumns:
    """The columns of the inputs; ``query`` and ``id`` have their usual names unless they are given."""

    query: str | None = None
    id: str | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficRow:
    """One query of the traffic; ``place`` counts from 0 over all rows of all inputs, ``row`` from 1 in its file.

    ``given`` is the value of the id column.  The final id is computed only when asked for: that takes longer than
    reading the row, and most rows only repeat another.
    """

    place: int
    file: str
    row: int
    given: str | None
    agent: str
    turns: tuple[str, ...]

    @property
    def id(self) -> str | None:
        """The row's own id, if it has one that can be shown unchanged."""
        given = self.given
        is_fit = given is not None and given.isprintable() and fault_of_id(given) is None and masked(given) == given
        return given if is_fit else None

    @property
    def made(self) -> str:
        """The id that it gets where it has none of its own: of the file's name and the row."""
        stem = Path(self.file).name.partition(".")[0]
        made = f"{stem}-{self.row}"
        # Of the stem alone too: the row's number would make a longer number of a card's.
        is_fit = fault_of_id(made) is None and masked(stem) == stem and masked(made) == made
        is_fit = is_fit and PLACEHOLDER.search(stem) is None
        return made if is_fit else f"row-{self.row}"


class Position:
    """The number of bytes of the inputs that are read so far."""

    def __init__(self) -> None:
        self._passed = 0
        self.inside: Callable[[], int] = lambda: 0

    def __call__(self) -> int:
        return self._passed + self.inside()

    def pass_by(self, path: Path) -> None:
        """Count all of ``path`` as read."""
        self._passed += path.stat().st_size
        self.inside = lambda: 0


def read_rows(
    inputs: Sequence[Path],
    columns: TrafficColumns,
    agents: frozenset[str],
    limits: Limits,
    megabytes: int,
    position: Position | None = None,
) -> Iterator[TrafficRow | Problem]:
    """Each row of ``inputs``, in their order, or its problem.

    ``agents`` are the valid values of an agent's column; without that column it is the only agent.  A Parquet file is
    read within ``megabytes``.  ``position`` follows the reading.

    Raises :class:`InputError` if a column is missing or a file cannot be read.
    """
    for path in inputs:
        _kind(path)
    place = 0
    position = Position() if position is None else position
    for number, path in enumerate(inputs, 1):
        file = shown_path(path, number)
        found = _first_columns(path, columns, limits, megabytes)
        for row, record in _records(path, columns, limits, megabytes, position):
            if isinstance(record, str):
                yield Problem(file, row, record, _FIX)
            else:
                found = found or _columns(path, record, columns)
                # Rows of JSON may differ in their columns.
                own = next((each for each in QUERY_COLUMNS if each in record), None)
                query = found[0] if columns.query is not None or found[0] in record or own is None else own
                yield _row(place, file, row, record, (query, found[1]), columns.agent, agents, limits)
            place += 1
        position.pass_by(path)


def stamp(path: Path) -> tuple[int, int]:
    """Size and time of the file at ``path``: they change with its content."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def refuse_changed(inputs: Sequence[Path], stamps: Sequence[tuple[int, int]]) -> None:
    """Raise :class:`InputError` for those of ``inputs`` that changed since: their rows may differ now."""
    fix = "wait until it is whole, or copy it; then run the command again with --force, which starts over"
    problems = [
        Problem(str(path), None, "the file changed while it was read", fix)
        for path, before in zip(inputs, stamps, strict=True)
        if not path.exists() or stamp(path) != before
    ]
    if problems:
        raise InputError(problems)


def _row(
    place: int,
    file: str,
    row: int,
    record: Mapping[str, Any],
    found: tuple[str, str | None],
    agent_column: str | None,
    agents: frozenset[str],
    limits: Limits,
) -> TrafficRow | Problem:
    if found[0] not in record:
        return Problem(file, row, f"there is no column {found[0]}", _FIX)
    turns = turns_of(record[found[0]])
    if isinstance(turns, str):
        return Problem(file, row, f"{found[0]}: {turns}", _FIX)
    if len(turns) > limits.turns or any(len(turn) > limits.turn_characters for turn in turns):
        fix = "shorten it, or raise limits.turns and limits.turn_characters in config/curation.yaml"
        return Problem(file, row, "the query is longer than the limits", fix)
    agent = next(iter(agents)) if agent_column is None else record.get(agent_column)
    if not isinstance(agent, str) or agent not in agents:
        return Problem(
            file,
            row,
            f"there is no agent {masked(repr(agent))[:_LONGEST_NAME]}",
            f"name one of {untrusted_list(sorted(agents))}",
        )
    given = _given(None if found[1] is None else record.get(found[1]))
    return TrafficRow(place=place, file=file, row=row, given=given, agent=agent, turns=turns)


def _given(value: object) -> str | None:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    return text if isinstance(text, str) and len(text) <= ID_CHARACTERS else None


def shown_path(path: Path, number: int) -> str:
    """``path`` as it was given, with a mark for invalid UTF-8 and a blank for invisible characters.

    Keys and personal data in it are masked; the ``number`` of the input then tells it from others.
    """
    text = str(path).encode(errors="surrogateescape").decode(errors="replace")
    shown = "".join(sign if is_shown(sign) else " " for sign in text)
    without = masked(shown)
    return shown if without == shown else f"{without} (input {number})"


def turns_of(value: object) -> tuple[str, ...] | str:
    """The user's turns in a cell, or the cell's problem.

    A text is one turn, unless it is the JSON of a list; a list contains turns, or messages with a role.  Of the
    messages only the user's count; they must have a text, or parts with one.
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
        return "expected text, a list of texts or messages"
    turns = tuple(_text(item) or "" for item in value if isinstance(item, str) or item["role"] == "user")
    if not turns or not all(turn.strip() for turn in turns):
        return "no user text"
    if any(map(_UNFIT.search, turns)):
        return "it holds a sign that no file can hold"
    return turns


def _is_turns(listed: list[Any]) -> bool:
    return bool(listed) and all(
        isinstance(item, str)
        or (
            isinstance(item, dict)
            and isinstance(item.get("role"), str)
            and (item["role"] != "user" or _text(item) is not None)
        )
        for item in listed
    )


def _text(item: Any) -> str | None:
    """The text of a turn or message, whose content may be a list of parts; ``None`` without a text."""
    content = item if isinstance(item, str) else item.get("content")
    if isinstance(content, list):
        parts = [part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)]
        return "\n".join(parts) if parts else None
    return content if isinstance(content, str) else None


def _first_columns(
    path: Path, columns: TrafficColumns, limits: Limits, megabytes: int
) -> tuple[str, str | None] | None:
    """The columns of the first row that has them; raises :class:`InputError` if none of the first rows has."""
    if _kind(path) == ".parquet":
        # All rows have the same columns, which are looked up before the first row is read.
        return None
    missing: InputError | None = None
    with closing(_records(path, columns, limits, megabytes, Position())) as records:
        for _, record in islice(records, _FIRST):
            if isinstance(record, str):
                continue
            try:
                return _columns(path, record, columns)
            except InputError as error:
                missing = missing or error
    if missing is not None:
        raise missing
    return None


def _columns(path: Path, record: Mapping[str, Any], wanted: TrafficColumns) -> tuple[str, str | None]:
    """The columns of query and id; raises :class:`InputError` if one is missing."""
    there = [str(name) for name in record]
    problems = []
    query = wanted.query or next((name for name in QUERY_COLUMNS if name in record), None)
    for option, column in (("--query-column", query), ("--id-column", wanted.id), ("--agent-column", wanted.agent)):
        if column is None and option == "--query-column":
            problems.append(_missing(path, f"no column is called {' or '.join(QUERY_COLUMNS)}", option, there))
        elif column is not None and column not in record:
            problems.append(_missing(path, f"there is no column {column}{did_you_mean(column, there)}", option, there))
    if query is None or problems:
        raise InputError(problems)
    return query, wanted.id or next((name for name in ID_COLUMNS if name in record), None)


def _missing(path: Path, message: str, option: str, there: Sequence[str]) -> Problem:
    return Problem(str(path), None, message, f"name one with {option}; there are {untrusted_list(there)}")


def _records(
    path: Path, columns: TrafficColumns, limits: Limits, megabytes: int, position: Position
) -> Generator[tuple[int, Mapping[str, Any] | str], None, None]:
    """Number and columns of each row, or its problem."""
    kind = _kind(path)
    try:
        if kind == ".parquet":
            yield from _parquet(path, columns, limits.file_bytes, megabytes, position)
            return
        with path.open("rb") as raw, _unpacked(path, raw) as stream:
            position.inside = raw.tell
            if kind == ".csv":
                yield from _csv(path, stream, columns, limits.file_bytes)
            else:
                yield from _json_lines(stream, limits.file_bytes)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError([Problem(str(path), None, "it is broken, or no gzip file", "compress it anew")]) from None
    except OSError as error:
        fix = "see that it is there, and that you may read it; the same command goes on"
        raise InputError([Problem(str(path), None, f"it cannot be read: {error.strerror}", fix)]) from None


def _kind(path: Path) -> str:
    """The format that the suffix of ``path`` names; raises :class:`UsageError` if it names none."""
    kind = Path(path.name.lower().removesuffix(".gz")).suffix
    if kind not in _KINDS:
        raise UsageError(f"{path}: an input must end in {', '.join(_KINDS)}, or .gz after one of these")
    if not path.is_file():
        raise UsageError(f"{path} is no file that can be read twice; write its rows to one")
    return kind


def _unpacked(path: Path, raw: IO[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(raw)) if path.name.lower().endswith(".gz") else raw


def _parquet(
    path: Path, columns: TrafficColumns, longest: int, megabytes: int, position: Position
) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    import duckdb

    try:
        with connected(None, megabytes) as connection:
            # Otherwise all of a column's part of a row group is in memory, and not one of its pages alone.
            connection.execute("SET GLOBAL disable_parquet_prefetching = true")
            name(connection, "traffic", [path])
            relation = connection.table("traffic")
            of = dict(zip(relation.columns, relation.types, strict=True))
            is_numbered = _ROW_NUMBER not in map(str.lower, of)
            name(connection, "traffic", [path], numbered=is_numbered)
            query, id = _columns(path, of, columns)
            # Others may be large.
            used = dict.fromkeys(each for each in (query, id, columns.agent) if each is not None)
            number, rows, size = 0, max(1, row_count(connection, path)), path.stat().st_size
            position.inside = lambda: size * number // rows
            for number, record in enumerate(
                _bounded_rows(connection, {each: of[each] for each in used}, longest, is_numbered), 1
            ):
                yield number, record
    except duckdb.OutOfMemoryException:
        what = f"it needs more memory to be unpacked than triage.reading_megabytes, which is {megabytes:,}"
        fix = "raise that in the config, or write the file anew with fewer rows in a row group"
        raise InputError([Problem(str(path), None, what, fix)]) from None
    except duckdb.Error as error:
        fix = "write it anew, if it should be a Parquet file"
        raise InputError([Problem(str(path), None, f"it cannot be read: {str(error).splitlines()[0]}", fix)]) from None


def _bounded_rows(
    connection: DuckDBPyConnection, types: Mapping[str, DuckDBPyType], longest: int, is_numbered: bool
) -> Iterator[Mapping[str, Any] | str]:
    """The rows of the view ``traffic``.  A row of more than ``longest`` bytes is not read.

    All lengths are read before the first text, since a few bytes of a file may expand to many.  The two scans follow
    each other: each has a whole page of a column in memory, and two of them need not fit.
    """
    size = " + ".join(_size(identifier(name), kind) for name, kind in types.items())
    selected = ", ".join(map(identifier, types))
    starts, too_long, held, count = [0], array("Q"), 0, 0
    for count, row in enumerate(rows_of(connection, f"SELECT ({size})::BIGINT AS size FROM traffic"), 1):
        length = row["size"]
        if length > longest:
            too_long.append(count - 1)
            continue
        if held and held + length > _HELD:
            starts.append(count - 1)
            held = 0
        held += length
    long_ones = iter(too_long)
    next_long = next(long_ones, None)
    for start, end in pairwise([*starts, count]):
        # One table scan per part, whose complete rows have a bounded size.
        part = f"FROM traffic WHERE {_ROW_NUMBER} >= {start} AND {_ROW_NUMBER} < {end}"
        if not is_numbered:
            # Slower: row groups before the part are read too.
            part = f"FROM traffic LIMIT {end - start} OFFSET {start}"
        found = rows_of(connection, f"SELECT {selected} FROM ({part}) WHERE ({size}) <= {longest}", fetched=1)
        for number in range(start, end):
            if number == next_long:
                yield _TOO_LONG
                next_long = next(long_ones, None)
            else:
                yield next(found)


def _size(value: str, kind: DuckDBPyType, depth: int = 0) -> str:
    """SQL for the number of bytes of the texts in ``value``."""
    if kind.id in ("varchar", "blob"):
        return f"coalesce({'strlen' if kind.id == 'varchar' else 'octet_length'}({value}), 0)"
    if kind.id in ("list", "array"):
        each = _size(f"x{depth}", cast("DuckDBPyType", kind.children[0][1]), depth + 1)
        return f"coalesce(list_sum(list_transform({value}, lambda x{depth}: 8 + {each})), 0)"
    if kind.id == "map":
        return f"coalesce(strlen({value}::VARCHAR), 0)"
    if kind.id == "struct":
        parts = [
            _size(f"struct_extract({value}, {quoted(name)})", cast("DuckDBPyType", child), depth)
            for name, child in kind.children
        ]
        return f"({' + '.join(parts)})"
    return "8"


def _bounded_lines(stream: IO[bytes], longest: int) -> Iterator[bytes | None]:
    """The lines of ``stream``; ``None`` for one of more than ``longest`` bytes, which is not kept in memory."""
    while line := stream.readline(longest + 1):
        if len(line) <= longest:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(longest)
        yield None


def _json_lines(stream: IO[bytes], longest: int) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    for number, line in enumerate(_bounded_lines(stream, longest), 1):
        if line is None:
            yield number, _TOO_LONG
            continue
        if not line.strip():
            continue
        try:
            record = json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            yield number, "the line is no JSON"
            continue
        yield number, record if isinstance(record, dict) else "the line holds no object"


def _csv(
    path: Path, stream: IO[bytes], columns: TrafficColumns, longest: int
) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    lines = _CsvLines(stream, longest)
    rows = csv.reader(lines)
    head: list[str] | None = None
    number = 0
    while True:
        try:
            lines.begin_row()
            cells = _next(rows, longest)
        except StopIteration:
            return
        except csv.Error as error:
            if head is None:
                raise InputError([Problem(str(path), 1, f"the head: {error}", "write the names of columns")]) from None
            number += 1
            yield number, f"{error}; the row begins in line {lines.first}"
            continue
        if head is None:
            if cells or lines.is_cut:
                head = cells
                _refuse_twice(path, head, columns)
            continue
        number += 1
        if lines.is_cut:
            yield number, _TOO_LONG
        elif lines.has_ended:
            # A row that is complete asks for no more lines.
            yield number, f"the quote that opens in line {lines.opened(cells)} is never closed"
        elif len(cells) == len(head):
            yield number, dict(zip(head, cells, strict=True))
        elif cells:
            yield number, f"there are {len(cells)} cells under {len(head)} columns"


class _CsvLines:
    """The lines of a CSV file, with a limit of bytes per row; a longer line is returned as a blank one."""

    def __init__(self, stream: IO[bytes], longest: int) -> None:
        self._lines = self._decoded(stream, longest)
        self._longest = longest
        self._held = 0
        self.number = 0
        self.begin_row()

    def begin_row(self) -> None:
        """Begin a new row: the next lines belong to it."""
        self.first = self.number + 1
        self._held = 0
        self.is_cut = self.has_ended = False

    def opened(self, cells: Sequence[str]) -> int:
        """The line in which the last of ``cells`` begins, which takes all lines up to the end."""
        return self.number + 1 - max(1, len(cells[-1].encode(errors="replace").splitlines()))

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self._held > self._longest:
            raise csv.Error("the row is longer than limits.file_bytes")
        line = next(self._lines, None)
        if line is None:
            self.has_ended = True
            raise StopIteration
        self.number += 1
        self._held += len(line)
        return line

    def _decoded(self, stream: IO[bytes], longest: int) -> Iterator[str]:
        encoding = "utf-8-sig"
        for line in _bounded_lines(stream, longest):
            if line is None:
                self.is_cut = True
            for each in (line or b"\n").splitlines(keepends=True):
                yield each.decode(encoding, "surrogateescape")
                encoding = "utf-8"


def _next(rows: Iterator[list[str]], longest: int) -> list[str]:
    """The next row; raises :class:`csv.Error` if an unclosed quote would take in the rest of a file."""
    # The field limit is shared in the process.  The lines bound a row, to one line more than the longest row at most.
    others = csv.field_size_limit(2 * longest)
    try:
        return next(rows)
    finally:
        csv.field_size_limit(others)


def _refuse_twice(path: Path, head: Sequence[str], columns: TrafficColumns) -> None:
    """Raise :class:`InputError` if a column that is read occurs more than once."""
    there = dict.fromkeys(head)
    query, id = _columns(path, there, columns)
    problems = [
        Problem(str(path), None, f"the column {column} is there more than once", "leave one of them out")
        for column in (query, id, columns.agent)
        if column is not None and head.count(column) > 1
    ]
    if problems:
        raise InputError(problems)

"""The interface of a format's module: a source file in, rows and problems out; and the registered formats."""

from __future__ import annotations

import importlib
import pkgutil
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, cached_property
from typing import Final

from incumbent.errors import InputError, Problem
from incumbent.files.documents import (
    Data,
    Document,
    Lines,
    Node,
    Parsed,
    decode,
    parse_json,
    parse_json_lines,
    parse_yaml,
)
from incumbent.files.snapshot import MOST_FAULTS, ReadingLimits, Snapshot, path_beside
from incumbent.intake.eval_sets import formats
from incumbent.intake.eval_sets.columns import Columns
from incumbent.intake.eval_sets.records import Records, listed, of_lines, of_rows
from incumbent.intake.eval_sets.table import Header, TableText, first_header
from incumbent.intake.query import Setup
from incumbent.taxonomy.config import Limits

_MANY_KEYS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSetRow:
    """A query as read from its file, before limits and ids are checked.

    ``id`` is ``None`` if the file gives none; then ``title``, a name given by people, is used if no other row of the
    file has it.  ``line`` is where the query begins.  ``expected`` is the other data of the row, unchanged; messages
    that are more than turns stay in it under their own key.
    """

    turns: tuple[str, ...]
    line: int | None
    id: str | None = None
    title: str | None = None
    expected: Data = None
    setup: Setup = field(default_factory=Setup)


@dataclass(frozen=True, slots=True)
class EvalSetRows:
    """The valid rows of a file in order, and the problems of the others.

    ``used`` are paths of other files that were read as parts of this one, and are not separate eval sets.
    """

    rows: tuple[EvalSetRow, ...]
    problems: tuple[Problem, ...] = ()
    used: frozenset[str] = frozenset()


def read_records(records: Records, read: Callable[[Node, list[Problem]], EvalSetRow | None], most: int) -> EvalSetRows:
    """The rows of ``records``: ``read`` returns a row for each, or adds its faults to the list.

    Reading stops after ``most`` rows.
    """
    rows: list[EvalSetRow] = []
    problems = list(records.problems)
    for record in records.places:
        if enough(rows, most, problems, record.problem) or too_many(problems, record.problem):
            break
        faults: list[Problem] = []
        try:
            row = read(record, faults)
        except InputError as error:
            row, faults = None, [*faults, *error.problems]
        if row is not None and not faults:
            rows.append(row)
        problems.extend(faults)
    return EvalSetRows(tuple(rows), tuple(problems))


def enough(rows: Sized, most: int, problems: list[Problem], problem: Callable[[str, str], Problem]) -> bool:
    """Whether the limit of ``rows`` in a folder is reached; adds a problem about the next one, made by ``problem``."""
    if len(rows) < most:
        return False
    message = f"the folder holds more queries than the limit of {most:,}; they are read up to here"
    problems.append(problem(message, "remove queries, or raise limits.queries in config/curation.yaml"))
    return True


def row_left_out(file: str, line: int | None, broken: int | None) -> Problem:
    """The row at ``line`` is left out, since that at ``broken`` of the same conversation cannot be read."""
    message = f"the row is left out, since line {broken} of its conversation cannot be read"
    return Problem(file, line, message, "correct that line, or give this row another conversation")


def too_many(problems: list[Problem], problem: Callable[[str, str], Problem]) -> bool:
    """Whether there are too many ``problems`` to go on; adds a last one that says so, made by ``problem``."""
    if len(problems) < MOST_FAULTS:
        return False
    problems.append(
        problem("too many queries cannot be read; from here on none was looked at", "correct the others first")
    )
    return True


def text_id(place: Node, problems: list[Problem]) -> str | None:
    """The id at ``place``: a text, or an integer, which many tools write; anything else is a fault."""
    value = place.data
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    plain = isinstance(value, bool | float)
    fix = f'put it in quotes: "{str(value).lower()}"' if plain else "write a string, in quotes"
    problems.append(place.problem(f"{place.name}: must be a string or a whole number", fix))
    return None


def rest_of(record: Node, *used: str) -> dict[str, Data]:
    """The data of ``record`` without the keys ``used``, unchanged and in order."""
    return {key: place.data for key, place in record.entries if key not in used}


def bundled(data: dict[str, Data], key: str, *apart: str) -> dict[str, Data]:
    """A file's data for all rows; many keys are put below one ``key``, except those in ``apart``.

    Each row repeats the keys, which would be too many otherwise.
    """
    if len(data) <= _MANY_KEYS:
        return data
    return {**{name: data[name] for name in apart if name in data}, key: data}


def beside(expected: Mapping[str, Data], shared: Mapping[str, Data], key: str = "eval_set") -> dict[str, Data]:
    """``expected`` of a row, with the file's data for all rows, ``shared``, under ``key``."""
    # Not copied: there may be many rows, and much shared data.
    data = shared if isinstance(shared, dict) else dict(shared)
    return {**expected, **({key if key not in expected else f"{key} (of the file)": data} if shared else {})}


LINES: Final = (".jsonl", ".ndjson")
DOCUMENTS: Final = (".json", ".yaml", ".yml")

# One object per line and nothing else: JSON Lines with the ending of JSON.
_LOOKS_LIKE_LINES: Final = re.compile(r"\s*\{[^\n]*\}[ \t\r]*\n\s*\{")


def glance(content: bytes) -> str:
    """``content`` as a text in any encoding, good enough to recognise the format."""
    # In UTF-16 every second byte of ASCII text is zero; all marks and names of files are ASCII.
    return content.replace(b"\0", b"").decode("utf-8", "replace")


def open_source(
    snapshot: Snapshot, path: str, limits: Limits, columns: Columns | None = None, *, parsed: bool = True
) -> SourceFile:
    """The file at ``path``, decoded, and ``parsed`` according to its name and content; raises :class:`InputError`."""
    name, reading = snapshot.name(path), limits.reading
    content = snapshot.read(path, reading)
    document = lines = None
    ending = posixpath.splitext(path)[1].lower()
    text = decode(content, name, reading)
    if not parsed:
        pass
    elif ending in LINES or (ending == ".json" and _LOOKS_LIKE_LINES.match(text)):
        if text.lstrip().startswith("["):
            document = parse_json(content, name, reading)
        else:
            lines = parse_json_lines(text, name, reading)
    elif ending in DOCUMENTS:
        document = (parse_json if ending == ".json" else parse_yaml)(content, name, reading)

    def beside(place: Node, reference: str) -> SourceFile:
        target = _path_beside(path, place, reference)
        if not snapshot.exists(target) and target not in snapshot.links():
            message = f"{place.name}: {reference} is no file of the folder"
            raise InputError([place.problem(message, "name a file that there is")])
        return open_source(snapshot, target, limits, columns)

    def text_beside(place: Node, reference: str) -> SourceFile:
        return open_source(snapshot, _path_beside(path, place, reference), limits, columns, parsed=False)

    def matching(place: Node, pattern: str) -> tuple[str, ...]:
        folder = posixpath.dirname(path)
        wanted = _path_beside(path, place, pattern).split("/")
        found = (other for other in snapshot.paths() if other != path and _fits(other.split("/"), wanted))
        return tuple(posixpath.relpath(other, folder or ".") for other in found)

    return SourceFile(
        file=name,
        path=path,
        text=text,
        limits=reading,
        folder_limits=limits,
        document=document,
        lines=lines,
        columns=columns,
        beside=beside,
        text_beside=text_beside,
        matching=matching,
    )


def _fits(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    """Whether a path matches a pattern with ``*``, ``?``, ``[...]`` and ``**``, both split at slashes."""
    reached = {0}
    for part in [*parts, None]:
        # A `**` also matches no folder.
        for place in sorted(reached):
            while place < len(patterns) and patterns[place] == "**":
                place += 1
                reached.add(place)
        if part is None:
            break
        stays = {place for place in reached if place < len(patterns) and patterns[place] == "**"}
        moves = {place + 1 for place in reached if place < len(patterns) and fnmatchcase(part, patterns[place])}
        reached = stays | moves
    return len(patterns) in reached


def _path_beside(path: str, place: Node, reference: str) -> str:
    """The path of ``reference`` at ``place`` of the file at ``path``."""
    target = path_beside(path, reference)
    if target is not None:
        return target
    message = f"{place.name}: {reference} leads out of the folder, and nothing outside is ever read"
    raise InputError([place.problem(message, "put a copy of the file into the folder, and name that")])


def _refuse(place: Node, reference: str) -> SourceFile:
    message = f"{place.name}: {reference} cannot be read, since the file is read by itself"
    raise InputError([place.problem(message, "write the content here")])


def _refuse_pattern(place: Node, pattern: str) -> tuple[str, ...]:
    _refuse(place, pattern)
    return ()


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """The input of a reader: one file.

    ``file`` is its name in messages, ``path`` its path in the folder; ``text`` is its content without a byte order
    mark.  ``document`` is the parsed content of a JSON or YAML file, ``lines`` that of JSON Lines; a table has neither.
    ``columns`` are those in ``formats.yaml``, if any.  ``limits`` apply to further parsing, ``folder_limits`` to all
    files of the folder together.  ``beside`` opens another file of the folder that a place of this one names,
    ``text_beside`` does so without parsing, and ``matching`` expands a pattern with ``*``; all raise
    :class:`~incumbent.errors.InputError` for references that leave the folder.
    """

    file: str
    path: str
    text: str
    limits: ReadingLimits
    folder_limits: Limits
    document: Document | None = None
    lines: Lines | None = None
    columns: Columns | None = None
    beside: Callable[[Node, str], SourceFile] = _refuse
    text_beside: Callable[[Node, str], SourceFile] = _refuse
    matching: Callable[[Node, str], tuple[str, ...]] = _refuse_pattern

    @property
    def is_table(self) -> bool:
        """Whether the file is a table."""
        return self.document is None and self.lines is None

    @property
    def table(self) -> TableText:
        """The file as a table, whatever its type."""
        return TableText(self.text, self.file, self.limits)

    @cached_property
    def root(self) -> Node:
        """The root of the document; absent in a file that is not JSON or YAML."""
        return Parsed(self.path, self.document or Document(self.file, self.text, None)).root

    @cached_property
    def header(self) -> Header | None:
        """The first row of a table as its header; ``None`` for an empty table or any other file."""
        return first_header(self.table) if self.is_table else None

    @cached_property
    def records(self) -> Records:
        """The objects of a list, of JSON Lines or of a table; none for any other file."""
        if self.lines is not None:
            return of_lines(self.path, self.lines)
        return listed(self.root) if self.header is None else of_rows(self.table, self.path, self.header)

    def check(self) -> None:
        """Raise :class:`~incumbent.errors.InputError` for a table over the limits; others when they are parsed."""
        if self.is_table:
            _ = self.records

    def keys_of(self, records: Records) -> frozenset[str]:
        """The keys of ``records`` of this file; those of the header for a table."""
        return records.keys if self.header is None else frozenset(self.header.labels().values())


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSetReader:
    """One format.

    ``name`` identifies it in :class:`~incumbent.intake.query.EvalSet`, ``title`` describes it to people.  A file is a
    candidate if its name has one of the ``endings`` (lower case) and its text contains ``mark`` near the beginning,
    also in a damaged file.  It is then parsed, and has this format if ``recognises`` returns true.  A ``plain`` format
    has no distinctive features, and is tried only if no other fits.  ``names_columns`` allows ``formats.yaml`` to name
    its columns.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    mark: re.Pattern[str]
    recognises: Callable[[SourceFile], bool]
    read: Callable[[SourceFile], EvalSetRows]
    plain: bool = False
    names_columns: bool = False


@cache
def readers() -> tuple[EvalSetReader, ...]:
    """The readers of all formats, sorted by name."""
    modules = (
        importlib.import_module(f"{formats.__name__}.{found.name}") for found in pkgutil.iter_modules(formats.__path__)
    )
    bound = (getattr(module, "READER", None) for module in modules)
    return tuple(
        sorted((reader for reader in bound if isinstance(reader, EvalSetReader)), key=lambda reader: reader.name)
    )


def names_of(possible: Sequence[EvalSetReader]) -> str:
    """The names of formats for a message; ``incumbent formats`` describes them."""
    return ", ".join(reader.name for reader in possible)


def fitting(source: SourceFile, possible: Sequence[EvalSetReader]) -> tuple[EvalSetReader, ...]:
    """Those of ``possible`` that recognise ``source``; a plain one only without others."""
    for plain in (False, True):
        found = tuple(reader for reader in possible if reader.plain is plain and reader.recognises(source))
        if found:
            return found
    return ()

"""Finds the eval sets of a folder, and reads each with the right reader."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from pydantic import ValidationError

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Data, as_mapping, parse_yaml
from incumbent.files.snapshot import ByteBudgetSnapshot, Snapshot
from incumbent.intake.eval_sets.columns import FORMATS_FILE, DeclaredFile, declaring, read_formats
from incumbent.intake.eval_sets.reader import (
    EvalSetReader,
    EvalSetRow,
    EvalSetRows,
    enough,
    fitting,
    glance,
    names_of,
    open_source,
    readers,
    too_many,
)
from incumbent.intake.eval_sets.unrecognised_files import (
    AGENT_FILE,
    files_of_the_agent,
    find_unrecognised,
    foreign_files,
)
from incumbent.intake.export_round_trip import carried, carried_id
from incumbent.intake.query import SETUP_FILE, EvalSet, MadeIds, Query, Setup, fault_of_id
from incumbent.taxonomy.config import Limits
from incumbent.text.secrets import holds_key

_ANOTHER_ID: Final = "write a short id in one line without personal data, or none: ids become names of files"
_MADE_UP: Final = "revoke it if it is real, since others have seen it, and write one that does not look like a key"


@dataclass(frozen=True, slots=True)
class ReadFile:
    """An eval set file as its reader returned it."""

    name: str
    format: str
    reading: EvalSetRows


def assemble(files: Sequence[ReadFile], limits: Limits) -> tuple[EvalSet, ...]:
    """The eval sets of ``files``: rows within the limits, each with a unique id."""
    files = [replace(file, reading=_titled(file.reading)) for file in files]
    problems: dict[str, list[Problem]] = {file.name: list(file.reading.problems) for file in files}
    kept: list[tuple[str, EvalSetRow]] = []
    keys = _Keys()
    for file in files:
        found: list[Problem] = []
        if not file.reading.rows and not file.reading.problems:
            found.append(Problem(file.name, 1, "the eval set holds no queries", "add at least one"))
        for row in file.reading.rows:
            problem = partial(Problem, file.name, row.line)
            if too_many(found, problem):
                break
            if enough(kept, limits.queries, found, problem):
                break
            faults = _faults(file.name, row, limits, keys)
            if not faults:
                kept.append((file.name, row))
            found.extend(faults)
        problems[file.name].extend(found)
    queries = _identify(_with_unique_ids(files, kept), problems)
    return tuple(
        EvalSet(
            file=file.name,
            format=file.format,
            queries=tuple(query for query in queries if query.file == file.name),
            problems=InputError(problems[file.name]).problems,
        )
        for file in files
    )


def _titled(reading: EvalSetRows) -> EvalSetRows:
    """``reading`` with titles as the ids of rows without id, if a title is unique and a valid id."""
    names = Counter(row.title if row.id is None else row.id for row in reading.rows)

    def titled(row: EvalSetRow) -> EvalSetRow:
        is_fit = row.title is not None and names[row.title] == 1 and fault_of_id(row.title) is None
        return replace(row, id=row.title) if row.id is None and is_fit else row

    return replace(reading, rows=tuple(map(titled, reading.rows)))


def _faults(file: str, row: EvalSetRow, limits: Limits, keys: _Keys) -> list[Problem]:
    """The faults of a row that do not depend on its format."""
    faults: list[Problem] = []
    if row.id is not None and (wrong := fault_of_id(row.id)) is not None:
        faults.append(Problem(file, row.line, wrong, _ANOTHER_ID))
    if not row.turns:
        faults.append(Problem(file, row.line, "the query has no turns", "write at least one turn"))
    if len(row.turns) > limits.turns:
        message = f"the query has {len(row.turns):,} turns, more than the limit of {limits.turns:,}"
        faults.append(
            Problem(file, row.line, message, "shorten the conversation, or raise limits.turns in config/curation.yaml")
        )
    for number, turn in enumerate(row.turns, 1):
        which = f"turn {number}" if len(row.turns) > 1 else "the query"
        if not turn.strip():
            faults.append(Problem(file, row.line, f"{which} is empty", "write what the user says, or remove it"))
        if "\0" in turn:
            faults.append(Problem(file, row.line, f"{which} contains a NUL character", "remove it"))
        if keys.are_in(turn):
            faults.append(Problem(file, row.line, f"{which} contains what looks like a key", _MADE_UP))
        if len(turn) > limits.turn_characters:
            message = f"{which} has {len(turn):,} characters, more than the limit of {limits.turn_characters:,}"
            fix = "shorten it, or raise limits.turn_characters in config/curation.yaml"
            faults.append(Problem(file, row.line, message, fix))
    setup = row.setup
    names = (setup.tenant, *setup.connectors, *setup.fixtures, *setup.attachments)
    for what, given in (("what is expected", (row.expected,)), ("the set-up", names)):
        if any(map(keys.are_in, given)):
            faults.append(Problem(file, row.line, f"{what} contains what looks like a key", _MADE_UP))
    return faults


class _Keys:
    """Finds providers' keys; data that several rows share is searched once."""

    def __init__(self) -> None:
        self._texts: dict[str, bool] = {}
        self._parts: dict[int, bool] = {}

    def are_in(self, data: Data) -> bool:
        """Whether a text in ``data`` contains one, names included; ``data`` must live as long as this object."""
        if isinstance(data, str):
            if data not in self._texts:
                self._texts[data] = holds_key(data)
            return self._texts[data]
        if not isinstance(data, dict | list):
            return False
        if id(data) not in self._parts:
            inner = (*data, *data.values()) if isinstance(data, dict) else data
            self._parts[id(data)] = any(map(self.are_in, inner))
        return self._parts[id(data)]


def _with_unique_ids(files: Sequence[ReadFile], kept: Sequence[tuple[str, EvalSetRow]]) -> list[tuple[str, EvalSetRow]]:
    """``kept`` with unique ids: if ``files`` use the same ids, later files get their name as a prefix of each id."""
    taken: set[str] = set()
    given: dict[str, set[str]] = {file.name: set() for file in files}
    # Rows with faults count as well, so that a fix of one row does not change other ids.
    for file in files:
        for row in file.reading.rows:
            exported = carried_id(row.expected)
            if exported is not None:
                taken.add(exported)
            elif row.id is not None:
                given[file.name].add(row.id)
    names: dict[str, str] = {}
    for file_name, ids in given.items():
        names[file_name] = next((end for end in ("", *_ends(file_name)) if taken.isdisjoint(_called(ids, end))), "")
        taken |= _called(ids, names[file_name])
    return [(name, _with_file(row, names[name])) for name, row in kept]


def _with_file(row: EvalSetRow, name: str) -> EvalSetRow:
    if not name or row.id is None or fault_of_id(f"{name}/{row.id}") is not None:
        return row
    return row if carried_id(row.expected) is not None else replace(row, id=f"{name}/{row.id}")


def _called(ids: Collection[str], name: str) -> set[str]:
    return {f"{name}/{id}" if name else id for id in ids}


def _ends(file: str) -> Iterator[str]:
    """The name of a file without its ending, then with more and more of its parent folders."""
    parts = posixpath.splitext(file)[0].split("/")
    return ("/".join(parts[place:]) for place in reversed(range(len(parts))))


def _identify(kept: Sequence[tuple[str, EvalSetRow]], problems: dict[str, list[Problem]]) -> list[Query]:
    """The rows as queries; ids from files have precedence over made ones, and repeated ids go to ``problems``.

    The first of two equal ids from files counts; made ids avoid them (see
    :class:`~incumbent.intake.query.MadeIds`).

    A row written by an export of a regression set has the entry's id and set-up; a copy of it does not have that id.
    """
    taken: dict[str, str] = {}
    ids: dict[int, str] = {}
    for place, (file, row) in enumerate(kept):
        exported = carried_id(row.expected)
        if exported is not None and exported not in taken and fault_of_id(exported) is None:
            row = replace(row, id=exported)
        if row.id is None:
            continue
        if row.id in taken:
            message = f"the id {row.id!r} is used already at {taken[row.id]}"
            problems[file].append(Problem(file, row.line, message, "give every query of the folder an id of its own"))
            continue
        taken[row.id] = file if row.line is None else f"{file}:{row.line}"
        ids[place] = row.id
    made = MadeIds(taken)
    ids |= {place: made.make(row.turns) for place, (_, row) in enumerate(kept) if row.id is None and place not in ids}
    return [
        Query(id=ids[place], turns=row.turns, expected=row.expected, setup=row.setup, file=file, line=row.line)
        for place, (file, row) in enumerate((file, with_setup(row)) for file, row in kept)
        if place in ids
    ]


def with_setup(row: EvalSetRow) -> EvalSetRow:
    """``row`` of an exported regression set with the set-up of its entry, unless the file has one itself."""
    setup = carried(row.expected).get("setup")
    if setup is None or row.setup != Setup():
        return row
    try:
        return replace(row, setup=SETUP_FILE.validate_python(setup))
    except ValidationError:
        # A custom key of that name, or an edited one: it stays in the expectation.
        return row


_GLANCED_AT: Final = 300_000
"""Marks of formats are searched in so many bytes: keys and headers come before most of their content."""

UNKNOWN_FORMAT: Final = "unknown"
"""The format of a file that fits several formats, or is too broken to recognise one."""


def read_eval_sets(snapshot: Snapshot, limits: Limits) -> tuple[EvalSet, ...]:
    """Every eval set in ``snapshot``, sorted by file, with the problems of rows that could not be read.

    A file is an eval set by its ending and content, or by ``formats.yaml``.  Files of an agent package are not, nor are
    plain files that the agent or a query names as data.  A broken file that is clearly meant as an eval set is one
    without queries; so is an unrecognised file that may be meant as one (see
    :mod:`~incumbent.intake.eval_sets.unrecognised_files`).  Ids are unique in the folder, and ``limits.queries``
    applies to the whole folder.

    Raises :class:`InputError` if the folder has no eval set, or more than ``limits.package_files`` files.
    """
    return assemble(_find(snapshot, limits), limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """An explicitly named eval set: the file at ``path`` of a folder's ``snapshot``, or all in it (``None``).

    ``declared`` is an explicit declaration of the file; it overrides ``formats.yaml``.
    """

    snapshot: Snapshot
    path: str | None = None
    declared: DeclaredFile | None = None


def read_files(named: Sequence[Named], limits: Limits) -> tuple[tuple[EvalSet, ...], ...]:
    """The eval sets of each of ``named``; ids and ``limits.queries`` apply as in one folder.

    A named file is meant as an eval set, so an unrecognised format is a fault.  Raises :class:`InputError` if a folder
    has no eval set, or more than ``limits.package_files`` files.
    """
    found = [
        _find(_rationed(each.snapshot, limits), limits) if each.path is None else _named(each, each.path, limits)
        for each in named
    ]
    eval_sets = iter(assemble([file for files in found for file in files], limits))
    return tuple(tuple(next(eval_sets) for _ in files) for files in found)


def _rationed(snapshot: Snapshot, limits: Limits) -> Snapshot:
    return ByteBudgetSnapshot(snapshot, limits.package_bytes)


def _named(each: Named, path: str, limits: Limits) -> list[ReadFile]:
    snapshot, name = each.snapshot, each.snapshot.name(path)
    if each.declared is not None:
        return [_read_declared(snapshot, path, limits, each.declared)]
    declared = _declared(snapshot, snapshot.paths() if snapshot.exists(FORMATS_FILE) else (), limits)
    wrong = declared.faults.get(FORMATS_FILE)
    files = [ReadFile(snapshot.name(FORMATS_FILE), UNKNOWN_FORMAT, EvalSetRows((), wrong))] if wrong else []
    try:
        file = _read_file(snapshot, path, limits, declared.files.get(path), plain=True)
        if file is None:
            # A reading error explains more than an unknown format.
            open_source(snapshot, path, limits).check()
            message = f"no eval set is recognised in this file; looked for: {names_of(readers())}"
            fix = "say which format it is with --format, or which column holds the query with --column query=NAME"
            raise InputError([Problem(name, None, message, fix)])
    except InputError as error:
        file = ReadFile(name, UNKNOWN_FORMAT, EvalSetRows((), error.problems))
    return [*files, file]


def _find(snapshot: Snapshot, limits: Limits) -> list[ReadFile]:
    """Every file in ``snapshot`` that is, or may be meant as, an eval set, by path."""
    paths, links = snapshot.paths(), snapshot.links()
    folder = snapshot.name("").rstrip("/") or "."
    if len(paths) + len(links) > limits.package_files:
        count = f"the folder holds {len(paths) + len(links):,} files, more than the limit of {limits.package_files:,}"
        fix = "remove files that no agent needs, or raise limits.package_files in config/curation.yaml"
        raise InputError([Problem(folder, None, count, fix)])
    declared = _declared(snapshot, paths, limits)
    files = _read_all(snapshot, limits, declared)
    # A set that another set of the same format names, for example by a pattern, is not a part of it.
    used = {
        path
        for file in files.values()
        for path in file.reading.used
        if path not in files or files[path].format != file.format
    }
    files = {path: file for path, file in files.items() if path not in used}
    files = _without_data(snapshot, limits, files, declared.files)
    unrecognised = find_unrecognised(snapshot, limits, files.keys() | used | declared.own, is_empty=not files)
    if not files:
        message = f"no eval set was found; looked for: {names_of(readers())}"
        fix = "put an eval set of one of these formats into the folder; `incumbent formats` describes them"
        missing = Problem(folder, None, message, fix)
        faults = (*declared.faults.values(), *unrecognised.values())
        raise InputError([missing, *(problem for problems in faults for problem in problems)])
    unrecognised |= {path: problems for path, problems in declared.faults.items() if problems}
    for path, problems in unrecognised.items():
        files[path] = ReadFile(snapshot.name(path), UNKNOWN_FORMAT, EvalSetRows((), problems))
    return [files[path] for path in sorted(files)]


def _read_all(snapshot: Snapshot, limits: Limits, declared: _Declared) -> dict[str, ReadFile]:
    """The eval set files of ``snapshot``, by path; after too many queries further files are not read."""
    paths = [path for path in snapshot.paths() if path not in declared.own]
    foreign = foreign_files(snapshot.paths())
    plain = {reader.name for reader in readers() if reader.plain}
    files: dict[str, ReadFile] = {}
    queries = 0
    for path in paths:
        may_be_plain = path not in foreign
        if queries >= limits.queries:
            named = path in declared.files
            read = _passed_over(snapshot, path, limits, plain=may_be_plain, is_named=named)
        else:
            read = _read_file(snapshot, path, limits, declared.files.get(path), plain=may_be_plain)
        if read is not None:
            files[path] = read
            # Plain files may be the agent's data.
            queries += 0 if read.format in plain else len(read.reading.rows)
    return files


def _without_data(
    snapshot: Snapshot, limits: Limits, files: Mapping[str, ReadFile], declared: Collection[str]
) -> dict[str, ReadFile]:
    """``files`` without data of the agent or of queries, which only looks like plain eval sets."""
    plain = {reader.name for reader in readers() if reader.plain}
    guessed = {path for path, file in files.items() if file.format in plain and path not in declared}
    setups = [row.setup for path, file in files.items() if path not in guessed for row in file.reading.rows]
    needed = {posixpath.basename(name) for setup in setups for name in (*setup.fixtures, *setup.attachments)}
    data = files_of_the_agent(snapshot, limits, guessed)
    data |= {path for path in guessed if posixpath.basename(path) in needed}
    return {path: file for path, file in files.items() if path not in data}


@dataclass(frozen=True, slots=True)
class _Declared:
    """The declarations in all ``formats.yaml`` of a folder by path, and the faults of these files by path."""

    files: Mapping[str, DeclaredFile]
    faults: Mapping[str, tuple[Problem, ...]]

    @property
    def own(self) -> frozenset[str]:
        """The paths of these ``formats.yaml``."""
        return frozenset(self.faults)


def _declared(snapshot: Snapshot, paths: Sequence[str], limits: Limits) -> _Declared:
    known = {reader.name for reader in readers()}
    named = {reader.name for reader in readers() if reader.names_columns}
    files: dict[str, DeclaredFile] = {}
    faults: dict[str, tuple[Problem, ...]] = {}
    speaking = (path for path in paths if posixpath.basename(path) == FORMATS_FILE)
    # The declaration nearest to a file counts.
    for path in sorted(speaking, key=lambda path: (path.count("/"), path)):
        folder = path.removesuffix(FORMATS_FILE)
        inner = {other.removeprefix(folder) for other in paths if other.startswith(folder)}
        try:
            document = parse_yaml(snapshot.read(path, limits.reading), snapshot.name(path), limits.reading)
        except InputError as error:
            # In a sub-folder it may belong to another tool, and a broken one is reported like any other file.
            faults |= {} if folder else {path: error.problems}
            continue
        if folder and "formats" not in as_mapping(document.data):
            continue
        try:
            files |= {folder + name: said for name, said in read_formats(document, inner, known, named).items()}
            faults[path] = ()
        except InputError as error:
            faults[path] = error.problems
    return _Declared(files, faults)


def _read_file(
    snapshot: Snapshot, path: str, limits: Limits, declared: DeclaredFile | None, *, plain: bool
) -> ReadFile | None:
    """The file at ``path`` if it is an eval set, with its faults if it cannot be read; else ``None``.

    ``plain`` allows the formats without distinctive features.
    """
    if declared is not None:
        return _read_declared(snapshot, path, limits, declared)
    name = snapshot.name(path)
    try:
        marked = _marked(snapshot, path, limits, plain=plain)
    except InputError as error:
        return ReadFile(name, UNKNOWN_FORMAT, EvalSetRows((), error.problems))
    if not marked:
        return None
    try:
        source = open_source(snapshot, path, limits)
        fit = fitting(source, marked)
        if len(fit) == 1:
            return ReadFile(name, fit[0].name, fit[0].read(source))
    except InputError as error:
        meant = [reader.name for reader in marked if not reader.plain]
        if not meant:
            return None
        return ReadFile(name, meant[0] if len(meant) == 1 else UNKNOWN_FORMAT, EvalSetRows((), error.problems))
    if not fit:
        return None
    names = " and ".join(reader.name for reader in fit)
    fix = f"name the format that is meant: {declaring(name, path, fit[0].name)}"
    ambiguous = Problem(name, 1, f"the file can be read as several formats: {names}", fix)
    return ReadFile(name, UNKNOWN_FORMAT, EvalSetRows((), (ambiguous,)))


def _marked(snapshot: Snapshot, path: str, limits: Limits, *, plain: bool) -> list[EvalSetReader]:
    """The candidate readers by the name and the beginning of the file at ``path``."""
    base = path.rsplit("/", 1)[-1].lower()
    possible = [reader for reader in readers() if base.endswith(reader.endings) and (plain or not reader.plain)]
    if not possible or AGENT_FILE.fullmatch(base):
        return []
    glanced = glance(snapshot.read(path, limits.reading)[:_GLANCED_AT])
    return [reader for reader in possible if reader.mark.search(glanced)]


def _passed_over(snapshot: Snapshot, path: str, limits: Limits, *, plain: bool, is_named: bool) -> ReadFile | None:
    """The file at ``path`` without its queries, if it may be an eval set; used after too many queries."""
    try:
        marked = _marked(snapshot, path, limits, plain=plain)
    except InputError as error:
        return ReadFile(snapshot.name(path), UNKNOWN_FORMAT, EvalSetRows((), error.problems))
    if not marked and not is_named:
        return None
    message = "the file is not looked at: the folder holds too many queries without it"
    fix = "remove queries, or raise limits.queries in config/curation.yaml"
    wrong = Problem(snapshot.name(path), None, message, fix)
    return ReadFile(snapshot.name(path), UNKNOWN_FORMAT, EvalSetRows((), (wrong,)))


def _read_declared(snapshot: Snapshot, path: str, limits: Limits, declared: DeclaredFile) -> ReadFile:
    """The file at ``path``, read in the declared format regardless of its content."""
    name = snapshot.name(path)
    (reader,) = (reader for reader in readers() if reader.name == declared.format)
    if not path.lower().endswith(reader.endings):
        message = f"{reader.name} is not read from files of this name"
        wrong = Problem(name, None, message, f"give the file one of the endings {', '.join(reader.endings)}")
        return ReadFile(name, reader.name, EvalSetRows((), (wrong,)))
    try:
        return ReadFile(name, reader.name, reader.read(open_source(snapshot, path, limits, declared.columns)))
    except InputError as error:
        return ReadFile(name, reader.name, EvalSetRows((), error.problems))

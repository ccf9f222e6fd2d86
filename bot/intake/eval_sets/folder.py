"""All eval sets of a folder: which files they are, and what holds for every format (limits, ids, order)."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from bot.config import Limits
from bot.documents import parse_yaml
from bot.errors import InputError, Problem
from bot.intake.eval_sets.columns import FORMATS_FILE, DeclaredFile, declaring, read_formats
from bot.intake.eval_sets.exported import with_setup
from bot.intake.eval_sets.identity import MadeIds, fault_of_id
from bot.intake.eval_sets.registry import fitting, names_of, readers
from bot.intake.eval_sets.rows import Reading, Row, too_many
from bot.intake.eval_sets.sources import glance, open_source
from bot.intake.eval_sets.strays import AGENT_FILE, files_of_the_agent, find_strays, foreign_files
from bot.intake.expected.carried import carried_id
from bot.intake.query import EvalSet, Query
from bot.snapshot import Rationed, Snapshot

_GLANCED_AT: Final = 300_000
"""Bytes of a file in which marks of formats are looked for: keys and headers stand before most of what they hold."""

UNKNOWN_FORMAT: Final = "unknown"
"""The format of a file that cannot be read so far that its format is seen, or that fits several."""


@dataclass(frozen=True, slots=True)
class _File:
    """An eval set file as its reader left it."""

    name: str
    format: str
    reading: Reading


def read_eval_sets(snapshot: Snapshot, limits: Limits) -> tuple[EvalSet, ...]:
    """Every eval set in ``snapshot``, sorted by file; its problems are those of the rows that could not be read.

    A file is an eval set if its ending and content say so, or ``formats.yaml`` does; the files of an agent package are
    not, and neither are plain files that the agent or a query names as data.  A file that cannot be parsed, but shows
    that it was meant as one, is an eval set without queries; so is one that may have been meant as one (see
    :mod:`~bot.intake.eval_sets.strays`).  Ids are unique in the folder: of
    two equal ones that files give, the first counts and the second is a fault; made ones give way (see
    :class:`~bot.intake.eval_sets.identity.MadeIds`).  ``limits.queries`` holds for the folder as a whole.

    Raises :class:`InputError` when the folder holds no eval set, or more than ``limits.package_files`` files.
    """
    return _assemble(_find(snapshot, limits), limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """An eval set that somebody named: the file at ``path`` of a folder's ``snapshot``, or all there are (``None``).

    ``declared`` is what they say of the file, and goes before what ``formats.yaml`` beside it says.
    """

    snapshot: Snapshot
    path: str | None = None
    declared: DeclaredFile | None = None


def read_files(named: Sequence[Named], limits: Limits) -> tuple[tuple[EvalSet, ...], ...]:
    """The eval sets of each of ``named``; ids and ``limits.queries`` hold for them as for one folder.

    A file that is named is meant as an eval set: where no format is recognised that is its fault.  Raises
    :class:`InputError` when a folder holds no eval set, or more than ``limits.package_files`` files.
    """
    found = [
        _find(_rationed(each.snapshot, limits), limits) if each.path is None else _named(each, each.path, limits)
        for each in named
    ]
    eval_sets = iter(_assemble([file for files in found for file in files], limits))
    return tuple(tuple(next(eval_sets) for _ in files) for files in found)


def _rationed(snapshot: Snapshot, limits: Limits) -> Snapshot:
    return Rationed(snapshot, limits.package_bytes)


def _named(each: Named, path: str, limits: Limits) -> list[_File]:
    snapshot, name = each.snapshot, each.snapshot.name(path)
    if each.declared is not None:
        return [_read_declared(snapshot, path, limits, each.declared)]
    formats = _declared(snapshot, snapshot.paths() if snapshot.exists(FORMATS_FILE) else (), limits)
    files = [_File(snapshot.name(FORMATS_FILE), UNKNOWN_FORMAT, Reading((), formats[1]))] if formats[1] else []
    try:
        file = _read_file(snapshot, path, limits, formats[0].get(path), plain=True)
        if file is None:
            # What hinders its reading says more than that nobody knows it.
            open_source(snapshot, path, limits)
            message = f"no eval set is recognised in this file; looked for: {names_of(readers())}"
            fix = "say which format it is with --format, or which column holds the query with --column query=NAME"
            raise InputError([Problem(name, None, message, fix)])
    except InputError as error:
        file = _File(name, UNKNOWN_FORMAT, Reading((), error.problems))
    return [*files, file]


def _find(snapshot: Snapshot, limits: Limits) -> list[_File]:
    """Every eval set file in ``snapshot`` and every one that may be meant as such, by path."""
    paths, links = snapshot.paths(), snapshot.links()
    folder = snapshot.name("").rstrip("/") or "."
    if len(paths) + len(links) > limits.package_files:
        count = f"the folder holds {len(paths) + len(links):,} files, more than the limit of {limits.package_files:,}"
        fix = "remove files that no agent needs, or raise limits.package_files in config/curation.yaml"
        raise InputError([Problem(folder, None, count, fix)])
    declared, wrong = _declared(snapshot, paths, limits)
    foreign = foreign_files(paths)
    found = {
        path: _read_file(snapshot, path, limits, declared.get(path), plain=path not in foreign)
        for path in paths
        if path != FORMATS_FILE
    }
    files = {path: file for path, file in found.items() if file is not None}
    # A set that another of its format names, as patterns may, is no part of it.
    used = {
        path
        for file in files.values()
        for path in file.reading.used
        if path not in files or files[path].format != file.format
    }
    files = {path: file for path, file in files.items() if path not in used}
    files = _without_data(snapshot, limits, files, declared)
    strays = find_strays(snapshot, limits, files.keys() | used | {FORMATS_FILE}, is_empty=not files)
    if not files:
        message = f"no eval set was found; looked for: {names_of(readers())}"
        fix = "put an eval set of one of these formats into the folder; `incumbent formats` describes them"
        missing = Problem(folder, None, message, fix)
        raise InputError([missing, *wrong, *(problem for problems in strays.values() for problem in problems)])
    if wrong:
        strays[FORMATS_FILE] = wrong
    for path, problems in strays.items():
        files[path] = _File(snapshot.name(path), UNKNOWN_FORMAT, Reading((), problems))
    return [files[path] for path in sorted(files)]


def _without_data(
    snapshot: Snapshot, limits: Limits, files: Mapping[str, _File], declared: Collection[str]
) -> dict[str, _File]:
    """``files`` without those that are data of the agent or of queries, which only look like plain eval sets."""
    plain = {reader.name for reader in readers() if reader.plain}
    guessed = {path for path, file in files.items() if file.format in plain and path not in declared}
    setups = [row.setup for path, file in files.items() if path not in guessed for row in file.reading.rows]
    needed = {posixpath.basename(name) for setup in setups for name in (*setup.fixtures, *setup.attachments)}
    data = files_of_the_agent(snapshot, limits, guessed)
    data |= {path for path in guessed if posixpath.basename(path) in needed}
    return {path: file for path, file in files.items() if path not in data}


def _declared(
    snapshot: Snapshot, paths: Sequence[str], limits: Limits
) -> tuple[Mapping[str, DeclaredFile], tuple[Problem, ...]]:
    """What ``formats.yaml`` says, and what is wrong with it."""
    if FORMATS_FILE not in paths:
        return {}, ()
    try:
        content = snapshot.read(FORMATS_FILE, limits.reading)
        document = parse_yaml(content, snapshot.name(FORMATS_FILE), limits.reading)
        known = {reader.name for reader in readers()}
        named = {reader.name for reader in readers() if reader.names_columns}
        return read_formats(document, paths, known, named), ()
    except InputError as error:
        return {}, error.problems


def _read_file(
    snapshot: Snapshot, path: str, limits: Limits, declared: DeclaredFile | None, *, plain: bool
) -> _File | None:
    """The file at ``path`` if it is an eval set, with its faults if it cannot be read; else ``None``.

    ``plain`` allows the formats that have nothing of their own to be told by.
    """
    base = path.rsplit("/", 1)[-1].lower()
    possible = [reader for reader in readers() if base.endswith(reader.endings) and (plain or not reader.plain)]
    name = snapshot.name(path)
    if declared is not None:
        return _read_declared(snapshot, path, limits, declared)
    if not possible or AGENT_FILE.fullmatch(base):
        return None
    try:
        content = snapshot.read(path, limits.reading)
    except InputError as error:
        return _File(name, UNKNOWN_FORMAT, Reading((), error.problems))
    glanced = glance(content[:_GLANCED_AT])
    marked = [reader for reader in possible if reader.mark.search(glanced)]
    if not marked:
        return None
    try:
        source = open_source(snapshot, path, limits)
        fit = fitting(source, marked)
        if len(fit) == 1:
            return _File(name, fit[0].name, fit[0].read(source))
    except InputError as error:
        meant = [reader.name for reader in marked if not reader.plain]
        if not meant:
            return None
        return _File(name, meant[0] if len(meant) == 1 else UNKNOWN_FORMAT, Reading((), error.problems))
    if not fit:
        return None
    names = " and ".join(reader.name for reader in fit)
    fix = f"name the format that is meant: {declaring(name, path, fit[0].name)}"
    ambiguous = Problem(name, 1, f"the file can be read as several formats: {names}", fix)
    return _File(name, UNKNOWN_FORMAT, Reading((), (ambiguous,)))


def _read_declared(snapshot: Snapshot, path: str, limits: Limits, declared: DeclaredFile) -> _File:
    """The file at ``path`` in the format that ``formats.yaml`` names, whatever it looks like."""
    name = snapshot.name(path)
    (reader,) = (reader for reader in readers() if reader.name == declared.format)
    if not path.lower().endswith(reader.endings):
        message = f"{reader.name} is not read from files of this name"
        wrong = Problem(name, None, message, f"give the file one of the endings {', '.join(reader.endings)}")
        return _File(name, reader.name, Reading((), (wrong,)))
    try:
        return _File(name, reader.name, reader.read(open_source(snapshot, path, limits, declared.columns)))
    except InputError as error:
        return _File(name, reader.name, Reading((), error.problems))


def _assemble(files: Sequence[_File], limits: Limits) -> tuple[EvalSet, ...]:
    """The eval sets of ``files``: rows within the limits, each with an id of its own."""
    problems: dict[str, list[Problem]] = {file.name: list(file.reading.problems) for file in files}
    kept: list[tuple[str, Row]] = []
    for file in files:
        found: list[Problem] = []
        if not file.reading.rows and not file.reading.problems:
            found.append(Problem(file.name, 1, "the eval set holds no queries", "add at least one"))
        for row in file.reading.rows:
            problem = partial(Problem, file.name, row.line)
            if too_many(found, problem):
                break
            if len(kept) == limits.queries:
                message = (
                    f"the folder holds more queries than the limit of {limits.queries:,}; they are read up to here"
                )
                found.append(problem(message, "remove queries, or raise limits.queries in config/curation.yaml"))
                break
            faults = _faults(file.name, row, limits)
            if not faults:
                kept.append((file.name, row))
            found.extend(faults)
        problems[file.name].extend(found)
    queries = _identify(_told_apart(kept), problems)
    return tuple(
        EvalSet(
            file=file.name,
            format=file.format,
            queries=tuple(query for query in queries if query.file == file.name),
            problems=InputError(problems[file.name]).problems,
        )
        for file in files
    )


def _faults(file: str, row: Row, limits: Limits) -> list[Problem]:
    """What is wrong with a row in any format."""
    faults: list[Problem] = []
    if row.id is not None and (wrong := fault_of_id(row.id)) is not None:
        faults.append(Problem(file, row.line, wrong, "write a short id in one line, or none"))
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
        if len(turn) > limits.turn_characters:
            message = f"{which} has {len(turn):,} characters, more than the limit of {limits.turn_characters:,}"
            fix = "shorten it, or raise limits.turn_characters in config/curation.yaml"
            faults.append(Problem(file, row.line, message, fix))
    return faults


def _told_apart(kept: Sequence[tuple[str, Row]]) -> list[tuple[str, Row]]:
    """The rows; of files that number their queries alike, the later ones have their name before each id."""
    given: dict[str, set[str]] = {}
    for file, row in kept:
        if row.id is not None and carried_id(row.expected) is None:
            given.setdefault(file, set()).add(row.id)
    names: dict[str, str] = {}
    taken: set[str] = set()
    for file, ids in given.items():
        name = next((name for name in ("", *_ends(file)) if taken.isdisjoint(_called(ids, name))), "")
        taken |= _called(ids, name)
        if name and not any(map(fault_of_id, _called(ids, name))):
            names[file] = f"{name}/"
    return [
        (file, replace(row, id=names[file] + row.id) if row.id is not None and file in names else row)
        for file, row in kept
    ]


def _called(ids: Collection[str], name: str) -> set[str]:
    return {f"{name}/{id}" if name else id for id in ids}


def _ends(file: str) -> Iterator[str]:
    """The name of a file without its ending, and with more and more of the folders around it."""
    parts = posixpath.splitext(file)[0].split("/")
    return ("/".join(parts[place:]) for place in reversed(range(len(parts))))


def _identify(kept: Sequence[tuple[str, Row]], problems: dict[str, list[Problem]]) -> list[Query]:
    """The rows as queries, ids that files give before made ones; a repeated id is added to ``problems``.

    A row that an export of a regression set wrote has the entry's id and set-up; a copy of it has not that id.
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

"""The files of a folder as eval sets: what holds for every format (limits, ids, what must not be in them)."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from bot.config import Limits
from bot.errors import InputError, Problem
from bot.files.documents import Data
from bot.intake.eval_sets.exported import with_setup
from bot.intake.eval_sets.identity import MadeIds, fault_of_id
from bot.intake.eval_sets.rows import Reading, Row, enough, too_many
from bot.intake.expected.carried import carried_id
from bot.intake.query import EvalSet, Query
from bot.text.secrets import holds_key

_ANOTHER_ID: Final = "write a short id in one line that names nobody, or none: ids become names of files"
_MADE_UP: Final = "revoke it if it is real, since others have seen it, and write one that nobody takes for a key"


@dataclass(frozen=True, slots=True)
class ReadFile:
    """An eval set file as its reader left it."""

    name: str
    format: str
    reading: Reading


def assemble(files: Sequence[ReadFile], limits: Limits) -> tuple[EvalSet, ...]:
    """The eval sets of ``files``: rows within the limits, each with an id of its own."""
    files = [replace(file, reading=_titled(file.reading)) for file in files]
    problems: dict[str, list[Problem]] = {file.name: list(file.reading.problems) for file in files}
    kept: list[tuple[str, Row]] = []
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
    queries = _identify(_told_apart(files, kept), problems)
    return tuple(
        EvalSet(
            file=file.name,
            format=file.format,
            queries=tuple(query for query in queries if query.file == file.name),
            problems=InputError(problems[file.name]).problems,
        )
        for file in files
    )


def _titled(reading: Reading) -> Reading:
    """``reading`` with the titles as ids of rows that have none, where each is one row's alone and fit for an id."""
    names = Counter(row.title if row.id is None else row.id for row in reading.rows)

    def titled(row: Row) -> Row:
        is_fit = row.title is not None and names[row.title] == 1 and fault_of_id(row.title) is None
        return replace(row, id=row.title) if row.id is None and is_fit else row

    return replace(reading, rows=tuple(map(titled, reading.rows)))


def _faults(file: str, row: Row, limits: Limits, keys: _Keys) -> list[Problem]:
    """What is wrong with a row in any format."""
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
            faults.append(Problem(file, row.line, f"{which} holds a NUL character", "remove it"))
        if keys.are_in(turn):
            faults.append(Problem(file, row.line, f"{which} holds what looks like a key", _MADE_UP))
        if len(turn) > limits.turn_characters:
            message = f"{which} has {len(turn):,} characters, more than the limit of {limits.turn_characters:,}"
            fix = "shorten it, or raise limits.turn_characters in config/curation.yaml"
            faults.append(Problem(file, row.line, message, fix))
    setup = row.setup
    names = (setup.tenant, *setup.connectors, *setup.fixtures, *setup.attachments)
    for what, told in (("what is expected", (row.expected,)), ("the set-up", names)):
        if any(map(keys.are_in, told)):
            faults.append(Problem(file, row.line, f"{what} holds what looks like a key", _MADE_UP))
    return faults


class _Keys:
    """Looks for keys of providers; what several rows share, as what a file says of all of them, is looked at once."""

    def __init__(self) -> None:
        self._texts: dict[str, bool] = {}
        self._parts: dict[int, bool] = {}

    def are_in(self, data: Data) -> bool:
        """Whether one stands in a text of ``data``, which lives as long as this does; names of keys included."""
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


def _told_apart(files: Sequence[ReadFile], kept: Sequence[tuple[str, Row]]) -> list[tuple[str, Row]]:
    """``kept``; of ``files`` that number their queries alike, the later ones have their name before each id."""
    taken: set[str] = set()
    given: dict[str, set[str]] = {file.name: set() for file in files}
    # Rows with faults count as well: whoever mends one changes nobody's id.
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
    return [(name, _named(row, names[name])) for name, row in kept]


def _named(row: Row, name: str) -> Row:
    if not name or row.id is None or fault_of_id(f"{name}/{row.id}") is not None:
        return row
    return row if carried_id(row.expected) is not None else replace(row, id=f"{name}/{row.id}")


def _called(ids: Collection[str], name: str) -> set[str]:
    return {f"{name}/{id}" if name else id for id in ids}


def _ends(file: str) -> Iterator[str]:
    """The name of a file without its ending, and with more and more of the folders around it."""
    parts = posixpath.splitext(file)[0].split("/")
    return ("/".join(parts[place:]) for place in reversed(range(len(parts))))


def _identify(kept: Sequence[tuple[str, Row]], problems: dict[str, list[Problem]]) -> list[Query]:
    """The rows as queries, ids that files give before made ones; a repeated id is added to ``problems``.

    Of two equal ids that a file gives the first counts, and made ones give way (see
    :class:`~bot.intake.eval_sets.identity.MadeIds`).

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

"""Reads exemplar files, ``taxonomy/exemplars/*.tsv`` and translations, and reports every fault (pure).

Rows are checked only here: there are thousands, and each command reads them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from incumbent.errors import InputError, Problem
from incumbent.files.label_tables import UNKNOWN, LabelTable, read_labels, read_table
from incumbent.files.snapshot import MOST_FAULTS, ReadingLimits
from incumbent.taxonomy.model import Exemplar, Taxonomy
from incumbent.text.compare import normalise
from incumbent.text.did_you_mean import did_you_mean

EXEMPLARS_FOLDER: Final = "taxonomy/exemplars"
TRANSLATIONS_FOLDER: Final = f"{EXEMPLARS_FOLDER}/translations"
ENDING: Final = ".tsv"

HEADER: Final = ("id", "labels", "lookalikes", "turns")
SHORT_HEADER: Final = ("id", "labels", "turns")
TRANSLATION_HEADER: Final = ("id", "turns")
ORIGINAL_HEADERS: Final = (HEADER, SHORT_HEADER)
_WRITE_HEADER: Final = "write `id`, `labels`, `lookalikes` and `turns`, with tabs between, before the first row"
_WRITE_TRANSLATION_HEADER: Final = "write `id` and `turns`, with a tab between, before the first row"

MAX_ID: Final = 40
"""Maximum length of an exemplar's id."""
_LINE: Final = re.compile(r"[^\r\n]+")
_ID: Final = re.compile(r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*")
_LANGUAGE: Final = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")


@dataclass(frozen=True, slots=True)
class ExemplarFile:
    """The text of an exemplar file at ``path``; messages show ``name``."""

    path: str
    name: str
    text: str

    @property
    def stem(self) -> str:
        """The file's name without its ending: the author, or the language of a translation."""
        return self.path.rpartition("/")[2].removesuffix(ENDING)


def misplaced(path: str) -> tuple[str, str] | None:
    """Why a file at ``path`` below the folder of exemplars is misplaced, and the fix; ``None`` if it is not."""
    folder, _, name = path.rpartition("/")
    if folder not in (EXEMPLARS_FOLDER, TRANSLATIONS_FOLDER):
        return "no exemplars are read from this folder", f"put the file into {EXEMPLARS_FOLDER}/"
    if not name.endswith(ENDING):
        return "exemplar files end in .tsv, and this one is not read", "rename it, or move it elsewhere"
    stem = name.removesuffix(ENDING)
    if folder == TRANSLATIONS_FOLDER and not _LANGUAGE.fullmatch(stem):
        return "the name of the file is no language", "name it after its language, as in de.tsv or pt-BR.tsv"
    if not _is_id(stem):
        fix = f"use letters, digits, dots and dashes, at most {MAX_ID}, as in hand-1.tsv"
        return "the name of the file, which says who wrote the exemplars, is not an id", fix
    return None


def is_exemplar_file(path: str) -> bool:
    """Whether a file at ``path`` below the folder of exemplars should be an exemplar file, no note or hidden file."""
    name = path.rpartition("/")[2]
    return not name.startswith(".") and not name.lower().endswith(".md")


def read_exemplars(
    files: Mapping[str, ExemplarFile],
    taxonomy: Taxonomy,
    limits: ReadingLimits,
    *,
    checked: bool = False,
    complete: bool = True,
) -> tuple[Exemplar, ...]:
    """The rows of ``files`` (by path): first the originals in the order of paths, then translations by language.

    ``taxonomy`` gives the known capabilities; if it has none, a fault reported elsewhere, names are not checked.
    ``checked`` files passed before, so that their rows are not compared again.  If ``files`` are not ``complete``,
    originals may be in files that could not be read.  Raises :class:`InputError` with every fault of every file.
    """
    reading = _Reading(taxonomy, limits, checked, complete)
    for path in sorted(files):
        if not is_translation(path):
            reading.originals(files[path])
    for path in sorted(files):
        if is_translation(path):
            reading.translations(files[path])
    if reading.problems:
        raise InputError(reading.problems)
    return tuple(reading.rows)


def is_translation(path: str) -> bool:
    """Whether the exemplar file at ``path`` contains translations."""
    return path.startswith(f"{TRANSLATIONS_FOLDER}/")


class _Place(NamedTuple):
    """An exemplar, its file's name in messages, and its line."""

    row: Exemplar
    name: str
    line: int

    def __str__(self) -> str:
        return f"{self.row.id} ({self.name}:{self.line})"


class _Reading:
    """The rows and faults of all files so far."""

    def __init__(self, taxonomy: Taxonomy, limits: ReadingLimits, checked: bool, complete: bool) -> None:
        self._taxonomy, self._limits, self._checked, self._complete = taxonomy, limits, checked, complete
        self.rows: list[Exemplar] = []
        self.problems: list[Problem] = []
        self._by_id: dict[str, _Place] = {}
        self._by_text: dict[str, _Place] = {}
        self._unread: set[str] = set()

    def originals(self, file: ExemplarFile) -> None:
        """Read a file of originals."""
        table = self._table(file, ORIGINAL_HEADERS, _WRITE_HEADER)
        if table is None:
            return
        words = _FileNames(self._taxonomy, file, table)
        self.problems += words.problems
        first, hand = len(table.header) - 1, file.stem
        for line, cells in self._cells(file, table, first):
            looks = cells[2] if first > 2 else ""
            (exercises, resembles, unknown), faults = words.meaning(cells[1], looks, line)
            row = Exemplar(
                id=cells[0],
                hand=hand,
                turns=tuple(cells[first:]),
                exercises=exercises,
                resembles=resembles,
                unknown=unknown,
            )
            self.rows.append(row)
            self.problems += faults
            place = _Place(row, file.name, line)
            if not self._checked:
                self._check_original(place)
            self._by_id.setdefault(row.id, place)

    def translations(self, file: ExemplarFile) -> None:
        """Read a file of translations."""
        table = self._table(file, (TRANSLATION_HEADER,), _WRITE_TRANSLATION_HEADER)
        if table is None:
            return
        language = file.stem
        seen: dict[str, int] = {}
        for line, cells in self._cells(file, table, 1):
            original = self._by_id.get(cells[0])
            if original is None:
                if self._complete and cells[0] not in self._unread:
                    fix = f"write the id of a row of {EXEMPLARS_FOLDER}/, or remove the row"
                    self._complain(file, line, f"no original has the id {cells[0]!r}", fix)
                continue
            its = original.row
            row = Exemplar(
                id=its.id,
                hand=its.hand,
                language=language,
                turns=tuple(cells[1:]),
                exercises=its.exercises,
                resembles=its.resembles,
                unknown=its.unknown,
            )
            self.rows.append(row)
            if self._checked:
                continue
            if seen.setdefault(row.id, line) != line:
                message = f"{row.id} is translated in line {seen[row.id]} already"
                self._complain(file, line, message, "remove one of the two")
            self._check_translation(_Place(row, file.name, line), original)

    def _table(self, file: ExemplarFile, headers: Collection[tuple[str, ...]], fix: str) -> LabelTable | None:
        try:
            table = read_table(file.text, file.name, headers, fix, self._limits)
        except InputError as error:
            self.problems += error.problems
            for line in islice(_LINE.finditer(file.text), self._limits.nodes):
                self._leave_unread(line[0])
            return None
        self.problems += table.problems
        for word in table.capabilities or ():
            message = "an exemplar file says of every capability whether a query exercises it"
            self._complain(file, word.line, message, "remove the line `# capabilities:`")
        return table

    def _cells(self, file: ExemplarFile, table: LabelTable, first: int) -> Iterator[tuple[int, list[str]]]:
        """The line and the cells of each row that is not a comment and has turns, from the cell ``first`` on."""
        before = len(self.problems)
        for line, text in table.rows:
            if text[0] == "#":
                continue
            cells = text.rstrip("\t").split("\t")
            if len(cells) <= first or len(self.problems) - before >= MOST_FAULTS:
                self._leave_unread(text)
                if len(self.problems) - before < MOST_FAULTS:
                    self._too_short(file, table, line, len(text.split("\t")))
                continue
            if not self._checked and not all(map(str.strip, cells[first:])):
                self._complain(file, line, "a turn is empty", "write the text between the tabs")
            yield line, cells

    def _leave_unread(self, row: str) -> None:
        """Remember the possible ids of ``row``, which may have spaces instead of tabs."""
        self._unread.update((row.partition("\t")[0], *row.split(maxsplit=1)[:1]))

    def _too_short(self, file: ExemplarFile, table: LabelTable, line: int, cells: int) -> None:
        columns = ", ".join(f"`{name}`" for name in table.header)
        message = "the row has no query"
        if cells < len(table.header):
            message = f"the row has {cells} of the {len(table.header)} cells of the header"
        self._complain(file, line, message, f"write {columns}, with a tab between them; an empty cell keeps its tab")

    def _check_original(self, place: _Place) -> None:
        id = place.row.id
        if not _is_id(id):
            fix = f"write letters, digits, dots and dashes, at most {MAX_ID}, as in h1-0001"
            self._complain_at(place, f"{id!r} is not an id of an exemplar", fix)
            self._leave_unread(id)
        elif id in self._by_id:
            self._complain_at(place, f"the id is given twice: {self._by_id[id]}", "give each row an id of its own")
        text = normalise(place.row.turns)
        if (other := self._by_text.setdefault(text, place)) is not place:
            fix = "keep one of the two rows, with the labels of both"
            self._complain_at(place, f"the same text is in {other}", fix)

    def _check_translation(self, place: _Place, original: _Place) -> None:
        row, its = place.row, original.row
        if len(row.turns) != len(its.turns):
            message = f"{row.id} has {len(row.turns)} turns here, and {len(its.turns)} in {original}"
            self._complain_at(place, message, "translate turn by turn, with a tab between turns")
        text = normalise(row.turns)
        other = self._by_text.setdefault(text, place)
        if other.row.id == row.id:
            if other.row.language is None:
                self._complain_at(place, f"{row.id} is not translated: it is the text of {other}", "translate it")
        elif _labels(other.row) != _labels(row):
            message = f"the same text is in {other}, which has other labels than {original}"
            self._complain_at(place, message, "word the two so that they differ, or make their labels agree")

    def _complain(self, file: ExemplarFile, line: int | None, message: str, fix: str) -> None:
        self.problems.append(Problem(file.name, line, message, fix))

    def _complain_at(self, place: _Place, message: str, fix: str) -> None:
        self.problems.append(Problem(place.name, place.line, message, fix))


def _is_id(text: str) -> bool:
    return len(text) <= MAX_ID and _ID.fullmatch(text) is not None


def _labels(row: Exemplar) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(row.exercises), frozenset(row.unknown)


_Labels: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""The capabilities that a row exercises, those that it resembles, and those that are unknown."""

_Faults: TypeAlias = tuple[tuple[str, str], ...]
"""Messages, each with its fix."""


class _FileNames:
    """The names in one file; ``problems`` are those of its directives."""

    def __init__(self, taxonomy: Taxonomy, file: ExemplarFile, table: LabelTable) -> None:
        self._taxonomy, self._file = taxonomy, file
        self._meanings = table.meanings
        self._judges = bool(taxonomy.capabilities)
        self._known: dict[tuple[str, str], tuple[_Labels, _Faults]] = {}
        self._sound: dict[str, tuple[tuple[str, ...], tuple[str, ...]] | None] = {}
        self._group = {member.id: group for group, members in taxonomy.exactly_one.items() for member in members}
        self._reported: set[str] = set()
        self.problems = []
        for name, word in table.meanings.items():
            if self._judges and word.text not in taxonomy.by_id:
                message, fix = _unknown(word.text, taxonomy)
                self.problems.append(Problem(file.name, word.line, f"{name!r} cannot stand for that: {message}", fix))

    def meaning(self, labels: str, lookalikes: str, line: int) -> tuple[_Labels, list[Problem]]:
        """The meaning of the two cells of the row in ``line``, and the faults to report there."""
        found = self._known.get((labels, lookalikes))
        if found is None:
            found = self._known[labels, lookalikes] = self._read(labels, lookalikes)
        meant, faults = found
        problems: list[Problem] = []
        for message, fix in faults:
            # An unknown name is reported once, not for each row.
            if fix not in _OF_NAMES or message not in self._reported:
                problems.append(Problem(self._file.name, line, message, fix))
            self._reported.add(message)
        return meant, problems

    def _read(self, labels: str, lookalikes: str) -> tuple[_Labels, _Faults]:
        said, looks = self._sound_cell(labels), self._sound_cell(lookalikes)
        if said is None or looks is None or looks[1]:
            return self._read_with_faults(labels, lookalikes)
        (exercises, unknown), (resembles, _) = said, looks
        groups = [self._group[id] for id in exercises if id in self._group]
        if len(groups) > len(set(groups)) or not {*exercises, *unknown}.isdisjoint(resembles):
            return self._read_with_faults(labels, lookalikes)
        return (exercises, resembles, unknown), ()

    def _sound_cell(self, cell: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """What is TRUE and what is unknown by ``cell``; ``None`` if something is wrong with it.

        Most cells are in many rows.
        """
        if cell not in self._sound:
            faults: list[tuple[str, str]] = []
            labels = read_labels(cell)
            true, unknown = self._ids(labels.true, faults), self._ids(labels.unknown, faults)
            wrong = labels.faults or faults or not set(true).isdisjoint(unknown)
            self._sound[cell] = None if wrong else (true, unknown)
        return self._sound[cell]

    def _read_with_faults(self, labels: str, lookalikes: str) -> tuple[_Labels, _Faults]:
        faults: list[tuple[str, str]] = []
        said, looks = read_labels(labels), read_labels(lookalikes)
        faults += (*said.faults, *looks.faults)
        faults += ((f"{UNKNOWN}{name} is under lookalikes", _NO_DOUBT) for name in looks.unknown)
        exercises, resembles, unknown = (
            self._ids(names, faults) for names in (said.true, (*looks.true, *looks.unknown), said.unknown)
        )
        for id in sorted({*exercises, *unknown} & {*resembles}):
            faults.append((f"{id} is both a label and a lookalike", "keep one of the two"))
        for id in sorted({*exercises} & {*unknown}):
            faults.append((f"{id} is labelled twice", "keep one of the two"))
        for group, members in self._taxonomy.exactly_one.items():
            several = [member.id for member in members if member.id in exercises]
            if len(several) > 1:
                message = f"{' and '.join(several)} are members of {group}, and a query exercises exactly one of them"
                faults.append((message, "keep the one that it exercises"))
        return (exercises, resembles, unknown), tuple(faults)

    def _ids(self, names: Collection[str], faults: list[tuple[str, str]]) -> tuple[str, ...]:
        """The capabilities of ``names``; adds what is wrong to ``faults``."""
        found: list[str] = []
        for name in names:
            word = self._meanings.get(name)
            id = name if word is None else word.text
            if id in found:
                faults.append((f"{id} is labelled twice", "keep one of the two"))
            elif id in self._taxonomy.by_id or not self._judges:
                found.append(id)
            elif word is None:
                # The targets of the file's own short names are checked at its directive.
                faults.append(_unknown(id, self._taxonomy, self._meanings))
        return tuple(found)


_NAME_IT: Final = "write the id of a capability, or give the meaning of a short name: `# names: SHORT=CAPABILITY`"
_CARRY_IT: Final = (
    "run `incumbent migrate`, with `--from` the last commit that has it as a capability if that is not HEAD"
)
_TAKE_OUT: Final = "take it out; `incumbent migrate` does, if the taxonomy of HEAD still has it as a capability"
_OF_NAMES: Final = (_NAME_IT, _CARRY_IT, _TAKE_OUT)
_NO_DOUBT: Final = "write `?` before labels only; a lookalike is not exercised"


def _unknown(id: str, taxonomy: Taxonomy, more: Collection[str] = ()) -> tuple[str, str]:
    """Why ``id`` is not a capability, and the fix."""
    parts = [item.id for item in taxonomy.capabilities if item.split == id]
    if parts:
        return f"{id} was split into {', '.join(parts)}", _CARRY_IT
    now = next((item.id for item in taxonomy.capabilities if item.was == id), None)
    if now is not None:
        return f"{id} is called {now} now", _CARRY_IT
    if id in taxonomy.retired:
        return f"{id} is retired", _TAKE_OUT
    return f"the taxonomy has no capability {id!r}{did_you_mean(id, (*taxonomy.by_id, *more))}", _NAME_IT

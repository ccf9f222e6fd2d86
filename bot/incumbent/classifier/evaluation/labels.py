"""Labelled queries: the capabilities that people say queries exercise, in label files of any format or corrections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from incumbent.classifier.corrections import Corrections
from incumbent.errors import InputError, Problem, untrusted
from incumbent.files.documents import Data, Document, as_mapping, decode, parse
from incumbent.files.label_tables import Word, read_labels, read_table
from incumbent.files.validation import FileModel, FormatVersion, Text, Tuple, validate
from incumbent.intake.query import SpokenFile
from incumbent.taxonomy.config import REVIEWED_FILES, Limits
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.compare import text_key
from incumbent.text.did_you_mean import did_you_mean

LEFT_OUT = "-"
"""The meaning of a name that is left out: it labels nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledQuery:
    """The turns of a query and its labels; a capability that is not in ``values`` is unknown, which is not FALSE.

    ``file`` and ``line`` say where it was read.
    """

    turns: tuple[str, ...]
    values: Mapping[str, bool]
    file: str
    line: int | None

    @property
    def key(self) -> str:
        """The digest of its text; queries that differ only in case and white space are one."""
        return text_key(self.turns)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRow:
    """One query of a label file: the names that are TRUE and those that are unknown, as the file writes them."""

    turns: tuple[str, ...]
    true: tuple[str, ...]
    unknown: tuple[str, ...]
    line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFile:
    """A label file as it was read: its rows, and the faults of unreadable ones.

    ``capabilities`` are all names that it may label (``None``: those that occur in its rows).  ``meanings`` maps the
    file's own names to capability ids, or to ``-`` for a name that is left out.
    """

    file: str
    rows: tuple[LabelRow, ...]
    capabilities: tuple[Word, ...] | None = None
    meanings: Mapping[str, Word]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LabelVocabulary:
    """The possible meanings of names in label files.

    ``meanings`` maps names to capability ids or ``-``, for files that do not define them.  Without an agent
    (``with_agent``) only capabilities that are judged from the text can be labelled: the others are facts about an
    agent and its tools.
    """

    taxonomy: Taxonomy
    meanings: Mapping[str, str]
    with_agent: bool

    @property
    def capabilities(self) -> tuple[str, ...]:
        """The capabilities that can be labelled, in the taxonomy's order."""
        return tuple(item.id for item in self.taxonomy.capabilities if self.with_agent or item.is_judged_from_text)

    def fault(self, capability: str) -> tuple[str, str] | None:
        """The fault of a label for ``capability``, and its fix; ``None`` without a fault."""
        if capability not in self.taxonomy.by_id:
            known = self.capabilities
            return (
                f"the taxonomy has no capability {capability!r}{did_you_mean(capability, known)}",
                f"write its id, or map the name: --name {untrusted(capability)}=CAPABILITY ({LEFT_OUT} leaves it out)",
            )
        if capability not in self.capabilities:
            source = self.taxonomy.by_id[capability].source
            return (
                f"{capability} is decided by the agent (`source: {source}`), and a label file has no agent",
                f"give one with --agent DIR, or leave the name out: --name {capability}={LEFT_OUT}",
            )
        return None


def join(queries: Iterable[LabelledQuery]) -> tuple[LabelledQuery, ...]:
    """One query for each text, with all its labels, sorted by key: files may come in any order.

    Raises :class:`InputError` where two rows of one text contradict each other; unknown contradicts nothing.
    """
    problems: list[Problem] = []
    found: dict[str, dict[str, tuple[bool, LabelledQuery]]] = {}
    first: dict[str, LabelledQuery] = {}
    for query in queries:
        key = query.key
        first.setdefault(key, query)
        known = found.setdefault(key, {})
        for capability, value in query.values.items():
            before, other = known.setdefault(capability, (value, query))
            if before != value:
                place = other.file if other.line is None else f"{other.file}:{other.line}"
                message = f"{capability} is {_word(value)} here, and {_word(before)} for the same text in {place}"
                problems.append(Problem(query.file, query.line, message, "settle which of the two is right"))
    if problems:
        raise InputError(problems)
    return tuple(
        LabelledQuery(
            turns=first[key].turns,
            values={capability: value for capability, (value, _) in found[key].items()},
            file=first[key].file,
            line=first[key].line,
        )
        for key in sorted(first)
    )


def _word(value: bool) -> str:
    return "TRUE" if value else "FALSE"


def resolve(file: LabelFile, vocabulary: LabelVocabulary) -> tuple[tuple[LabelledQuery, ...], tuple[Problem, ...]]:
    """The queries of ``file`` under capability ids, and all its faults."""
    return _Resolver(file, vocabulary).resolve()


class _Resolver:
    """Maps the names of one file to capability ids; an unknown name is one fault, wherever it occurs."""

    def __init__(self, file: LabelFile, vocabulary: LabelVocabulary) -> None:
        self.file = file
        self.vocabulary = vocabulary
        self.problems = list(file.problems)
        self.meant: dict[str, str | None] = {}

    def resolve(self) -> tuple[tuple[LabelledQuery, ...], tuple[Problem, ...]]:
        for name, meaning in self.file.meanings.items():
            fault = None if meaning.text == LEFT_OUT else self.vocabulary.fault(meaning.text)
            if fault is not None:
                message = f"{name!r} cannot stand for that: {fault[0]}"
                self._complain(meaning.line, message, f"write the id of a capability, or {LEFT_OUT} to leave it out")
        listed = self.file.capabilities
        named = (
            None
            if listed is None
            else self._meanings([word.text for word in listed], listed[0].line if listed else None)
        )
        rows = [
            (row, self._meanings(row.true, row.line), self._meanings(row.unknown, row.line)) for row in self.file.rows
        ]
        labelled = {item for _, true, unknown in rows for item in (*true, *unknown)} if named is None else set(named)
        if self.file.rows and not labelled and not self.problems:
            message = "the file labels no capability: none occurs in it"
            self._complain(None, message, "list what it labels under `capabilities`; all of these are FALSE then")
        queries = [self._query(row, true, unknown, labelled) for row, true, unknown in rows]
        return tuple(queries), tuple(self.problems)

    def _query(self, row: LabelRow, true: Sequence[str], unknown: Sequence[str], labelled: set[str]) -> LabelledQuery:
        for capability in sorted({*true} & {*unknown}):
            self._complain(row.line, f"{capability} is both TRUE and unknown", "keep one of the two")
        for capability in sorted({*true, *unknown} - labelled):
            message = f"{capability} is not among the capabilities that the file says it labels"
            self._complain(row.line, message, "add it to `capabilities`, or take the label out")
        return LabelledQuery(
            turns=row.turns,
            values={
                name: name in true for name in self.vocabulary.capabilities if name in labelled and name not in unknown
            },
            file=self.file.file,
            line=row.line,
        )

    def _meanings(self, names: Iterable[str], line: int | None) -> list[str]:
        found = (self._meaning(name, line) for name in names)
        return [item for item in found if item is not None]

    def _meaning(self, name: str, line: int | None) -> str | None:
        """The capability that ``name`` means; ``None`` for one that is left out or unknown."""
        if name not in self.meant:
            own = self.file.meanings.get(name)
            capability = self.vocabulary.meanings.get(name, name) if own is None else own.text
            fault = None if capability == LEFT_OUT else self.vocabulary.fault(capability)
            # The meaning of a name that the file defines was checked where the file defines it.
            if fault is not None and own is None:
                self._complain(line, *fault)
            self.meant[name] = None if capability == LEFT_OUT or fault is not None else capability
        return self.meant[name]

    def _complain(self, line: int | None, message: str, fix: str) -> None:
        self.problems.append(Problem(self.file.file, line, message, fix))


HEADERS: Final[Mapping[tuple[str, ...], bool]] = {("labels", "query"): False, ("labels", "turns"): True}
"""The header's cells, and whether the cells behind the labels are turns of one query."""
_FIX = "write `labels`, a tab and `query` on the first line (or `turns`, for queries of several turns)"


def read_tsv(text: str, file: str, limits: Limits) -> LabelFile:
    """The rows of ``text``, with the faults of unreadable ones; raises :class:`InputError` without a header."""
    table = read_table(text, file, HEADERS.keys(), _FIX, REVIEWED_FILES)
    problems = list(table.problems)
    reading = _LabelRows(file, limits, HEADERS[table.header], problems)
    rows = [row for number, line in table.rows if (row := reading.row(number, line))]
    return LabelFile(
        file=file,
        rows=tuple(rows),
        capabilities=table.capabilities,
        meanings=table.meanings,
        problems=tuple(problems),
    )


class _LabelRows:
    """The rows of one file; their faults are added to ``problems``."""

    def __init__(self, file: str, limits: Limits, turns: bool, problems: list[Problem]) -> None:
        self.file, self.limits, self.turns, self.problems = file, limits, turns, problems

    def complain(self, line: int, message: str, fix: str) -> None:
        self.problems.append(Problem(self.file, line, message, fix))

    def row(self, number: int, line: str) -> LabelRow | None:
        """The query on a line; ``None`` if there is none or it cannot be read."""
        before = len(self.problems)
        cell, tab, rest = line.rstrip("\t").partition("\t")
        cells = rest.split("\t") if tab else []
        if not cells:
            fix = "write the labels, a tab and the query; without labels the line begins with the tab"
            self.complain(number, "the line has no query", fix)
        elif len(cells) > 1 and not self.turns:
            fix = "replace tabs in the query by spaces; for queries of several turns make the header `labels<TAB>turns`"
            self.complain(number, f"the line has {len(cells) + 1} cells, and the header 2", fix)
        self._check_turns(number, cells)
        labels = read_labels(cell)
        for message, fix in labels.faults:
            self.complain(number, message, fix)
        if len(self.problems) > before:
            return None
        return LabelRow(turns=tuple(cells), true=labels.true, unknown=labels.unknown, line=number)

    def _check_turns(self, number: int, cells: list[str]) -> None:
        for cell in cells:
            if not cell.strip():
                self.complain(number, "a turn is empty", "write the text between the tabs")
        self.problems += turn_problems(self.file, number, cells, self.limits)


def turn_problems(file: str, line: int | None, turns: list[str], limits: Limits) -> list[Problem]:
    """The ``turns`` that exceed the limits of a query, as faults."""
    problems = []
    if len(turns) > limits.turns:
        message = f"the query has {len(turns)} turns, more than the limit of {limits.turns}"
        problems.append(Problem(file, line, message, "shorten it, or raise limits.turns in config/curation.yaml"))
    longest = max(map(len, turns), default=0)
    if longest > limits.turn_characters:
        message = f"a turn has {longest:,} characters, more than the limit of {limits.turn_characters:,}"
        fix = "shorten it, or raise limits.turn_characters in config/curation.yaml"
        problems.append(Problem(file, line, message, fix))
    return problems


class LabelledQueryFile(SpokenFile):
    """One query and its labels."""

    true: Tuple[Text] = Field(description="capabilities that the query exercises; the others are FALSE")
    unknown: Tuple[Text] = Field(default=(), description="capabilities that are unknown; left out of measures")
    note: Text | None = Field(default=None, description="why, for other people; nothing reads it")


class LabelsFile(FileModel):
    """Labels of queries, for example ``labels/intent.yaml``."""

    labels: FormatVersion = Field(description="version of the format")
    capabilities: Tuple[Text] | None = Field(
        default=None,
        description="what the file labels at all; the rest is unknown. Absent: the capabilities that occur in it",
    )
    names: dict[str, Text] = Field(
        default_factory=dict, description="name that the file uses: the capability's id, or `-` to leave it out"
    )
    queries: Tuple[LabelledQueryFile]


def read_yaml(document: Document, limits: Limits) -> LabelFile:
    """The rows of ``document``, with the faults of unreadable ones.

    Raises :class:`InputError`, with the faults of all rows, where the rest of the file is at fault.
    """
    data = dict(as_mapping(document.data))
    rows: list[LabelRow] = []
    problems: list[Problem] = []
    items = data.get("queries")
    if isinstance(items, list):
        # Queries are validated one by one, so that a broken one hides no fault of another.
        data["queries"] = []
        for place, item in enumerate(items):
            try:
                rows.append(_row(document, item, place, limits))
            except InputError as error:
                problems.extend(error.problems)
    try:
        file = validate(LabelsFile, document, data if isinstance(document.data, dict) else document.data)
    except InputError as error:
        raise InputError([*problems, *error.problems]) from None
    listed = file.capabilities
    return LabelFile(
        file=document.file,
        rows=tuple(rows),
        capabilities=None
        if listed is None
        else tuple(Word(name, document.line(("capabilities", place))) for place, name in enumerate(listed)),
        meanings={name: Word(meaning, document.line(("names", name))) for name, meaning in file.names.items()},
        problems=tuple(problems),
    )


def _row(document: Document, item: Data, place: int, limits: Limits) -> LabelRow:
    query = validate(LabelledQueryFile, document, item, ("queries", place))
    turns = query.spoken
    line = document.line(("queries", place))
    problems = turn_problems(document.file, line, list(turns), limits)
    if problems:
        raise InputError(problems)
    return LabelRow(turns=turns, true=query.true, unknown=query.unknown, line=line)


TABLES = (".tsv", ".tab", ".txt")
DOCUMENTS = (".yaml", ".yml", ".json")


def read_file(content: bytes, file: str, limits: Limits) -> LabelFile:
    """One label file, in the format of its suffix; raises :class:`InputError` if nothing of it can be read."""
    if file.lower().endswith(TABLES):
        return read_tsv(decode(content, file, REVIEWED_FILES), file, limits)
    if file.lower().endswith(DOCUMENTS):
        return read_yaml(parse(content, file, REVIEWED_FILES), limits)
    endings = ", ".join((*TABLES, *DOCUMENTS))
    raise InputError([Problem(file, None, "the ending does not say what the file holds", f"use one of: {endings}")])


def read_labelled_queries(
    contents: Mapping[str, bytes], vocabulary: LabelVocabulary, limits: Limits
) -> tuple[LabelledQuery, ...]:
    """The queries of all files; ``contents`` are by the names that people gave.

    Raises :class:`InputError` with the faults of all files, including contradictions between them.
    """
    problems: list[Problem] = []
    queries: list[LabelledQuery] = []
    for file, content in contents.items():
        try:
            found, faults = resolve(read_file(content, file, limits), vocabulary)
        except InputError as error:
            problems.extend(error.problems)
            continue
        queries.extend(found)
        problems.extend(faults)
    try:
        joined = join(queries)
    except InputError as error:
        problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return joined


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedQueries:
    """The queries that people corrected.

    ``lost`` are digests of texts that are no longer known.  ``unlabelled`` are the capabilities of corrections that the
    taxonomy no longer has, or that need an agent.
    """

    queries: tuple[LabelledQuery, ...]
    lost: tuple[str, ...]
    unlabelled: tuple[str, ...]


def corrected(
    said: Corrections, texts: Mapping[str, tuple[str, ...]], vocabulary: LabelVocabulary, file: str
) -> CorrectedQueries:
    """Corrections in ``file`` as labels; ``texts`` maps the digests of the known texts to their turns.

    A person corrects single tags: all others of the query stay unknown.
    """
    known = set(vocabulary.capabilities)
    queries = [
        LabelledQuery(
            turns=texts[key],
            values={name: item.value for name, item in sorted(tags.items()) if name in known},
            file=file,
            line=None,
        )
        for key, tags in sorted(said.items())
        if key in texts
    ]
    return CorrectedQueries(
        queries=tuple(query for query in queries if query.values),
        lost=tuple(sorted(said.keys() - texts.keys())),
        unlabelled=tuple(sorted({name for tags in said.values() for name in tags} - known)),
    )

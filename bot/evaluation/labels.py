"""Labelled queries: what people say that queries exercise, whatever file they said it in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.errors import InputError, Problem, foreign
from bot.files.label_tables import Word
from bot.taxonomy.model import Taxonomy
from bot.text.compare import text_key
from bot.text.did_you_mean import perhaps

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
        """The digest of its text: queries that differ in case and white space alone are one."""
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
    """A label file as it was read: its rows, and the faults of those that could not be.

    ``capabilities`` are the names that it labels at all (``None``: those that occur in its rows); ``meanings`` maps
    names of its own to capability ids, or to ``-`` for a name that is left out.
    """

    file: str
    rows: tuple[LabelRow, ...]
    capabilities: tuple[Word, ...] | None = None
    meanings: Mapping[str, Word]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """What names in label files may mean.

    ``meanings`` maps names to capability ids or ``-``, for files that do not say so themselves.  Without an agent
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
        """What is wrong with a label for ``capability``, and the fix; ``None`` where nothing is."""
        if capability not in self.taxonomy.by_id:
            known = self.capabilities
            return (
                f"the taxonomy has no capability {capability!r}{perhaps(capability, known)}",
                f"write its id, or map the name: --name {foreign(capability)}=CAPABILITY ({LEFT_OUT} leaves it out)",
            )
        if capability not in self.capabilities:
            source = self.taxonomy.by_id[capability].source
            return (
                f"{capability} is decided by the agent (`source: {source}`), and a label file has no agent",
                f"give one with --agent DIR, or leave the name out: --name {capability}={LEFT_OUT}",
            )
        return None


def join(queries: Iterable[LabelledQuery]) -> tuple[LabelledQuery, ...]:
    """One query for each text, with all that is known of it, sorted by key: files may come in any order.

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


def resolve(file: LabelFile, vocabulary: Vocabulary) -> tuple[tuple[LabelledQuery, ...], tuple[Problem, ...]]:
    """The queries of ``file`` under capability ids, and all that is wrong with it."""
    return _Resolver(file, vocabulary).resolve()


class _Resolver:
    """Names of one file to capability ids; a name that means nothing is one fault, wherever it occurs."""

    def __init__(self, file: LabelFile, vocabulary: Vocabulary) -> None:
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
        """The capability that ``name`` stands for; ``None`` for one that is left out, or means nothing."""
        if name not in self.meant:
            own = self.file.meanings.get(name)
            capability = self.vocabulary.meanings.get(name, name) if own is None else own.text
            fault = None if capability == LEFT_OUT else self.vocabulary.fault(capability)
            # What a name of the file's own stands for was looked at where the file says so.
            if fault is not None and own is None:
                self._complain(line, *fault)
            self.meant[name] = None if capability == LEFT_OUT or fault is not None else capability
        return self.meant[name]

    def _complain(self, line: int | None, message: str, fix: str) -> None:
        self.problems.append(Problem(self.file.file, line, message, fix))

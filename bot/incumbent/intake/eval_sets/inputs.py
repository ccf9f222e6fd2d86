"""Finds the query among the inputs of a record; the rest is the expectation.

Formats with custom mappings as inputs do not say which value is the user's.  It is the one with a usual name
(``question``, ``query``, ``input``, ``messages``, ...), else the only possible one.  If this is not enough,
``formats.yaml`` decides, with a name such as ``inputs.question``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from incumbent.errors import InputError, Problem, untrusted, untrusted_list
from incumbent.files.documents import Data, Node, as_mapping
from incumbent.files.snapshot import ReadingLimits
from incumbent.intake.eval_sets.columns import QUERY_NAMES, SPOKEN_NAMES, Columns, declaring
from incumbent.intake.eval_sets.messages import is_messages, read_spoken
from incumbent.intake.eval_sets.plain import ANSWER_KEY, TOOLS_KEY
from incumbent.intake.eval_sets.reader import EvalSetRow, EvalSetRows, SourceFile, read_records, rest_of, text_id
from incumbent.intake.eval_sets.records import Records, beside_places, decoded, located, without
from incumbent.intake.eval_sets.table import plain_key
from incumbent.intake.query import Setup
from incumbent.text.did_you_mean import did_you_mean

_TEMPLATE: Final = re.compile(r"\$\{\s*data\.([^{}]*[^{}\s])\s*\}|\{\{\s*item\.([^{}]*[^{}\s])\s*\}\}")


def column_of(reference: Data) -> str | None:
    """The column that ``reference`` means, as a dotted path if it is nested; ``None`` if it means none.

    Templates for anything but the data, such as ``{{sample.output_text}}``, mean no column.
    """
    if not isinstance(reference, str) or not reference.strip():
        return None
    template = _TEMPLATE.fullmatch(reference.strip())
    if template is not None:
        return template[1] or template[2]
    return None if "{" in reference else reference.strip()


def path_of(reference: Data, record: Mapping[str, Data]) -> tuple[str, ...]:
    """The keys that lead to the value of ``reference`` in ``record``; empty if it does not exist."""
    column = column_of(reference)
    if column is None:
        return ()
    if column in record:
        return (column,)
    steps = tuple(column.split("."))
    held: Data = dict(record)
    for step in steps:
        if step not in as_mapping(held):
            return ()
        held = as_mapping(held)[step]
    return steps


_FIX: Final = "write what the user says, in quotes"


def read_prompted(
    record: Node, key: str, used: tuple[str, ...], problems: list[Problem]
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, Data]]:
    """The turns of ``record``, the names of their attachments, and the other data of the record.

    ``key`` is the key of a single turn; ``used`` are other keys that are read elsewhere.  Other data of a turn stays
    under ``turns``; messages that are more than plain turns stay under their own key.
    """
    several, single = record["turns"], record[key]
    if several.absent == single.absent:
        meant = did_you_mean(key, {name for name, _ in record.entries} - {key, "turns"}) if single.absent else ""
        message = f"{record.name}: must have either `{key}` or `turns`{meant}"
        fix = f"write `{key}` for a single turn, `turns` for a conversation"
        problems.append(record.problem(message, fix))
        return (), (), {}
    if several.absent or is_messages(several):
        held, name = (single, key) if several.absent else (several, "turns")
        spoken = read_spoken(held, problems)
        kept = rest_of(record, *used, *((name,) if spoken.is_text else ()))
        return spoken.turns, spoken.attachments, kept
    turns, rests = _turns(several, problems)
    kept = rest_of(record, *used, "turns")
    if any(rests):
        kept["turns"] = rests
    return turns, (), kept


def _turns(place: Node, problems: list[Problem]) -> tuple[tuple[str, ...], list[Data]]:
    if not place.items:
        problems.append(place.problem(f"{place.name}: must be a list of at least one turn", "write the turns"))
    turns: list[str] = []
    rests: list[Data] = []
    for item in place.items:
        held = next((item[key] for key in ("prompt", "content") if item.has(key)), item)
        if not isinstance(held.data, str):
            problems.append(item.problem(f"{item.name}: must be a text, or an object with a `prompt`", _FIX))
            continue
        turns.append(held.data)
        rests.append(rest_of(item, held.name.rpartition(".")[2]) if item.is_mapping else {})
    return tuple(turns), rests


_STRUCTURED: Final = re.compile(r"tool|trajectory|messages", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flattening:
    """How a format flattens records into tables.

    ``column`` splits the header of a flattened column into its group and the name in it; ``groups`` maps each group to
    its key, so columns with these headers contain a whole value.  ``inputs`` is the key of the inputs.
    """

    column: re.Pattern[str]
    groups: Mapping[str, str]
    inputs: str

    def undone(self, source: SourceFile) -> tuple[SourceFile, Records]:
        """``source`` with matching names of columns, and the original records of its rows."""
        columns = source.columns
        if columns is not None:
            names = {what: self._name(name) for what, name in columns.model_dump(exclude_none=True).items()}
            columns = columns.model_copy(update=names)
        places: list[Node] = []
        problems = list(source.records.problems)
        for record in source.records.places:
            try:
                places.append(self._record(source, record))
            except InputError as error:
                problems.extend(error.problems)
        return replace(source, columns=columns), Records(tuple(places), tuple(problems))

    def _name(self, header: str) -> str:
        split = self.column.fullmatch(header)
        return header if split is None else f"{self.groups[split[1]]}.{split[2]}"

    def _record(self, source: SourceFile, row: Node) -> Node:
        """The record of ``row``.

        JSON in a whole value is decoded.  In a flattened value it is decoded only if it contains messages or if the
        name is about tools, since a text may be JSON too.
        """
        held: dict[str, Data] = {}
        loose: list[tuple[str, str, str, Data]] = []
        for key, place in row.entries:
            split = self.column.fullmatch(key)
            if split is not None:
                is_structured = _STRUCTURED.search(split[2]) is not None
                inner = cell(place, source.limits, strict=is_structured)
                data = inner.data if is_structured or is_conversation(inner) else place.data
                loose.append((key, self.groups[split[1]], split[2], data))
            elif key in self.groups:
                whole = self.groups[key]
                held[key if row.has(whole) else whole] = cell(place, source.limits, strict=whole == self.inputs).data
            else:
                held[key] = place.data
        for key, group, name, data in loose:
            values = held.setdefault(group, {})
            if isinstance(values, dict) and name not in values:
                values[name] = data
            else:
                held[key] = data
        return Node(row.source, row.path, held)


_BEGINS_LIKE_JSON: Final = re.compile(r"\{\s*\"|\[\s*\{")
_LOOKED_AT: Final = 50
"""Only the names in so many records are listed."""

_NO_COLUMNS: Final = Columns()

# LangGraph also accepts messages as pairs of a role and a text.
_ROLES: Final = frozenset({"user", "human", "system", "developer", "assistant", "ai", "tool"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Reads the records of a ``format``: ``key`` is the key of the inputs, ``source`` the file with its columns."""

    format: str
    key: str
    source: SourceFile

    @property
    def columns(self) -> Columns:
        """The columns in ``formats.yaml``; none if it names none."""
        return self.source.columns or _NO_COLUMNS

    def row(self, record: Node, problems: list[Problem], setup: Setup | None = None) -> EvalSetRow | None:
        """The row of ``record``; adds its faults to ``problems``.

        ``setup`` is the format's own set-up; attachments of messages come before its attachments.
        """
        name = text_id(self._named(record, self.columns.id) or record["id"], problems)
        query = self._query(record, problems)
        if query is None:
            return None
        spoken = read_spoken(as_spoken(query), problems)
        setup = setup or Setup()
        return EvalSetRow(
            turns=spoken.turns,
            line=record.line,
            id=name,
            expected=self._expected(record, query if spoken.is_text else None) or None,
            setup=Setup(
                attachments=tuple(dict.fromkeys((*spoken.attachments, *setup.attachments))), fixtures=setup.fixtures
            ),
        )

    def reading(self, records: Records, read: Callable[[Node, list[Problem]], EvalSetRow | None]) -> EvalSetRows:
        """The rows that ``read`` returns for ``records``; none if ``formats.yaml`` names columns that no record has."""
        wrong = missing_columns(self.format, self.source, records.places)
        if wrong:
            return EvalSetRows((), (*records.problems, *wrong))
        return read_records(records, read, self.source.folder_limits.queries)

    def _named(self, record: Node, name: str | None) -> Node | None:
        return None if name is None else located(record, name)

    def _query(self, record: Node, problems: list[Problem]) -> Node | None:
        name = self.columns.query or self.key
        place = located(record, name)
        if place is None or is_empty(place):
            message = f"{name}: the record has no query"
            if place is None and "." not in name:
                message += did_you_mean(name, as_mapping(record.data))
            at = record if place is None else place
            problems.append(at.problem(message, f"write what the user says under `{untrusted(name)}`"))
            return None
        while place.is_mapping and not as_spoken(place).is_list:
            inner = _choice(place)
            if len(inner) != 1:
                problems.append(self._undecided(record, place, inner))
                return None
            place = inner[0]
        return place

    def _undecided(self, record: Node, place: Node, found: list[Node]) -> Problem:
        steps = [".".join(map(str, inner.path[len(record.path) :])) for inner in found]
        several = " and ".join(f"`{step}`" for step in steps[:5])
        within = place.name or self.key
        why = f"several could be the query: {several}" if steps else "none of them is what a user says"
        # Among texts, the user's words are usually the longest.
        texts = all(inner.text for inner in found)
        likely = max(range(len(found)), key=lambda place: len(found[place].text) if texts else 0, default=None)
        name = f"{self.key}.NAME" if likely is None else steps[likely]
        source = self.source
        declared = declaring(source.file, source.path, self.format, self.columns, query=name)
        fix = f"name the one that is the query: {declared}"
        return place.problem(f"{within}: {why}", fix)

    def _expected(self, record: Node, query: Node | None) -> dict[str, Data]:
        """The other data of ``record``; declared columns get the usual key of their kind."""
        identifier = self._named(record, self.columns.id) or record["id"]
        kept = beside_places(record, identifier, query)
        for name, key in ((self.columns.answer, ANSWER_KEY), (self.columns.tools, TOOLS_KEY)):
            place = self._named(record, name)
            if place is not None and name != key:
                kept = without(kept, place.path[len(record.path) :])
                if key in kept:
                    kept[f"{key} (2)"] = kept[key]
                kept[key] = decoded(place, self.source.limits).data if key == TOOLS_KEY else place.data
        return kept


def missing_columns(format: str, source: SourceFile, places: Sequence[Node]) -> tuple[Problem, ...]:
    """The faults of the columns in ``formats.yaml``: each must be in at least one of ``places``.

    The ``format`` must have one record for each conversation.
    """
    found: list[Problem] = []
    columns = source.columns or _NO_COLUMNS
    if columns.conversation is not None:
        message = f"columns.conversation: {format} has one record for each conversation"
        found.append(Problem(source.file, None, message, "leave it out, or use the format of plain files"))
    named = {"query": columns.query, "id": columns.id, "answer": columns.answer, "tools": columns.tools}
    for what, name in named.items():
        if name is not None and all(located(place, name) is None for place in places):
            known = sorted({key for place in places[:_LOOKED_AT] for key in _names(place)})
            message = f"columns.{what}: no record has {name!r}{did_you_mean(name, known)}"
            fix = f"name one that there is: {untrusted_list(known[:_LOOKED_AT]) or 'none'}"
            found.append(Problem(source.file, None, message, fix))
    return tuple(found)


def is_empty(place: Node) -> bool:
    """Whether ``place`` is absent, or an empty text, list or mapping."""
    return not place.text if isinstance(place.data, str) else place.data in (None, [], {})


def _choice(place: Node) -> list[Node]:
    """The values of the mapping at ``place`` that could be or contain the query; specific names take precedence."""
    held = [(key, inner) for key, inner in place.entries if not is_empty(inner)]
    for names in (QUERY_NAMES, SPOKEN_NAMES):
        preferred = [
            inner for key, inner in held if plain_key(key) in names and isinstance(inner.data, str | list | dict)
        ]
        if preferred:
            return preferred
    speaks = [inner for _, inner in held if inner.text or is_conversation(inner)]
    deeper = (inner for _, inner in held if inner.is_mapping and not inner["type"].text.endswith("attachment"))
    return speaks or list(deeper)


def is_conversation(place: Node) -> bool:
    """Whether ``place`` is messages, or a mapping with messages."""
    return any(is_messages(as_spoken(each)) for each in (place, place["messages"]))


def as_spoken(place: Node) -> Node:
    """``place`` as a list of messages if it contains them in another form; else unchanged.

    Other forms are a single message, a list of one list of messages, and pairs of a role and a text.
    """
    if place.is_mapping and (place.has("content") or place.has("kwargs") or place.has("data")):
        alone = Node(place.source, place.path, [place.data])
        return alone if is_messages(alone) else place
    if len(place.items) == 1 and is_messages(place.items[0]):
        return place.items[0]
    pairs = [item.data for item in place.items if isinstance(item.data, list)]
    if pairs and len(pairs) == len(place.items) and all(_is_pair(pair) for pair in pairs):
        messages: list[Data] = [{"role": pair[0], "content": pair[1]} for pair in pairs]
        return Node(place.source, place.path, messages)
    return place


def _is_pair(pair: list[Data]) -> bool:
    return len(pair) == 2 and isinstance(pair[0], str) and pair[0].casefold() in _ROLES


def _names(record: Node) -> Iterable[str]:
    for key, inner in record.entries:
        yield key
        yield from (f"{key}.{name}" for name, _ in inner.entries)


def cell(place: Node, limits: ReadingLimits, *, strict: bool = False) -> Node:
    """The content of a table's cell: the JSON in it if that is an object or a list, else its text.

    A text may begin with a bracket without being JSON.  If ``strict``, a broken object or list of objects raises
    :class:`~incumbent.errors.InputError`.
    """
    try:
        return decoded(place, limits)
    except InputError:
        if strict and _BEGINS_LIKE_JSON.match(place.text):
            raise
        return place

"""Records whose query stands somewhere inside them: which of their inputs it is, and what remains beside it.

Formats whose inputs are mappings of the customer's own making do not say which value the user says.  It is the one that
is called so (``question``, ``query``, ``input``, ``messages``, ...), else the only one that can be it.  Where that does
not decide, ``formats.yaml`` does, with a name such as ``inputs.question``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.errors import InputError, Problem, untrusted, untrusted_list
from bot.files.documents import Data, as_mapping
from bot.files.limits import ReadingLimits
from bot.intake.eval_sets.columns import QUERY_NAMES, SPOKEN_NAMES, Columns, declaring
from bot.intake.eval_sets.messages import is_messages, read_spoken
from bot.intake.eval_sets.plain import ANSWER_KEY, TOOLS_KEY
from bot.intake.eval_sets.reader import EvalSetRow, EvalSetRows, SourceFile, read_records, rest_of, text_id
from bot.intake.eval_sets.records import Records, beside_places, decoded, located, without
from bot.intake.eval_sets.table import plain_key
from bot.intake.node import Node
from bot.intake.query import Setup
from bot.text.did_you_mean import did_you_mean

_TEMPLATE: Final = re.compile(r"\$\{\s*data\.([^{}]*[^{}\s])\s*\}|\{\{\s*item\.([^{}]*[^{}\s])\s*\}\}")


def column_of(reference: Data) -> str | None:
    """The name of the column that ``reference`` means, a path with dots if it lies deeper; ``None`` if it means none.

    Templates of anything but the data, such as ``{{sample.output_text}}``, mean no column.
    """
    if not isinstance(reference, str) or not reference.strip():
        return None
    template = _TEMPLATE.fullmatch(reference.strip())
    if template is not None:
        return template[1] or template[2]
    return None if "{" in reference else reference.strip()


def path_of(reference: Data, record: Mapping[str, Data]) -> tuple[str, ...]:
    """The keys that lead to what ``reference`` means in ``record``; none if there is no such place."""
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
    """The turns of ``record``, the names of what is attached to them, and what the record holds beside them.

    ``key`` is where a single turn stands, ``used`` are other keys that are told elsewhere.  Of a turn that is an object
    the rest stays under ``turns``; messages that are more than plain turns stay under their own key.
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
    """How a format's tables were flattened.

    ``column`` splits the header of a flattened column into its group and the name in it; ``groups`` says which key each
    group stands for, and so which columns hold a whole value.  ``inputs`` is the key of the inputs.
    """

    column: re.Pattern[str]
    groups: Mapping[str, str]
    inputs: str

    def undone(self, source: SourceFile) -> tuple[SourceFile, Records]:
        """The records that the rows of the table ``source`` were written from, and names of columns to match."""
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

        What is JSON in a whole value is decoded; in a flattened one only if it holds messages or its name tells of
        tools, since a text may be JSON as well.
        """
        held: dict[str, Data] = {}
        loose: list[tuple[str, str, str, Data]] = []
        for key, place in row.entries:
            split = self.column.fullmatch(key)
            if split is not None:
                told = _STRUCTURED.search(split[2]) is not None
                inner = cell(place, source.limits, strict=told)
                data = inner.data if told or is_conversation(inner) else place.data
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
"""The names in so many records are enough to say which there are."""

_NO_COLUMNS: Final = Columns()

# LangGraph takes messages as pairs of a role and a text as well.
_ROLES: Final = frozenset({"user", "human", "system", "developer", "assistant", "ai", "tool"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """How records of a ``format`` are read: the key of the inputs, ``SourceFile`` and ``Columns``."""

    format: str
    key: str
    source: SourceFile

    @property
    def columns(self) -> Columns:
        """The columns that ``formats.yaml`` names; none where it is silent."""
        return self.source.columns or _NO_COLUMNS

    def row(self, record: Node, problems: list[Problem], setup: Setup | None = None) -> EvalSetRow | None:
        """The row of ``record``; its faults are added to ``problems``.

        ``setup`` is what the format says of it; what messages attach comes before its attachments.
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
        """A reading of ``records`` by ``read``; none where ``formats.yaml`` names what no record has."""
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
        # Among texts, what users say is the longest, as a rule.
        texts = all(inner.text for inner in found)
        likely = max(range(len(found)), key=lambda place: len(found[place].text) if texts else 0, default=None)
        name = f"{self.key}.NAME" if likely is None else steps[likely]
        source = self.source
        declared = declaring(source.file, source.path, self.format, self.columns, query=name)
        fix = f"name the one that is the query: {declared}"
        return place.problem(f"{within}: {why}", fix)

    def _expected(self, record: Node, query: Node | None) -> dict[str, Data]:
        """What ``record`` holds beside its id and its query, under the keys that columns of that kind have."""
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
    """What is wrong with the columns that ``formats.yaml`` names: each must stand at one of ``places`` at least.

    The ``format`` is one that has a record for each conversation.
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
    """Whether nothing stands at ``place``, or a text, list or mapping without content."""
    return not place.text if isinstance(place.data, str) else place.data in (None, [], {})


def _choice(place: Node) -> list[Node]:
    """The values of the mapping at ``place`` that could be the query or hold it, the telling names first."""
    held = [(key, inner) for key, inner in place.entries if not is_empty(inner)]
    for names in (QUERY_NAMES, SPOKEN_NAMES):
        told = [inner for key, inner in held if plain_key(key) in names and isinstance(inner.data, str | list | dict)]
        if told:
            return told
    speaks = [inner for _, inner in held if inner.text or is_conversation(inner)]
    deeper = (inner for _, inner in held if inner.is_mapping and not inner["type"].text.endswith("attachment"))
    return speaks or list(deeper)


def is_conversation(place: Node) -> bool:
    """Whether messages stand at ``place``, or a mapping with them."""
    return any(is_messages(as_spoken(each)) for each in (place, place["messages"]))


def as_spoken(place: Node) -> Node:
    """``place`` as a list of messages if it holds them in another way; else as it is.

    Other ways are a message alone, a list of one list of messages, and pairs of a role and a text.
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
    """What the cell of a table at ``place`` holds: the JSON in it if it is an object or a list, else its text.

    A text may begin with a bracket and be no JSON.  If it is ``strict``, one that begins like an object or a list of
    them and is broken raises :class:`~bot.errors.InputError`.
    """
    try:
        return decoded(place, limits)
    except InputError:
        if strict and _BEGINS_LIKE_JSON.match(place.text):
            raise
        return place

"""Records whose query stands somewhere inside them: which of their inputs it is, and what remains beside it.

Formats whose inputs are mappings of the customer's own making do not say which value the user says.  It is the one that
is called so (``question``, ``query``, ``input``, ``messages``, ...), else the only one that can be it.  Where that does
not decide, ``formats.yaml`` does, with a name such as ``inputs.question``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from bot.errors import InputError, Problem, foreign, foreign_list
from bot.files.documents import Data, as_mapping
from bot.files.limits import ReadingLimits
from bot.intake.eval_sets.columns import Columns, declaring
from bot.intake.eval_sets.messages import is_messages, read_spoken
from bot.intake.eval_sets.names import QUERY_NAMES, SPOKEN_NAMES
from bot.intake.eval_sets.plain import ANSWER_KEY, TOOLS_KEY
from bot.intake.eval_sets.reader import Source
from bot.intake.eval_sets.records import Records, beside_places, decoded, located, without
from bot.intake.eval_sets.rows import Reading, Row, read_records, text_id
from bot.intake.eval_sets.table import plain_key
from bot.intake.place import Place
from bot.intake.query import Setup
from bot.text.did_you_mean import perhaps

_BEGINS_LIKE_JSON: Final = re.compile(r"\{\s*\"|\[\s*\{")
_LOOKED_AT: Final = 50
"""The names in so many records are enough to say which there are."""

_NO_COLUMNS: Final = Columns()

# LangGraph takes messages as pairs of a role and a text as well.
_ROLES: Final = frozenset({"user", "human", "system", "developer", "assistant", "ai", "tool"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """How a format's records are read: its ``format`` name, the key of the inputs, and ``Source`` and ``Columns``."""

    format: str
    key: str
    source: Source

    @property
    def columns(self) -> Columns:
        """The columns that ``formats.yaml`` names; none where it is silent."""
        return self.source.columns or _NO_COLUMNS

    def row(self, record: Place, problems: list[Problem], setup: Setup | None = None) -> Row | None:
        """The row of ``record``; its faults are added to ``problems``.

        ``setup`` is what the format says of it; what messages attach comes before its attachments.
        """
        name = text_id(self._named(record, self.columns.id) or record["id"], problems)
        query = self._query(record, problems)
        if query is None:
            return None
        spoken = read_spoken(as_spoken(query), problems)
        setup = setup or Setup()
        return Row(
            turns=spoken.turns,
            line=record.line,
            id=name,
            expected=self._expected(record, query if spoken.is_text else None) or None,
            setup=Setup(
                attachments=tuple(dict.fromkeys((*spoken.attachments, *setup.attachments))), fixtures=setup.fixtures
            ),
        )

    def reading(self, records: Records, read: Callable[[Place, list[Problem]], Row | None]) -> Reading:
        """A reading of ``records`` by ``read``; none where ``formats.yaml`` names what no record has."""
        wrong = missing_columns(self.format, self.source, records.places)
        if wrong:
            return Reading((), (*records.problems, *wrong))
        return read_records(records, read, self.source.folder_limits.queries)

    def _named(self, record: Place, name: str | None) -> Place | None:
        return None if name is None else located(record, name)

    def _query(self, record: Place, problems: list[Problem]) -> Place | None:
        name = self.columns.query or self.key
        place = located(record, name)
        if place is None or is_empty(place):
            message = f"{name}: the record has no query"
            if place is None and "." not in name:
                message += perhaps(name, as_mapping(record.data))
            at = record if place is None else place
            problems.append(at.problem(message, f"write what the user says under `{foreign(name)}`"))
            return None
        while place.is_mapping and not as_spoken(place).is_list:
            inner = _choice(place)
            if len(inner) != 1:
                problems.append(self._undecided(record, place, inner))
                return None
            place = inner[0]
        return place

    def _undecided(self, record: Place, place: Place, found: list[Place]) -> Problem:
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

    def _expected(self, record: Place, query: Place | None) -> dict[str, Data]:
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


def missing_columns(format: str, source: Source, places: Sequence[Place]) -> tuple[Problem, ...]:
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
            message = f"columns.{what}: no record has {name!r}{perhaps(name, known)}"
            fix = f"name one that there is: {foreign_list(known[:_LOOKED_AT]) or 'none'}"
            found.append(Problem(source.file, None, message, fix))
    return tuple(found)


def is_empty(place: Place) -> bool:
    """Whether nothing stands at ``place``, or a text, list or mapping without content."""
    return not place.text if isinstance(place.data, str) else place.data in (None, [], {})


def _choice(place: Place) -> list[Place]:
    """The values of the mapping at ``place`` that could be the query or hold it, the telling names first."""
    held = [(key, inner) for key, inner in place.entries if not is_empty(inner)]
    for names in (QUERY_NAMES, SPOKEN_NAMES):
        told = [inner for key, inner in held if plain_key(key) in names and isinstance(inner.data, str | list | dict)]
        if told:
            return told
    speaks = [inner for _, inner in held if inner.text or is_conversation(inner)]
    deeper = (inner for _, inner in held if inner.is_mapping and not inner["type"].text.endswith("attachment"))
    return speaks or list(deeper)


def is_conversation(place: Place) -> bool:
    """Whether messages stand at ``place``, or a mapping with them."""
    return any(is_messages(as_spoken(each)) for each in (place, place["messages"]))


def as_spoken(place: Place) -> Place:
    """``place`` as a list of messages if it holds them in another way; else as it is.

    Other ways are a message alone, a list of one list of messages, and pairs of a role and a text.
    """
    if place.is_mapping and (place.has("content") or place.has("kwargs") or place.has("data")):
        alone = Place(place.source, place.path, [place.data])
        return alone if is_messages(alone) else place
    if len(place.items) == 1 and is_messages(place.items[0]):
        return place.items[0]
    pairs = [item.data for item in place.items if isinstance(item.data, list)]
    if pairs and len(pairs) == len(place.items) and all(_is_pair(pair) for pair in pairs):
        messages: list[Data] = [{"role": pair[0], "content": pair[1]} for pair in pairs]
        return Place(place.source, place.path, messages)
    return place


def _is_pair(pair: list[Data]) -> bool:
    return len(pair) == 2 and isinstance(pair[0], str) and pair[0].casefold() in _ROLES


def _names(record: Place) -> Iterable[str]:
    for key, inner in record.entries:
        yield key
        yield from (f"{key}.{name}" for name, _ in inner.entries)


def cell(place: Place, limits: ReadingLimits, *, strict: bool = False) -> Place:
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

"""Goldens of DeepEval and Confident AI, single and conversational, in JSON, JSON Lines and CSV.

A golden has an ``input``.  A conversational golden has a ``scenario``, and possibly ``turns``; the user's turns count,
and without any the scenario is the turn.  Keys may be in camel case, as in Confident AI, and a file may be an export
with ``goldens`` and ``conversationalGoldens``.

CSV and JSON Lines store lists and objects as texts.  These are decoded, so that a golden is the same in every file
type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Data, Node, as_mapping
from incumbent.files.snapshot import ReadingLimits
from incumbent.intake.eval_sets.messages import UserTurns, is_messages, read_spoken
from incumbent.intake.eval_sets.reader import (
    EvalSetReader,
    EvalSetRow,
    EvalSetRows,
    SourceFile,
    read_records,
    rest_of,
    text_id,
)
from incumbent.intake.eval_sets.records import Records, decoded, listed
from incumbent.intake.eval_sets.table import plain_key
from incumbent.intake.query import Setup
from incumbent.text.did_you_mean import did_you_mean

__all__ = ["READER"]


_LISTS: Final = frozenset({"context", "retrievalcontext"})
"""Keys of lists that are stored as one text (see :func:`~incumbent.intake.eval_sets.table.plain_key`)."""
_TOOLS: Final = frozenset({"toolscalled", "expectedtools"})
_OBJECTS: Final = frozenset(
    {"additionalmetadata", "customcolumnkeyvalues", "expectations", "expectedlabels", "persona", "imagesmapping"}
)

# A semicolon between the items of a list has no space beside it, unlike one in prose.
_SEMICOLON: Final = re.compile(r"(?<=\S);(?=\S)")
_TRAILING_COMMA: Final = re.compile(r",\s*([\]}])")


@dataclass(frozen=True, slots=True)
class CellFormat:
    """How to decode the texts of a file: ``separators`` maps the key of each list to its separator."""

    separators: Mapping[str, re.Pattern[str]]
    limits: ReadingLimits

    def value(self, place: Node) -> Node:
        """The decoded text at ``place``; ``place`` itself if there is no text, or nothing to decode.

        Raises :class:`~incumbent.errors.InputError` for turns and tools that begin like JSON and are invalid.
        """
        key = str(place.path[-1]) if place.path else ""
        kind = plain_key(key)
        if not place.text:
            return place
        if key in self.separators:
            return _list(place, self.separators[key].split(str(place.data)))
        if kind in _TOOLS:
            found = _decoded(place, self.limits)
            return found if found.data is not place.data else _list(place, _names(place.text))
        if kind == "turns":
            return _decoded(place, self.limits)
        if kind in _OBJECTS:
            try:
                return _decoded(place, self.limits)
            except InputError:
                # It may be a Python literal, which DeepEval also reads; it stays a text.
                return place
        return place


def cells_of(records: Records, limits: ReadingLimits, *, flat: bool) -> CellFormat:
    """How to decode the texts of ``records``; only a ``flat`` file has lists as texts.

    DeepEval joins with ``|``, before version 3 with ``;``, which counts only if no record has a ``|``.
    """
    separators: dict[str, re.Pattern[str]] = {}
    if flat:
        for record in records.places:
            for key, place in record.entries:
                if plain_key(key) in _LISTS and separators.get(key) is not _BAR:
                    separators[key] = _BAR if "|" in place.text else _SEMICOLON
    return CellFormat(separators, limits)


_BAR: Final = re.compile(r"\|")


def _names(text: str) -> list[str]:
    """The names of tools in ``text``, which is not JSON."""
    return [name.strip() for name in re.split(r"[|;]", text) if name.strip()]


def _list(place: Node, items: list[str]) -> Node:
    return Node(place.source, place.path, list[Data](items))


def _decoded(place: Node, limits: ReadingLimits) -> Node:
    """The JSON at ``place``; like DeepEval, it allows trailing commas."""
    try:
        return decoded(place, limits)
    except InputError:
        fixed = _TRAILING_COMMA.sub(r"\1", place.text)
        if fixed == place.text:
            raise
        try:
            return decoded(Node(place.source, place.path, fixed), limits)
        except InputError:
            pass
        raise


_OF_GOLDENS: Final = frozenset(
    {
        *("actualoutput", "expectedoutput", "expectations", "expectedlabels", "retrievalcontext", "sourcefile"),
        *("toolscalled", "expectedtools", "tokencost", "inputtokencount", "outputtokencount"),
        *("additionalmetadata", "customcolumnkeyvalues"),
    }
)
"""Other keys of a golden (see :func:`~incumbent.intake.eval_sets.table.plain_key`)."""
_OF_CONVERSATIONS: Final = frozenset({"turns", "expectedoutcome", "userdescription", "persona"})
_EXPORTED: Final = ("goldens", "conversationalgoldens")
_TURNS_FIX: Final = 'write `[{"role": "user", "content": "..."}]`'
# DeepEval's mark for an image or document in a text.
_ATTACHED: Final = re.compile(r"\[DEEPEVAL:(?:IMAGE|PDF):([^\]\n]{1,200})\]")


def _recognises(source: SourceFile) -> bool:
    return any(records.any(_fits) for records in _lists(source))


def _fits(record: Node) -> bool:
    keys = {plain_key(key) for key, _ in record.entries}
    if "input" in keys and not _OF_GOLDENS.isdisjoint(keys):
        return True
    return len(keys & {"scenario", *_OF_CONVERSATIONS}) > 1 and not keys.isdisjoint({"scenario", "turns"})


def _lists(source: SourceFile) -> list[Records]:
    """The lists of goldens in the file: the file itself, or the named lists of an export."""
    return [source.records, *(listed(place) for place in _exported(source))]


def _exported(source: SourceFile) -> list[Node]:
    if source.document is None:
        return []
    root = source.root
    return [place for key, place in root.entries if plain_key(key) in _EXPORTED]


def _read(source: SourceFile) -> EvalSetRows:
    rows: list[EvalSetRow] = []
    problems: list[Problem] = [
        place.problem(f"{place.name}: must be a list of goldens", "write `[...]`")
        for place in _exported(source)
        if not place.is_list and not place.absent
    ]
    for records in _lists(source):
        cells = cells_of(records, source.limits, flat=source.document is None)

        def row(record: Node, faults: list[Problem], cells: CellFormat = cells) -> EvalSetRow | None:
            return _row(record, cells, faults)

        reading = read_records(records, row, source.folder_limits.queries)
        rows.extend(reading.rows)
        problems.extend(reading.problems)
    return EvalSetRows(tuple(rows), tuple(problems))


def _row(record: Node, cells: CellFormat, problems: list[Problem]) -> EvalSetRow | None:
    # The first of two spellings of a key counts.
    keys = {plain_key(key): key for key, _ in reversed(record.entries)}
    values: dict[str, Node] = {}
    for key, place in record.entries:
        try:
            values[key] = cells.value(place)
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        return None
    said, scenario, turns = (values.get(keys.get(key, key), record[key]) for key in ("input", "scenario", "turns"))
    conversation = bool(turns.text if isinstance(turns.data, str) else turns.data)
    used: list[str] = [keys.get("id", "id")]
    per_turn: Data = None
    if conversation and not turns.is_list:
        problems.append(turns.problem(f"{turns.name}: must be a list of turns, or a text with one in JSON", _TURNS_FIX))
        return None
    if conversation and _are_goldens(turns):
        spoken, per_turn = _goldens_of(turns, problems)
    elif conversation and not (scenario.text and _is_silent(turns)):
        spoken = read_spoken(turns, problems)
        used += [keys["turns"]] if spoken.is_text else []
    elif not scenario.absent and (scenario.text or not isinstance(scenario.data, str) or said.absent):
        spoken = read_spoken(scenario, problems)
        used += [keys["scenario"]] if spoken.is_text else []
    elif not said.absent:
        spoken = read_spoken(said, problems)
        used += [keys["input"]] if spoken.is_text else []
    else:
        problems.append(_without_query(record, keys))
        return None
    expected = {key: place.data for key, place in values.items() if key not in used}
    if per_turn is not None:
        expected[keys["turns"]] = per_turn
    images = values.get(keys.get("imagesmapping", ""))
    return EvalSetRow(
        turns=spoken.turns,
        line=record.line,
        id=text_id(record[keys.get("id", "id")], problems),
        title=record[keys.get("name", "name")].text or None,
        expected=expected or None,
        setup=Setup(attachments=(*spoken.attachments, *_attached(spoken.turns, images.data if images else None))),
    )


def _is_silent(turns: Node) -> bool:
    """Whether ``turns`` has no message of the user, for example if an agent opens the conversation."""
    return is_messages(turns) and not read_spoken(turns, []).turns


def _are_goldens(turns: Node) -> bool:
    """Whether ``turns`` contains goldens, as before DeepEval 3."""
    return any(item.has("input") and not item.has("role") for item in turns.items)


def _goldens_of(turns: Node, problems: list[Problem]) -> tuple[UserTurns, Data]:
    """The user turns of the goldens in ``turns``, and the expectation of each."""
    said: list[str] = []
    for item in turns.items:
        if isinstance(item["input"].data, str):
            said.append(item["input"].data)
        else:
            problems.append(item.problem(f"{item.name}: the turn has no `input`", 'write `{"input": "..."}`'))
    return UserTurns(tuple(said)), [rest_of(item, "input") for item in turns.items]


def _attached(turns: Iterable[str], images: Data) -> list[str]:
    """The names of the images and documents in ``turns``, from ``images`` if they are there."""
    named: list[str] = []
    for identifier in (found for turn in turns for found in _ATTACHED.findall(turn)):
        image = as_mapping(as_mapping(images).get(identifier))
        names = (image.get("filename"), image.get("url"))
        named.append(next((name for name in names if isinstance(name, str) and 0 < len(name) <= 200), identifier))
    return named


def _without_query(record: Node, keys: dict[str, str]) -> Problem:
    hint = did_you_mean("input", set(keys) - _OF_GOLDENS) or did_you_mean("scenario", set(keys) - _OF_CONVERSATIONS)
    where = f"{record.name}: " if record.path else ""
    message = f"{where}the golden has neither an `input` nor a `scenario` nor `turns`{hint}"
    return record.problem(message, "write what the user says as `input`, or a conversation as `scenario` and `turns`")


READER: Final = EvalSetReader(
    name="deepeval",
    title="goldens of DeepEval in JSON, JSON Lines or CSV (`input` with `expected_output`, `expected_tools`, ..., or "
    "`scenario` with `turns` or `expected_outcome`)",
    endings=(".json", ".jsonl", ".ndjson", ".csv"),
    mark=re.compile(
        r"(?:actual|expected)_?(?:output|outcome)|(?:expected|input)_?tools?|tools_?called|retrieval_?context"
        r"|source_?file|user_?description|\bscenario\b|conversational_?goldens|\"goldens\"|additional_?metadata"
        r"|custom_?column_?key_?values|token_?cost|expected_?labels|\bexpectations\b",
        re.IGNORECASE,
    ),
    recognises=_recognises,
    read=_read,
)

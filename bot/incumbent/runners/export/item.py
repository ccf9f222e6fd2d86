"""An entry as export writers see it: what was expected of it in the format that it came in, and how data is written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from incumbent.curator.entry import Entry
from incumbent.files.documents import Data, as_list, as_mapping
from incumbent.intake.expectation import Expectation, understand
from incumbent.intake.export_round_trip import SEALED, bare, carried, without_carried
from incumbent.intake.query import SETUP_FILE
from incumbent.intake.tool_calls import ToolCall

# Valid in JSON, but YAML rejects these, many readers end a line at them, or they control a terminal.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"?')
_ROLES: Final = frozenset({"system", "user", "assistant"})
NOT_FLAT: Final = "write single values and lists of them, and no key that begins with $"


@dataclass(frozen=True)
class ExportItem:
    """An entry to export.

    ``expected`` is what its customer's file has beside the turns, without the record of an earlier export.
    """

    entry: Entry
    expected: Data

    @staticmethod
    def of(entry: Entry) -> ExportItem:
        return ExportItem(entry, without_carried(entry.expected))

    @property
    def id(self) -> str:
        """The entry's id, which stays the same from export to export."""
        return self.entry.id

    @property
    def turns(self) -> tuple[str, ...]:
        return self.entry.turns

    @cached_property
    def expectation(self) -> Expectation:
        """The expected answers and tool calls, independent of the import format."""
        return understand(self.expected, len(self.turns))

    def is_said(self, kept: Mapping[str, Data]) -> bool:
        """Whether the fields that a reader has ``kept`` are exactly what was expected, as the customer wrote it."""
        if self.expected is None:
            return True
        stated = bare(self.expected) if carried(self.expected) else self.expected
        return bool(stated) and bare(dict(kept)) == stated

    def record(self, *, said: bool) -> dict[str, Data]:
        """The record of the entry that the target keeps under the key ``incumbent``.

        It includes what was expected, unless the target's own fields have ``said`` all of it.  That is written
        unchanged, or as JSON in a string where it is not flat.
        """
        entry = self.entry
        record: dict[str, Data] = {
            "id": entry.id,
            "capabilities": [*sorted(entry.scores)],
            "source": None if entry.source is None else entry.source.model_dump(mode="json"),
            "setup": SETUP_FILE.dump_python(entry.setup, mode="json"),
        }
        beyond = carried(self.expected).get("expected") if said else self.expected
        return record if beyond is None else {**record, **carried_as(beyond)}


@dataclass(frozen=True, slots=True)
class ExportRemark:
    """What people should know of an entry: why it was left out, or what of it the target cannot use."""

    id: str
    message: str


@dataclass(frozen=True, slots=True)
class Written:
    """The files of an export, name → text, and remarks on the parts of entries that the target does not use."""

    files: Mapping[str, str]
    remarks: tuple[ExportRemark, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportWriter:
    """One export format.

    ``name`` is the value of ``--to``, ``title`` describes the format to people.  ``obstacle`` says why the format
    cannot express an entry so that its runner asks exactly that, or ``None``; ``write`` writes the entries that it can
    express, in the order given.  ``returns`` gives the fields that the format's reader keeps of an entry that ``write``
    wrote, without its record: several alternatives if they depend on the entries beside it, none if the format has no
    place for a record.  ``attaches`` says whether the runner can find an attachment by its name.
    """

    name: str
    title: str
    obstacle: Callable[[ExportItem], str | None]
    write: Callable[[Sequence[ExportItem]], Written]
    returns: Callable[[ExportItem], Iterable[Mapping[str, Data]]] = lambda item: ()
    attaches: bool = False


def history(item: ExportItem, key: str) -> list[Data] | None:
    """The messages under ``key`` of what was expected, if they are just the entry's turns with answers in between.

    Each has only a role and a text, so that no file, image or tool call of a customer reaches a runner.  The last is
    the user's, and is the question.
    """
    messages = as_list(as_mapping(item.expected).get(key))
    pairs = [(as_mapping(message).get("role"), as_mapping(message).get("content")) for message in messages]
    plain = all(role in _ROLES and isinstance(content, str) for role, content in pairs)
    said = tuple(content for role, content in pairs if role == "user")
    if not plain or said != item.turns or pairs[-1][0] != "user" or _has_two_users_in_a_row(pairs):
        return None
    return [{"role": role, "content": content} for role, content in pairs]


def _has_two_users_in_a_row(pairs: list[tuple[Data, Data]]) -> bool:
    roles = [role for role, _ in pairs if role != "system"]
    return any(one == other == "user" for one, other in pairwise(roles))


Fields = Mapping[str, Callable[[Data], bool]]
"""The fields of a target, and which values each may have."""


def own_fields(expected: object, fields: Fields) -> dict[str, Data]:
    """The fields of ``expected`` that are the target's own."""
    return {key: value for key, value in as_mapping(expected).items() if key in fields and fields[key](value)}


def with_answer(own: Mapping[str, Data], key: str, answer: str | None) -> dict[str, Data]:
    """``own`` with ``answer`` under ``key``, unless its own value there says the same.

    Beside other keys of the customer's file, that own value may have had less weight, or have named tools.
    """
    if key in own and understand({key: own[key]}).answer == answer:
        return dict(own)
    return {**{name: value for name, value in own.items() if name != key}, **({} if answer is None else {key: answer})}


def is_text(value: Data) -> bool:
    """Whether ``value`` is a text that is not empty."""
    return isinstance(value, str) and bool(value.strip())


def is_texts(value: Data) -> bool:
    """Whether ``value`` is a list of texts, and not empty."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def structured(items: Iterable[ExportItem], fields: Fields) -> tuple[ExportRemark, ...]:
    """Remarks on ``items`` that have some of ``fields`` in a shape that no runner gets."""
    found = ((item, [key for key, fits in fields.items() if _is_structured(item, key, fits)]) for item in items)
    return tuple(
        ExportRemark(
            item.id, f"{', '.join(f'`{key}`' for key in keys)}: carried, and not given to the runner; {NOT_FLAT}"
        )
        for item, keys in found
        if keys
    )


def _is_structured(item: ExportItem, key: str, fits: Callable[[Data], bool]) -> bool:
    value = as_mapping(item.expected).get(key)
    return isinstance(value, dict | list) and bool(value) and not fits(value)


def returned(entry: Entry, writers: Iterable[ExportWriter]) -> ExportItem:
    """``entry`` to export, with what was expected before one of the ``writers`` wrote it.

    If people changed it since, their changes are kept, together with what was expected before.
    """
    known = tuple(writers)
    expected = entry.expected
    while block := carried(expected):
        name = block.get("id")
        earlier = ExportItem(
            entry.model_copy(update={"id": name if isinstance(name, str) else entry.id}), block.get("expected")
        )
        beside = bare(expected)
        if not any(bare(dict(kept)) == beside for writer in known for kept in writer.returns(earlier)):
            break
        expected = earlier.expected
    return ExportItem.of(entry.model_copy(update={"expected": expected}))


def wanted_calls(calls: Sequence[ToolCall], arguments: str = "arguments") -> list[Data]:
    """The calls that are to be made, each with ``name`` and, where they are known, its ``arguments`` under that name.

    Calls that must not be made, and alternatives, are left out: only the entry's record contains those.
    """
    return [_call(call, arguments) for call in calls if not (call.unwanted or call.others)]


def _call(call: ToolCall, arguments: str) -> dict[str, Data]:
    named: dict[str, Data] = {"name": call.name}
    return named if call.arguments is None else {**named, arguments: call.arguments}


def json_line(data: Data) -> str:
    """``data`` on one line; its texts read the same in YAML."""
    return _escaped(json.dumps(data, ensure_ascii=False, allow_nan=False))


def json_document(data: Data) -> str:
    """``data`` as a JSON file."""
    return _escaped(json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


def lines(records: Iterable[Mapping[str, Data]]) -> str:
    """``records`` as JSON Lines."""
    return "".join(json_line(dict(record)) + "\n" for record in records)


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def is_flat(value: Data) -> bool:
    """Whether ``value`` is a text, a number, a truth value or nothing, or a list of these."""
    return not any(isinstance(each, dict | list) for each in (value if isinstance(value, list) else [value]))


def is_flat_mapping(value: Data) -> bool:
    """Whether ``value`` is a mapping of flat values under names, none of which a loader takes for a reference."""
    return isinstance(value, dict) and all(not key.startswith("$") and is_flat(each) for key, each in value.items())


def sealed(data: Data) -> str:
    """``data`` as JSON without an opening brace in any text, so that none of it is a template."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return _QUOTED.sub(lambda quoted: quoted[0].replace("{", "\\u007b"), text)


def carried_as(expected: Data) -> Mapping[str, Data]:
    """``expected`` as a part of an entry's record; as JSON in a string unless it is flat."""
    flat = is_flat(expected) or is_flat_mapping(expected)
    return {"expected": expected} if flat else {SEALED: sealed(expected)}

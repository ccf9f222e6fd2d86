"""What an entry keeps of the format it came in: expectations, conversations and tool calls, written back unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from bot.curator.entry import Entry
from bot.export.formatting import NOT_FLAT
from bot.export.item import ExportItem, ExportRemark, ExportWriter
from bot.files.documents import Data, as_list, as_mapping
from bot.intake.expectation import ToolCall, understand
from bot.intake.expectations.export_round_trip import bare, carried

_ROLES: Final = frozenset({"system", "user", "assistant"})


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

    Calls that must not be made are left out: only the entry's record contains those.
    """
    return [_call(call, arguments) for call in calls if not call.unwanted]


def _call(call: ToolCall, arguments: str) -> dict[str, Data]:
    named: dict[str, Data] = {"name": call.name}
    return named if call.arguments is None else {**named, arguments: call.arguments}

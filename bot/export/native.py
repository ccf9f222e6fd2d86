"""Expectations that came in the target's own format: its fields are given back as they were.

A field counts as the target's own if its name and its kind of value are.  What an earlier run recorded (answers,
scores) is none of them: a runner could take it for the answer of this run.  It travels in the entry's record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from bot.export.flat_values import NOT_FLAT
from bot.export.item import Item, Remark
from bot.files.documents import Data, as_mapping
from bot.intake.expectation import understand

Fields = Mapping[str, Callable[[Data], bool]]
"""The fields of a target, and what values each may have."""


def own_fields(expected: object, fields: Fields) -> dict[str, Data]:
    """What of ``expected`` is the target's own."""
    return {key: value for key, value in as_mapping(expected).items() if key in fields and fields[key](value)}


def with_answer(own: Mapping[str, Data], key: str, answer: str | None) -> dict[str, Data]:
    """``own`` with ``answer`` under ``key``, unless its own value there says the same.

    Beside other keys of the customer's file that value may have counted for less, or have named tools.
    """
    if key in own and understand({key: own[key]}).answer == answer:
        return dict(own)
    return {**{name: value for name, value in own.items() if name != key}, **({} if answer is None else {key: answer})}


def is_text(value: Data) -> bool:
    """Whether ``value`` is a text with anything in it."""
    return isinstance(value, str) and bool(value.strip())


def is_texts(value: Data) -> bool:
    """Whether ``value`` is a list of texts, and not empty."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def structured(items: Iterable[Item], fields: Fields) -> tuple[Remark, ...]:
    """What to know of ``items`` that have some of ``fields`` in a shape in which no runner gets them."""
    found = ((item, [key for key, fits in fields.items() if _is_structured(item, key, fits)]) for item in items)
    return tuple(
        Remark(item.id, f"{', '.join(f'`{key}`' for key in keys)}: carried, and not given to the runner; {NOT_FLAT}")
        for item, keys in found
        if keys
    )


def _is_structured(item: Item, key: str, fits: Callable[[Data], bool]) -> bool:
    value = as_mapping(item.expected).get(key)
    return isinstance(value, dict | list) and bool(value) and not fits(value)

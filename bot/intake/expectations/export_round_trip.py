"""What an export of a regression set leaves in a file beside what the file's format has a place for.

Under the key ``incumbent``, wherever the format takes keys of others, stand the entry's id, its capabilities, source
and set-up, and what was expected as far as the format cannot say it.  Readers keep it like all that they do not know;
here it is found again, so that an exported set comes back with its ids and expectations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.errors import InputError
from bot.files.documents import Data, as_list, as_mapping, parse_json_text
from bot.files.limits import ReadingLimits

CARRIED: Final = "incumbent"
HOLDERS: Final = ("extensions", "metadata", "additional_metadata")
"""Where formats take keys of others: M365 Copilot eval documents; promptfoo and Inspect; DeepEval."""

SEALED: Final = "expected_json"
"""Where a record holds what was expected as JSON in a string."""
_LIMITS: Final = ReadingLimits(file_bytes=1_000_000, nesting_depth=100, nodes=100_000)


def carried(expected: Data) -> Mapping[str, Data]:
    """What an export left in ``expected``, which a reader keeps of a query; empty if it comes from elsewhere.

    A query of several turns may carry it with its first.  In formats that render templates it is JSON in a string, and
    so is what was expected wherever it is not flat.
    """
    turns = as_list(as_mapping(expected).get("turns"))
    for held in (as_mapping(expected), *map(as_mapping, turns[:1])):
        for holder in (held, *(as_mapping(held.get(name)) for name in HOLDERS)):
            found = _block(holder.get(CARRIED))
            if found:
                return found
    return {}


def _block(value: Data) -> Mapping[str, Data]:
    block = as_mapping(_parsed(value) if isinstance(value, str) and value.startswith("{") else value)
    text = block.get(SEALED)
    told = _parsed(text) if isinstance(text, str) else None
    if told is None:
        return block
    return {"expected": told, **{key: held for key, held in block.items() if key != SEALED}}


def _parsed(text: str) -> Data:
    """What ``text`` says as JSON; ``None`` if it is none."""
    if len(text) > _LIMITS.file_bytes:
        return None
    try:
        return parse_json_text(text, CARRIED, _LIMITS).data
    except InputError:
        return None


def carried_id(expected: Data) -> str | None:
    """The entry's id that an export left in ``expected``; ``None`` if it left none."""
    found = carried(expected).get("id")
    return found if isinstance(found, str) else None


def bare(expected: Data) -> Data:
    """``expected`` without what an export left, nor the places of it that hold nothing else."""
    held = dict(as_mapping(expected))
    turns = as_list(held.get("turns"))
    if turns and isinstance(turns[0], dict):
        held["turns"] = [_bare(turns[0]), *turns[1:]]
    return _bare(held)


def _bare(held: Mapping[str, Data]) -> dict[str, Data]:
    kept: dict[str, Data] = {}
    for key, value in held.items():
        if key in HOLDERS and isinstance(value, dict):
            told = _block(value.get(CARRIED)).get("capabilities")
            # promptfoo filters by what stands beside the record, too.
            again = {"capabilities"} if told is not None and value.get("capabilities") == told else set()
            inner = {name: each for name, each in _bare(value).items() if name not in again}
            if inner:
                kept[key] = inner
        elif key != CARRIED or not _block(value):
            kept[key] = value
    return kept


def without_carried(expected: Data) -> Data:
    """``expected`` without what an export left of the entry; what was expected beyond the format stays."""
    if not carried(expected):
        return expected
    held = dict(as_mapping(expected))
    turns = as_list(held.get("turns"))
    if turns and isinstance(turns[0], dict):
        held["turns"] = [_stripped(turns[0]), *turns[1:]]
    return _stripped(held) or None


def _stripped(held: Mapping[str, Data]) -> dict[str, Data]:
    kept: dict[str, Data] = {}
    for key, value in held.items():
        block = _block(value) if key == CARRIED else {}
        if block:
            if "expected" in block:
                kept[key] = {"expected": block["expected"]}
        elif key in HOLDERS and isinstance(value, dict) and _block(value.get(CARRIED)):
            inner = _stripped(value)
            if inner:
                kept[key] = inner
        else:
            kept[key] = value
    return kept

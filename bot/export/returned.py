"""Entries that come from an export themselves: what was expected before it, where nobody changed what it wrote.

Else every export of an export would wrap the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable

from bot.curator.entry import Entry
from bot.export.item import Item, Writer
from bot.intake.expectations.export_round_trip import bare, carried


def returned(entry: Entry, writers: Iterable[Writer]) -> Item:
    """``entry`` to export, with what was expected before one of the ``writers`` wrote it.

    What people changed since is kept, together with what was expected before.
    """
    known = tuple(writers)
    expected = entry.expected
    while block := carried(expected):
        name = block.get("id")
        earlier = Item(
            entry.model_copy(update={"id": name if isinstance(name, str) else entry.id}), block.get("expected")
        )
        beside = bare(expected)
        if not any(bare(dict(kept)) == beside for writer in known for kept in writer.returns(earlier)):
            break
        expected = earlier.expected
    return Item.of(entry.model_copy(update={"expected": expected}))

"""What of the regression set is exported, what is left out and why, and the files it comes to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.curator.entry import Entry
from bot.export.item import Item, Remark, Writer, Written
from bot.export.readiness import obstacle
from bot.export.registry import writers
from bot.export.returned import returned


@dataclass(frozen=True, slots=True)
class Export:
    """The exported entries' ids in the files' order, those left out with the reason, and the files."""

    ids: tuple[str, ...]
    left_out: tuple[Remark, ...]
    written: Written


def plan_export(entries: Iterable[Entry], writer: Writer, *, keep_placeholders: bool = False) -> Export:
    """``entries`` for the runner of ``writer``, ordered by id, so that equal sets give equal bytes.

    Without an entry that is ready there are no files.
    """
    ready: list[Item] = []
    left_out: list[Remark] = []
    for entry in sorted(entries, key=lambda entry: entry.id):
        item = returned(entry, writers().values())
        why = obstacle(item, writer, keep_placeholders=keep_placeholders)
        if why is None:
            ready.append(item)
        else:
            left_out.append(Remark(item.id, why))
    written = writer.write(ready) if ready else Written({})
    return Export(tuple(item.id for item in ready), tuple(left_out), written)

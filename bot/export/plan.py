"""Which entries are exported, which are left out and why, and the resulting files."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from bot import export
from bot.curator.entry import Entry
from bot.export.item import ExportItem, ExportRemark, ExportWriter, Written, obstacle, unready
from bot.export.source_fields import returned
from bot.intake.fixtures import FixtureFolder


@cache
def writers() -> Mapping[str, ExportWriter]:
    """The writers of all formats by name, sorted."""
    modules = (
        importlib.import_module(f"{export.__name__}.{found.name}") for found in pkgutil.iter_modules(export.__path__)
    )
    bound = (getattr(module, "WRITER", None) for module in modules)
    found = {writer.name: writer for writer in bound if isinstance(writer, ExportWriter)}
    return {name: found[name] for name in sorted(found)}


@dataclass(frozen=True, slots=True)
class Export:
    """The ids of the exported entries in the files' order, those left out with the reason, and the files."""

    ids: tuple[str, ...]
    left_out: tuple[ExportRemark, ...]
    written: Written


def plan_export(
    entries: Iterable[Entry],
    writer: ExportWriter,
    fixtures: FixtureFolder | None = None,
    *,
    keep_placeholders: bool = False,
    choose: Callable[[Collection[str]], Collection[str]] = lambda ids: ids,
) -> Export:
    """The export of ``entries`` for the runner of ``writer``, ordered by id, so that equal sets give equal bytes.

    Entries that are not ready are left out; ``fixtures`` are those that are there.  Of the others those go into the
    files that ``choose`` takes.  Without an entry that is ready there are no files.
    """
    ready: list[ExportItem] = []
    left_out: list[ExportRemark] = []
    for entry in sorted(entries, key=lambda entry: entry.id):
        item = returned(entry, writers().values())
        why = unready(item, fixtures, keep_placeholders=keep_placeholders) or obstacle(item, writer)
        if why is None:
            ready.append(item)
        else:
            left_out.append(ExportRemark(item.id, why))
    chosen = set(choose([item.id for item in ready]) if ready else ())
    items = [item for item in ready if item.id in chosen]
    written = writer.write(items) if items else Written({})
    return Export(tuple(item.id for item in items), tuple(left_out), written)

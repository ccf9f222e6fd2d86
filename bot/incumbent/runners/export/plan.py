"""Which entries are exported, which are left out and why, and the resulting files."""

from __future__ import annotations

import importlib
import math
import pkgutil
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from incumbent.curator.entry import Entry
from incumbent.files.documents import Data
from incumbent.intake.query import FixtureFolder
from incumbent.runners import export
from incumbent.runners.export.item import ExportItem, ExportRemark, ExportWriter, Written, returned

_TICKS: Final = re.compile("`+")
_NO_TEXT: Final = re.compile("[\0\ud800-\udfff]")
_PLACEHOLDER: Final = re.compile(r"\$\{\{\s*[\w.]+\s*\}\}|\{\{\s*[A-Za-z_][\w.-]*\s*\}\}")


@cache
def writers() -> Mapping[str, ExportWriter]:
    """The writers of all formats by name, sorted."""
    modules = (
        importlib.import_module(f"{export.__name__}.{found.name}") for found in pkgutil.iter_modules(export.__path__)
    )
    bound = (value for module in modules for value in vars(module).values())
    found = {writer.name: writer for writer in bound if isinstance(writer, ExportWriter)}
    return {name: found[name] for name in sorted(found)}


@dataclass(frozen=True, slots=True)
class Export:
    """The ids of the exported entries in the files' order, those left out with the reason, and the files.

    ``left_out`` are not ready to run; ``quarantined`` are left out since they are in quarantine.
    """

    ids: tuple[str, ...]
    left_out: tuple[ExportRemark, ...]
    quarantined: tuple[ExportRemark, ...]
    written: Written


def plan_export(
    entries: Iterable[Entry],
    writer: ExportWriter,
    fixtures: FixtureFolder | None = None,
    *,
    keep_placeholders: bool = False,
    in_quarantine: bool = False,
    choose: Callable[[Collection[str]], Collection[str]] = lambda ids: ids,
) -> Export:
    """The export of ``entries`` for the runner of ``writer``, ordered by id, so that equal sets give equal bytes.

    Quarantined entries are left out; with ``in_quarantine`` the export is of these alone.  So are entries that are not
    ready; ``fixtures`` are those that are there.  Of the others those go into the files that ``choose`` takes.  Without
    an entry that is ready there are no files.
    """
    ready: list[ExportItem] = []
    left_out: list[ExportRemark] = []
    ordered = sorted(entries, key=lambda entry: entry.id)
    quarantined = () if in_quarantine else tuple(_quarantined(ordered))
    for entry in ordered:
        if (entry.quarantined is not None) is not in_quarantine:
            continue
        item = returned(entry, writers().values())
        why = unready(item, fixtures, keep_placeholders=keep_placeholders) or _obstacle(item, writer)
        if why is None:
            ready.append(item)
        else:
            left_out.append(ExportRemark(item.id, why))
    chosen = set(choose([item.id for item in ready]) if ready else ())
    items = [item for item in ready if item.id in chosen]
    written = writer.write(items) if items else Written({})
    return Export(tuple(item.id for item in items), tuple(left_out), quarantined, written)


def _quarantined(entries: Iterable[Entry]) -> Iterator[ExportRemark]:
    for entry in entries:
        if entry.quarantined is not None:
            yield ExportRemark(entry.id, f"it is quarantined: {entry.quarantined}")


def unready(item: ExportItem, fixtures: FixtureFolder | None, *, keep_placeholders: bool = False) -> str | None:
    """Why no runner can run ``item``; ``None`` if it is ready.

    It is not if its set-up is not, or names fixtures that are not in the folder of ``fixtures`` (``None``: they are not
    checked).  A text such as ``{{name}}`` is an unfilled placeholder, unless ``keep_placeholders`` says that it is
    meant literally.
    """
    setup = item.entry.setup
    if not setup.ready:
        return "its set-up is not ready (`setup.ready` is false)"
    missing = () if fixtures is None else fixtures.missing(setup)
    if fixtures is not None and missing:
        return f"its fixtures are not in {fixtures.path}/: {', '.join(missing)}"
    filler = None if keep_placeholders else _placeholder(item)
    if filler is not None:
        return f"{filler} is a placeholder that is not filled; --keep-placeholders if it is meant literally"
    if not _can_be_written([*item.turns, item.record(said=False)]):
        return "it holds what files cannot: a NUL character, half of a surrogate pair, or a number that is none"
    return None


def _obstacle(item: ExportItem, writer: ExportWriter) -> str | None:
    """Why the runner of ``writer`` cannot run ``item``, which is ready; ``None`` if it can."""
    attachments = item.entry.setup.attachments
    if attachments and not writer.attaches:
        return f"the content of its attachments is not available ({', '.join(attachments)})"
    return writer.obstacle(item)


def _placeholder(item: ExportItem) -> str | None:
    """The first unfilled placeholder outside of code."""
    found = (_PLACEHOLDER.search(_without_code(turn)) for turn in item.turns)
    return next((match[0] for match in found if match), None)


def _without_code(text: str) -> str:
    """``text`` without Markdown code (text between equal runs of backticks): code is part of the question."""
    runs = [match.span() for match in _TICKS.finditer(text)]
    ends: dict[tuple[int, int], int] = {}
    later: dict[int, int] = {}
    for start, end in reversed(runs):
        if end - start in later:
            ends[start, end] = later[end - start]
        later[end - start] = end
    kept, place = [], 0
    for start, end in runs:
        if start >= place and (start, end) in ends:
            kept.append(text[place:start])
            place = ends[start, end]
    return "".join([*kept, text[place:]])


def _can_be_written(data: Data) -> bool:
    return all(
        math.isfinite(value) if isinstance(value, float) else not _NO_TEXT.search(value) for value in _leaves(data)
    )


def _leaves(data: Data) -> Iterator[float | str]:
    """The texts, keys included, and numbers with a fraction in ``data``."""
    todo = [data]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo.extend(value)
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
        elif isinstance(value, str | float):
            yield value

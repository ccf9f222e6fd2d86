"""An entry of the regression set as export writers see it, and the interface of writers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from bot.curator.entry import Entry
from bot.export.formatting import carried_as
from bot.files.documents import Data
from bot.intake.expectation import Expectation, understand
from bot.intake.expectations.export_round_trip import bare, carried, without_carried
from bot.intake.fixtures import FixtureFolder
from bot.intake.query import SETUP_FILE

_TICKS: Final = re.compile("`+")
_NO_TEXT: Final = re.compile("[\0\ud800-\udfff]")
_PLACEHOLDER: Final = re.compile(r"\$\{\{\s*[\w.]+\s*\}\}|\{\{\s*[A-Za-z_][\w.-]*\s*\}\}")


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
    filler = None if keep_placeholders else placeholder(item)
    if filler is not None:
        return f"{filler} is a placeholder that is not filled; --keep-placeholders if it is meant literally"
    if not _can_be_written([*item.turns, item.record(said=False)]):
        return "it holds what files cannot: a NUL character, half of a surrogate pair, or a number that is none"
    return None


def obstacle(item: ExportItem, writer: ExportWriter) -> str | None:
    """Why the runner of ``writer`` cannot run ``item``, which is ready; ``None`` if it can."""
    attachments = item.entry.setup.attachments
    if attachments and not writer.attaches:
        return f"the content of its attachments is not available ({', '.join(attachments)})"
    return writer.obstacle(item)


def placeholder(item: ExportItem) -> str | None:
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

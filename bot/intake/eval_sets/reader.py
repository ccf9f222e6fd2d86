"""What a format's module says of its format, and the file that it is handed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from bot.config import Limits
from bot.errors import InputError
from bot.files.documents import Document, Lines
from bot.files.limits import ReadingLimits
from bot.intake.eval_sets.columns import Columns
from bot.intake.eval_sets.records import Records, listed, of_lines, of_rows
from bot.intake.eval_sets.rows import Reading
from bot.intake.eval_sets.table import Header, TableText, first_header
from bot.intake.place import Parsed, Place


def _refuse(place: Place, reference: str) -> Source:
    message = f"{place.name}: {reference} cannot be read, since the file is read by itself"
    raise InputError([place.problem(message, "write the content here")])


def _refuse_pattern(place: Place, pattern: str) -> tuple[str, ...]:
    _refuse(place, pattern)
    return ()


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file as readers get it.

    ``file`` is how messages call it, ``path`` where it stands in the folder; ``text`` is its content without a byte
    order mark.  ``document`` is the parsed content of a JSON or YAML file, ``lines`` that of JSON Lines; a table has
    neither.  ``columns`` are those that ``formats.yaml`` names, if it does; ``limits`` hold for what is parsed further,
    ``folder_limits`` for what all files of the folder come to.  ``beside`` opens the file of the folder that a place of
    this one refers to, ``text_beside`` without parsing it, and ``matching`` gives the references that a pattern with
    ``*`` stands for; all raise :class:`~bot.errors.InputError` for what leads out of the folder.
    """

    file: str
    path: str
    text: str
    limits: ReadingLimits
    folder_limits: Limits
    document: Document | None = None
    lines: Lines | None = None
    columns: Columns | None = None
    beside: Callable[[Place, str], Source] = _refuse
    text_beside: Callable[[Place, str], Source] = _refuse
    matching: Callable[[Place, str], tuple[str, ...]] = _refuse_pattern

    @property
    def is_table(self) -> bool:
        """Whether the file is a table, whose rows are its records."""
        return self.document is None and self.lines is None

    @property
    def table(self) -> TableText:
        """The file as a table, whatever it is."""
        return TableText(self.text, self.file, self.limits)

    @cached_property
    def root(self) -> Place:
        """The whole document; nothing stands there in a file that is none."""
        return Parsed(self.path, self.document or Document(self.file, self.text, None)).root

    @cached_property
    def header(self) -> Header | None:
        """The first row of a table as its header; ``None`` if it is empty, and of any other file."""
        return first_header(self.table) if self.is_table else None

    @cached_property
    def records(self) -> Records:
        """The objects of a list, of JSON Lines or of a table; none for a file of any other shape."""
        if self.lines is not None:
            return of_lines(self.path, self.lines)
        return listed(self.root) if self.header is None else of_rows(self.table, self.path, self.header)

    def check(self) -> None:
        """Raise :class:`~bot.errors.InputError` for a table that holds too much; others are refused when parsed."""
        if self.is_table:
            _ = self.records

    def keys_of(self, records: Records) -> frozenset[str]:
        """The keys that ``records`` of this file have; of a table those of its header, whatever its cells hold."""
        return records.keys if self.header is None else frozenset(self.header.labels().values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One format.

    ``name`` identifies it in :class:`~bot.intake.query.EvalSet`, ``title`` describes it to people.  A file comes into
    question if its name has one of the ``endings`` (lower case) and its text shows ``mark`` near its beginning, which a
    damaged file of the format does as well; it is then parsed, and is of this format if ``recognises`` says so.  A
    ``plain`` format has nothing of its own to be told by: it is asked only where no other fits.  ``names_columns``
    allows ``formats.yaml`` to say which column holds what.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    mark: re.Pattern[str]
    recognises: Callable[[Source], bool]
    read: Callable[[Source], Reading]
    plain: bool = False
    names_columns: bool = False

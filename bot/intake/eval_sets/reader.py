"""What a format's module says of its format, and what it hands over: rows and faults."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.documents import Data, Document
from bot.errors import Problem
from bot.intake.query import Setup


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file as readers get it.

    ``file`` is how messages call it; ``text`` is its content without a byte order mark; ``document`` is the parsed
    content of a ``.json``, ``.yaml`` or ``.yml`` file, ``None`` for any other.
    """

    file: str
    text: str
    document: Document | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A query as its file has it, before limits and ids are looked after.

    ``id`` is ``None`` where the file gives none; ``line`` is where the query begins.
    """

    turns: tuple[str, ...]
    line: int | None
    id: str | None = None
    expected: Data = None
    setup: Setup = field(default_factory=Setup)


@dataclass(frozen=True, slots=True)
class Reading:
    """The good rows of a file in its order, and the faults of the others."""

    rows: tuple[Row, ...]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One format.

    ``name`` identifies it in :class:`~bot.intake.query.EvalSet`, ``title`` describes it to people.  A file comes into
    question if its name has one of the ``endings`` (lower case) and its text shows ``mark`` somewhere, which a damaged
    file of the format does as well; it is then parsed, and is of this format if ``recognises`` says so.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    mark: re.Pattern[str]
    recognises: Callable[[Source], bool]
    read: Callable[[Source], Reading]

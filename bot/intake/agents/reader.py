"""What a reader of one agent specification format is."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from bot.config import Limits
from bot.documents import Document
from bot.intake.specification import Specification
from bot.snapshot import Snapshot


class Reader(Protocol):
    """Reads one format; a module of this package that has a ``READER`` is found by itself.

    A ``bare`` format describes only a part of an agent, and an agent of another format may be made of such files: it
    counts only in a folder where no reader of a whole agent recognises anything.
    """

    @property
    def name(self) -> str:
        """The format, as people call it."""
        ...

    @property
    def looked_for(self) -> str:
        """What this reader looks for in a folder, in words for people."""
        ...

    @property
    def bare(self) -> bool:
        """Whether the format describes only a part of an agent."""
        ...

    @property
    def nests(self) -> bool:
        """Whether an agent of this format may itself be made of other files, and so is no part of another."""
        ...

    def fits(self, document: Document) -> bool:
        """Whether a file is of this format, told by its content alone."""
        ...

    def recognise(self, snapshot: Snapshot, limits: Limits) -> tuple[str, ...]:
        """The files of ``snapshot`` from which an agent of this format could be read, told by their content."""
        ...

    def parts(self, snapshot: Snapshot, path: str, limits: Limits) -> Collection[str]:
        """The specifications that the one at ``path`` is made of, which are therefore no agents of their own."""
        ...

    def read(self, snapshot: Snapshot, path: str, limits: Limits) -> Specification:
        """The agent that starts at ``path``; raises :class:`~bot.errors.InputError` if it is at fault."""
        ...

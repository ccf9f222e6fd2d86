"""What a reader of one agent specification format is."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from bot.config import Limits
from bot.files.documents import Document
from bot.files.snapshot import Snapshot
from bot.intake.specification import Specification


class AgentReader(Protocol):
    """Reads one format of whole agents; a module of this package that has a ``READER`` is found by itself.

    A format that describes only a part of an agent has a
    :class:`~bot.intake.agents.standalone_files.BareReader` instead.
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
    def nests(self) -> bool:
        """Whether an agent of this format may itself be made of others, and so is no part of another."""
        ...

    @property
    def is_fallback(self) -> bool:
        """Whether a file of this format counts only where there is no agent of another, which may have it as a part."""
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

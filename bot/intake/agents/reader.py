"""The protocol of readers of agent specifications."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from bot.config import Limits
from bot.files.documents import Document
from bot.files.snapshot import Snapshot
from bot.intake.specification import Specification


class AgentReader(Protocol):
    """Reads one format of complete agents; every module of this package that binds ``READER`` is registered.

    A format that describes only a part of an agent has a
    :class:`~bot.intake.agents.standalone_files.BareReader` instead.
    """

    @property
    def name(self) -> str:
        """The name of the format in messages."""
        ...

    @property
    def looked_for(self) -> str:
        """What this reader looks for in a folder, in words."""
        ...

    @property
    def nests(self) -> bool:
        """Whether an agent of this format may be made of others, and so is never a part itself."""
        ...

    @property
    def is_fallback(self) -> bool:
        """Whether a file of this format counts only without an agent of another format, which may contain it."""
        ...

    def fits(self, document: Document) -> bool:
        """Whether a file is of this format, by its content alone."""
        ...

    def recognise(self, snapshot: Snapshot, limits: Limits) -> tuple[str, ...]:
        """The files of ``snapshot`` that contain an agent of this format, by their content."""
        ...

    def parts(self, snapshot: Snapshot, path: str, limits: Limits) -> Collection[str]:
        """The specifications that are parts of the one at ``path``, and so not separate agents."""
        ...

    def read(self, snapshot: Snapshot, path: str, limits: Limits) -> Specification:
        """The agent that starts at ``path``; raises :class:`~bot.errors.InputError` if it is at fault."""
        ...

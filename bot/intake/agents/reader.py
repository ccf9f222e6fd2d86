"""What a reader of one agent specification format is."""

from __future__ import annotations

from typing import Protocol

from bot.config import Limits
from bot.intake.specification import Specification
from bot.snapshot import Snapshot


class Reader(Protocol):
    """Reads one format; a module of this package that has a ``READER`` is found by itself."""

    @property
    def name(self) -> str:
        """The format, as people call it."""
        ...

    @property
    def looked_for(self) -> str:
        """What this reader looks for in a folder, in words for people."""
        ...

    def recognise(self, snapshot: Snapshot, limits: Limits) -> tuple[str, ...]:
        """The files of ``snapshot`` from which an agent of this format could be read, told by their content."""
        ...

    def read(self, snapshot: Snapshot, path: str, limits: Limits) -> Specification:
        """The agent that starts at ``path``; raises :class:`~bot.errors.InputError` if it is at fault."""
        ...

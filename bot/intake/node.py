"""Walking documents whose shape others decide, without losing the file and line of anything."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.errors import Problem
from bot.files.documents import Data, Document, Path, as_list, as_mapping

_PLAIN_KEY = re.compile(r"[\w$*-]+")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed file of a package; ``path`` is its path in the snapshot, which its own references start from."""

    path: str
    document: Document

    @property
    def root(self) -> Node:
        """The whole document."""
        return Node(self, (), self.document.data)


@dataclass(frozen=True, slots=True)
class Node:
    """A value inside a file, and where it stands; an absent value is ``None``, as JSON's ``null`` is."""

    source: Parsed
    path: Path
    data: Data

    def __getitem__(self, key: str) -> Node:
        """The value under ``key``; absent if there is none or this is no mapping."""
        return Node(self.source, (*self.path, key), as_mapping(self.data).get(key))

    def __str__(self) -> str:
        """How the place is named to people: ``ai-plugin.json: runtimes[0].auth``."""
        return f"{self.source.document.file}: {self.name}" if self.path else self.source.document.file

    @property
    def name(self) -> str:
        """The place inside its file: ``runtimes[0].auth``."""
        text = ""
        for step in self.path:
            if isinstance(step, int):
                text += f"[{step}]"
            elif _PLAIN_KEY.fullmatch(step):
                text += f".{step}"
            else:
                text += f"['{step}']"
        return text.removeprefix(".")

    @property
    def absent(self) -> bool:
        """Whether there is nothing here."""
        return self.data is None

    @property
    def is_mapping(self) -> bool:
        """Whether a mapping stands here."""
        return isinstance(self.data, dict)

    @property
    def is_list(self) -> bool:
        """Whether a list stands here."""
        return isinstance(self.data, list)

    @property
    def text(self) -> str:
        """The string here without white space around it; empty if there is none."""
        return self.data.strip() if isinstance(self.data, str) else ""

    @property
    def items(self) -> tuple[Node, ...]:
        """The values of the list here."""
        return tuple(Node(self.source, (*self.path, index), item) for index, item in enumerate(as_list(self.data)))

    @property
    def entries(self) -> tuple[tuple[str, Node], ...]:
        """The keys and values of the mapping here, in the file's order."""
        return tuple((key, self[key]) for key in as_mapping(self.data))

    @property
    def line(self) -> int | None:
        """The line of this place in its file, from 1."""
        return self.source.document.line(self.path)

    def has(self, key: str) -> bool:
        """Whether a mapping with ``key`` stands here, even if its value is ``null``."""
        return key in as_mapping(self.data)

    def problem(self, message: str, fix: str) -> Problem:
        """A remark about this place."""
        return self.source.document.problem(self.path, message, fix)

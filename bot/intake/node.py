"""Nodes: values of untrusted documents, with their file, path and line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.errors import Problem
from bot.files.documents import Data, Document, Path, as_list, as_mapping

_PLAIN_KEY = re.compile(r"[\w$*-]+")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed file of a package; ``path`` is its path in the snapshot, the base of its references."""

    path: str
    document: Document

    @property
    def root(self) -> Node:
        """The whole document."""
        return Node(self, (), self.document.data)


@dataclass(frozen=True, slots=True)
class Node:
    """A value in a file with its path; an absent value is ``None``, like JSON's ``null``."""

    source: Parsed
    path: Path
    data: Data

    def __getitem__(self, key: str) -> Node:
        """The value of ``key``; absent if there is none, or if this is not a mapping."""
        return Node(self.source, (*self.path, key), as_mapping(self.data).get(key))

    def __str__(self) -> str:
        """The place as messages show it: ``ai-plugin.json: runtimes[0].auth``."""
        return f"{self.source.document.file}: {self.name}" if self.path else self.source.document.file

    @property
    def name(self) -> str:
        """The path inside the file: ``runtimes[0].auth``."""
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
        """Whether the value is missing or ``null``."""
        return self.data is None

    @property
    def is_mapping(self) -> bool:
        """Whether the value is a mapping."""
        return isinstance(self.data, dict)

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return isinstance(self.data, list)

    @property
    def text(self) -> str:
        """The value if it is a string, without surrounding white space; empty otherwise."""
        return self.data.strip() if isinstance(self.data, str) else ""

    @property
    def items(self) -> tuple[Node, ...]:
        """The values of the list."""
        return tuple(Node(self.source, (*self.path, index), item) for index, item in enumerate(as_list(self.data)))

    @property
    def entries(self) -> tuple[tuple[str, Node], ...]:
        """The keys and values of the mapping, in the file's order."""
        return tuple((key, self[key]) for key in as_mapping(self.data))

    @property
    def line(self) -> int | None:
        """The line of the value in its file, from 1."""
        return self.source.document.line(self.path)

    def has(self, key: str) -> bool:
        """Whether the value is a mapping with ``key``, even if that value is ``null``."""
        return key in as_mapping(self.data)

    def problem(self, message: str, fix: str) -> Problem:
        """A problem at this place."""
        return self.source.document.problem(self.path, message, fix)

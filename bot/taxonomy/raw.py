"""Groups and capabilities as a taxonomy file has them, valid or not: what the checks beyond the schema look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bot.errors import Problem
from bot.files.documents import Data, Document, Path, as_list, as_mapping


@dataclass(frozen=True, slots=True)
class RawPart:
    """A group or capability at ``path`` of a taxonomy file."""

    document: Document
    path: Path
    data: Mapping[str, Data]

    def text(self, key: str) -> str | None:
        """The value of ``key`` if it is a text."""
        value = self.data.get(key)
        return value if isinstance(value, str) else None

    @property
    def id(self) -> str | None:
        """The part's id, if it has one."""
        return self.text("id")

    @property
    def name(self) -> str:
        """How messages call the part: by its id, or else by its place."""
        return self.id or ".".join(str(step) for step in self.path)

    def problem(self, at: Path, message: str, fix: str) -> Problem:
        """A problem at ``at``, as seen from the part."""
        return self.document.problem((*self.path, *at), f"{self.name}: {message}", fix)


def raw_parts(document: Document, key: str) -> Iterator[RawPart]:
    """The parts in the list ``key``: ``groups`` or ``capabilities``."""
    for place, item in enumerate(as_list(as_mapping(document.data).get(key))):
        if isinstance(item, dict):
            yield RawPart(document, (key, place), item)

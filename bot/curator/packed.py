"""Entries and tombstones as they were parsed before, in one file of the user's cache: parsing is what takes long.

Each is known by a digest of its path and of the whole content of its file, so that nothing that has changed since is
taken from here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

import pydantic
import yaml

from bot.curator.entry import Entry, Tombstone
from bot.files.user_cache import Remembered, digest_of_code
from bot.files.validation import FileModel

Kind = TypeVar("Kind", Entry, Tombstone)


class _Pack(FileModel):
    """The file: ``code`` is the digest of what parsed them."""

    code: str
    entries: dict[str, Entry]
    tombstones: dict[str, Tombstone]


class PackedSet:
    """The files of a regression set that were ``remembered``, and those that are read now."""

    def __init__(self, remembered: Remembered | None) -> None:
        self._remembered = remembered
        before = _Pack(code="", entries={}, tombstones={})
        self._known: dict[tuple[type, str], Entry | Tombstone] = {}
        if remembered is not None:
            before = _unpacked(remembered.pack()) or before
        self._known |= {(Entry, key): entry for key, entry in before.entries.items()}
        self._known |= {(Tombstone, key): tombstone for key, tombstone in before.tombstones.items()}
        self._used: dict[tuple[type, str], Entry | Tombstone] = {}

    def get(self, path: str, content: bytes, model: type[Kind], parse: Callable[[], Kind]) -> Kind:
        """What the file at ``path`` holds; ``parse`` is called where its ``content`` is not known."""
        if self._remembered is None:
            return parse()
        key = model, hashlib.sha256(path.encode("utf-8", "surrogatepass") + b"\0" + content).hexdigest()
        known = self._known.get(key)
        item = known if isinstance(known, model) else parse()
        self._used[key] = item
        return item

    def keep(self) -> None:
        """Keep what was read, for the next run, where it is not what was known."""
        if self._remembered is None or self._used.keys() == self._known.keys():
            return
        pack = _Pack(
            code=_code(),
            entries={key: item for (_, key), item in self._used.items() if isinstance(item, Entry)},
            tombstones={key: item for (_, key), item in self._used.items() if isinstance(item, Tombstone)},
        )
        self._remembered.keep(pack.model_dump_json().encode())


def _unpacked(content: bytes | None) -> _Pack | None:
    try:
        pack = None if content is None else _Pack.model_validate_json(content)
    except ValueError:
        return None
    return pack if pack is not None and pack.code == _code() else None


@cache
def _code() -> str:
    """A digest of the code that reads entries."""
    package = Path(__file__).parents[1]
    parts = ("classifier/model.py", "curator/entry.py", "curator/store.py", "intake/query.py")
    files = (*sorted(package.glob("*.py")), *(package / part for part in parts))
    return digest_of_code(files, pydantic.VERSION, yaml.__version__)

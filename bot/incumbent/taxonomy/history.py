"""The version in a taxonomy file, in any form of YAML, and past taxonomies of a repository by version, from git."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

import yaml

from incumbent.errors import InputError, Problem
from incumbent.files.documents import as_mapping, parse_yaml
from incumbent.files.git import ObjectStore
from incumbent.taxonomy.config import REVIEWED_FILES
from incumbent.taxonomy.exemplars import EXEMPLARS_FOLDER
from incumbent.taxonomy.loading import TAXONOMY_FILE, load_taxonomy
from incumbent.taxonomy.model import Taxonomy


class History:
    """The taxonomies of the platform in ``folder``, one for each version, along the first parents of ``tip``.

    A commit that changes exemplars only belongs to the version in its taxonomy file.
    """

    def __init__(self, store: ObjectStore, tip: str, folder: str = "") -> None:
        self._store = store
        self._tip = tip
        self._folder = folder
        below = f"{folder}/" if folder else ""
        self._paths = (f"{below}{TAXONOMY_FILE}", f"{below}{EXEMPLARS_FOLDER}")
        self._load = cache(self._read)

    def since(self, version: str) -> tuple[Taxonomy, ...]:
        """The taxonomies from ``version`` on, oldest first; empty if no commit had it, or if it cannot be read.

        Each is the first state of its version: queries may have been classified under that state.
        """
        line: dict[str, str] = {}
        for commit in self._store.history(self._tip, *self._paths):
            named = self._version(commit)
            if version in line and named != version:
                break
            if named is not None:
                line[named] = commit
        if version not in line:
            return ()
        found = [self._load(commit) for commit in reversed(line.values())]
        return () if found[0] is None else tuple(item for item in found if item is not None)

    @property
    def last(self) -> str | None:
        """The last commit that changed the taxonomy: as long as it is the same, so is this history."""
        return next(iter(self._store.history(self._tip, *self._paths, most=1)), None)

    def all(self) -> tuple[Taxonomy, ...]:
        """The last state of each version that can be read, oldest first."""
        line: dict[str, str] = {}
        for commit in self._store.history(self._tip, *self._paths):
            named = self._version(commit)
            if named is not None:
                line.setdefault(named, commit)
        found = [self._load(commit) for commit in reversed(line.values())]
        return tuple(item for item in found if item is not None)

    def _version(self, commit: str) -> str | None:
        snapshot = self._store.snapshot(commit, self._folder)
        if not snapshot.exists(TAXONOMY_FILE):
            return None
        return read_version(snapshot.read(TAXONOMY_FILE, REVIEWED_FILES))

    def _read(self, commit: str) -> Taxonomy | None:
        try:
            return load_taxonomy(self._store.snapshot(commit, self._folder), is_past=True)
        except InputError:
            return None


_KEY: Final = "version"
_VERSION: Final = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


def read_version(content: str | bytes) -> str | None:
    """The version in ``content``, which may be invalid after it; ``None`` without a version.

    Reading stops at the version, so it is fast for a file that has it at the top.
    """
    event = _version_event(content)
    return None if event is None or not _VERSION.fullmatch(event.value) else str(event.value)


def with_version(text: str, file: str, version: str) -> str:
    """The valid ``text`` of the taxonomy ``file`` with another version; all else stays byte for byte.

    Raises :class:`InputError` if that is impossible, for example because the version is an alias.
    """
    plain = text.removeprefix("\ufeff")
    mark = text[: len(text) - len(plain)]
    event = _version_event(plain)
    if event is not None and event.value == version:
        return text
    if event is not None:
        # The value may have an anchor or a tag before it, and quotes around it.
        start = plain.rfind(event.value, _index(event.start_mark), _index(event.end_mark))
        written = plain[:start] + version + plain[start + len(event.value) :]
        if start >= 0 and _says(written, file) == {**_says(plain, file), _KEY: version}:
            return mark + written
    line = parse_yaml(plain.encode("utf-8"), file, REVIEWED_FILES).line((_KEY,))
    message = f"the version must become {version}, and it cannot be set without changing what else the file says"
    raise InputError([Problem(file, line, message, f"write `version: {version}`, and run this again")])


def _says(text: str, file: str) -> dict[str, object]:
    return dict(as_mapping(parse_yaml(text.encode("utf-8"), file, REVIEWED_FILES).data))


def _version_event(content: str | bytes) -> yaml.ScalarEvent | None:
    """The value of the top-level key ``version``, if it is a scalar."""
    depth, is_key, found = 0, True, False
    try:
        for event in yaml.parse(content, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            elif isinstance(event, yaml.NodeEvent):
                scalar = event if isinstance(event, yaml.ScalarEvent) else None
                if depth == 0 and not isinstance(event, yaml.MappingStartEvent):
                    return None
                if depth == 1 and found:
                    return scalar
                if depth == 1:
                    found = is_key and scalar is not None and scalar.value == _KEY
                    is_key = not is_key
                if isinstance(event, yaml.CollectionStartEvent):
                    depth += 1
    except yaml.YAMLError:
        return None
    return None


def _index(mark: Any) -> int:
    """The position in the text, which libyaml gives for every event."""
    return int(mark.index)

"""Past taxonomies of a repository by version, read from git."""

from __future__ import annotations

from functools import cache

from bot.config import REVIEWED_FILES
from bot.errors import InputError
from bot.git import ObjectStore
from bot.taxonomy.exemplars import EXEMPLARS_FOLDER
from bot.taxonomy.loading import TAXONOMY_FILE, load_taxonomy
from bot.taxonomy.model import Taxonomy
from bot.taxonomy.written_version import read_version


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

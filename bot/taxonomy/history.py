"""The taxonomies that a repository has had, by their versions: told by git."""

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
    """The taxonomies up to the commit ``tip``, one for each version, on its line of first parents.

    They are those of the platform in ``folder`` of the repository.  A commit that changes exemplars alone is one of
    the version that it has.
    """

    def __init__(self, store: ObjectStore, tip: str, folder: str = "") -> None:
        self._store = store
        self._tip = tip
        self._folder = folder
        below = f"{folder}/" if folder else ""
        self._paths = (f"{below}{TAXONOMY_FILE}", f"{below}{EXEMPLARS_FOLDER}")
        self._load = cache(self._read)

    def since(self, version: str) -> tuple[Taxonomy, ...]:
        """The taxonomies from ``version`` on, oldest first; none where no commit had it, or it cannot be read.

        What a version held first counts: whoever was classified under it may have been by that.
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
        """The last commit that changed the taxonomy: while it stays, all that this tells stays."""
        return next(iter(self._store.history(self._tip, *self._paths, most=1)), None)

    def all(self) -> tuple[Taxonomy, ...]:
        """Every taxonomy that can be read, as each version was last, oldest first."""
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

"""The ledger as a local clone has it, for commands that only read it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bot.errors import InputError, UsageError
from bot.git import CommitSnapshot, ObjectStore
from bot.git.working_copy import read_commit, read_top
from bot.ledger.model import BRANCH
from bot.taxonomy.history import History
from bot.taxonomy.model import Taxonomy


@dataclass(frozen=True)
class LocalLedger:
    """What the ledger holds, in the ``store`` of the repository whose top folder is ``top``.

    The platform lies in ``folder`` of it (the empty string: in the top folder itself).
    """

    snapshot: CommitSnapshot
    store: ObjectStore
    top: Path
    folder: str

    def open_commit(self, commit: str) -> CommitSnapshot | None:
        """The platform as of ``commit``; ``None`` where that is not here."""
        return self.store.snapshot(commit, self.folder) if self.store.exists(commit) else None

    def former_taxonomies(self) -> tuple[Taxonomy, ...]:
        """The taxonomies of the line that is checked out, oldest first; none where it cannot be told."""
        try:
            return History(self.store, read_commit(self.top, "HEAD"), self.folder).all()
        except (UsageError, InputError):
            return ()


def find_ledger(store: ObjectStore) -> str | None:
    """The commit of the ledger: that of the remote-tracking branch, else of the local one; ``None`` without either."""
    names = (f"refs/remotes/origin/{BRANCH}", f"refs/heads/{BRANCH}")
    return next((found for name in names if (found := store.find(name)) is not None), None)


def open_ledger(repo: Path, stack: ExitStack) -> LocalLedger | str:
    """The ledger of the clone that holds ``repo``, open as long as ``stack``; or why there is none, in words."""
    top = read_top(repo)
    if top is None:
        return f"{repo} is not inside a git repository, so there is no ledger to read"
    store = stack.enter_context(ObjectStore.open(top))
    commit = find_ledger(store)
    if commit is None:
        return f"there is no branch {BRANCH} here: `git fetch origin {BRANCH}:{BRANCH}` gets it"
    folder = repo.resolve().relative_to(top.resolve()).as_posix()
    return LocalLedger(store.snapshot(commit), store, top, "" if folder == "." else folder)

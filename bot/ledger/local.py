"""The ledger as a local clone has it, for commands that only read it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bot.git import read_top
from bot.ledger.model import BRANCH
from bot.object_store import CommitSnapshot, ObjectStore


@dataclass(frozen=True)
class LocalLedger:
    """What the ledger holds, in the ``store`` of the repository whose top folder is ``top``."""

    snapshot: CommitSnapshot
    store: ObjectStore
    top: Path


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
    return LocalLedger(store.snapshot(commit), store, top)

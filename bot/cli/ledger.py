"""The ledger as a local clone has it, for commands that only read it."""

from __future__ import annotations

from typing import Final

from bot.ledger.model import BRANCH
from bot.object_store import ObjectStore

HOW_TO_GET_IT: Final = f"`git fetch origin {BRANCH}:{BRANCH}` gets it"


def find_ledger(store: ObjectStore) -> str | None:
    """The commit of the ledger: that of the remote-tracking branch, else of the local one; ``None`` without either."""
    names = (f"refs/remotes/origin/{BRANCH}", f"refs/heads/{BRANCH}")
    return next((found for name in names if (found := store.find(name)) is not None), None)

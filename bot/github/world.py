"""Where a run's commits come from: git's objects at what GitHub's branches point to now."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from bot.errors import InputError
from bot.github.events import Event, Flow
from bot.ledger.model import BRANCH, FOLDER, PullRequestRecord, StoredClassification
from bot.ledger.store import load_record
from bot.object_store import CommitSnapshot, ObjectStore

_NUMBER = re.compile(r"[1-9][0-9]{0,17}")


@dataclass(frozen=True, kw_only=True)
class Commits:
    """The commits that a run needs, as they stand now; each is in the object store."""

    base: str
    head: str | None
    ledger: str | None


@dataclass(frozen=True, kw_only=True)
class World:
    """The edges: git's objects, where they come from, and this run's page on GitHub."""

    store: ObjectStore
    url: str
    token: str | None
    run: str | None

    def fetch(self, event: Event, head: bool) -> Commits:
        """Fetch what ``event`` is about; the ``head`` only where hostile data is read."""
        refs = {"base": event.group_base or f"refs/heads/{event.default_branch}", "ledger": f"refs/heads/{BRANCH}"}
        if head and event.flow is Flow.GROUP and event.head is not None:
            refs["head"] = event.head
        elif head and event.pull_request is not None:
            refs["head"] = f"refs/pull/{event.pull_request}/head"
        found = self.store.fetch(self.url, refs, self.token, optional=("ledger",))
        return Commits(base=found["base"], head=found.get("head"), ledger=found.get("ledger"))


def record_of(ledger: CommitSnapshot | None, number: int | None) -> PullRequestRecord | None:
    """The record of pull request ``number``; a mangled one is as good as none: what it said is found out again."""
    try:
        return None if number is None else load_record(ledger, number)
    except InputError:
        return None


def known_of(
    ledger: CommitSnapshot | None, event: Event, record: PullRequestRecord | None
) -> Mapping[str, StoredClassification]:
    """The ledger's classifications: the pull request's own, and for a merge group those of all that are open."""
    if event.flow is not Flow.GROUP or ledger is None:
        return {} if record is None else record.classifications
    found: dict[str, StoredClassification] = {}
    for path in ledger.paths(FOLDER):
        name = PurePosixPath(path).stem
        if _NUMBER.fullmatch(name):
            other = record_of(ledger, int(name))
            found |= {} if other is None else other.classifications
    return found

"""The commits of a run at the tips of GitHub's branches, the ledger's records there, and pull requests of a clone."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import TypeVar

from incumbent.classifier.model import Backend, Classification
from incumbent.errors import UsageError
from incumbent.files.git import CommitSnapshot, ObjectStore
from incumbent.files.snapshot import Snapshot, WorkingTree
from incumbent.files.user_cache import digest_of_product
from incumbent.github.authority import Authority
from incumbent.github.border import configured
from incumbent.github.client import GitHubClient
from incumbent.github.decisions import CommentLookup
from incumbent.github.events import Event, Flow
from incumbent.github.governing import PLACES
from incumbent.github.head_changes import HeadFacts
from incumbent.github.managed_pull_request import (
    Branch,
    DesiredPullRequest,
    PlannedPullRequest,
    PullRequestState,
    plan_pull_request,
)
from incumbent.github.models import PullRequest, PushBranch
from incumbent.ledger.model import (
    ABILITIES,
    BRANCH,
    CANDIDATES,
    CORRECTIONS,
    FILES,
    FOLDER,
    FOLDER_RECORDS,
    INDEX,
    MODELS,
    NO_ABILITIES,
    NO_MODELS,
    RECONCILED,
    SUGGESTIONS,
    AbilityRecord,
    CandidateRecord,
    CorrectionRecord,
    FolderIndex,
    FolderRecord,
    ModelRecord,
    PullRequestRecord,
    Reconciled,
    Rejection,
    SuggestionRecord,
    folder_path,
    record_path,
)
from incumbent.ledger.store import (
    if_readable,
    load_classifications,
    load_folder,
    load_record,
    readable,
    refuse_later_ledger,
    shard_ids,
)
from incumbent.pipeline.repository_paths import path_problems
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import EVAL_SETS
from incumbent.taxonomy.config import LEDGER_FILES, REVIEWED_FILES
from incumbent.text.digests import digest

FOLDERS = PLACES
"""The parts of a platform repository that are read; the rest, however large, is not fetched."""

_OF_LEDGER = (*FILES, FOLDER)
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")


@dataclass(frozen=True, kw_only=True)
class Commits:
    """The commits that a run needs, as they are now; each is in the object store."""

    base: str
    head: str | None
    ledger: str | None


@dataclass(frozen=True, kw_only=True)
class World:
    """The outside world: git objects, their source, this run's page on GitHub, the product's files, the time.

    ``configured`` gives the classifier that a platform's config names, to a job that asks nothing; ``version`` is the
    digest of the product's code.
    ``has_site``: this run keeps the page of what the pull request would change.
    """

    store: ObjectStore
    url: str
    token: str | None
    run: str | None
    product: str | None = None
    has_site: bool = False
    clock: Callable[[], float] = time.time
    configured: Callable[[Platform], Backend] = configured
    version: str = field(default_factory=digest_of_product)

    def fetch(self, event: Event, head: bool, files: Sequence[str] = (), *, names: bool = False) -> Commits:
        """Fetch what ``event`` is about; the ``head`` only in the job that reads hostile data.

        The job that writes gets the ``names`` of its files alone, with git's ids.  ``files`` are further ones of the
        ledger that are about to be read.  Raises :class:`incumbent.errors.LaterFormatError` if a later version wrote
        it.
        """
        refs = {"base": event.group_base or f"refs/heads/{event.default_branch}", "ledger": f"refs/heads/{BRANCH}"}
        if (head or names) and event.flow is Flow.GROUP and event.head is not None:
            refs["head"] = event.head
        elif (head or names) and event.pull_request is not None:
            refs["head"] = f"refs/pull/{event.pull_request}/head"
        # Without hostile data, eval sets are fetched when they are read.
        read = FOLDERS if head else tuple(folder for folder in FOLDERS if folder != EVAL_SETS)
        # Of the ledger, only what does not grow with history; events and records of folders when they are read.
        contents = [local for local in refs if head or local != "head"]
        folders = {local: (*_OF_LEDGER, *files) if local == "ledger" else read for local in contents}
        # The ledger's history is not needed, and grows with each run.
        only = ("ledger",)
        found = self.store.fetch(self.url, refs, self.token, optional=only, folders=folders, ours=FOLDERS, ends=only)
        if "ledger" in found:
            self.store.prepare(found["ledger"], _OF_LEDGER)
            refuse_later_ledger(self.store.snapshot(found["ledger"]))
        return Commits(base=found["base"], head=found.get("head"), ledger=found.get("ledger"))

    def fetch_branches(self, names: Collection[str]) -> dict[str, str]:
        """Name → commit of the bot's branches; their contents are only compared, never read."""
        # A branch has the same local name in every fetch: one that has not moved is not fetched again.
        places = {f"branches/{digest(name)}": name for name in sorted(names)}
        refs = {local: f"refs/heads/{name}" for local, name in places.items()}
        found = self.store.fetch(self.url, refs, self.token, optional=tuple(refs)) if refs else {}
        return {places[local]: commit for local, commit in found.items()}


def read_head(store: ObjectStore, base: str, head: str) -> HeadFacts:
    """What git says of ``head`` beside ``base``, without any content of it."""
    changes = store.changes(base, head, contents=False)
    snapshot = store.snapshot(head)
    paths = frozenset(path for place in FOLDERS for path in snapshot.paths(place))
    faults = path_problems(snapshot, {change.path for change in changes})
    at = store.commit_time(head)
    return HeadFacts(base=base, head=head, at=at, changes=changes, paths=paths, faults=tuple(faults))


def branch_at(store: ObjectStore, base: str, commit: str) -> Branch:
    """The branch at ``commit``, beside the default branch at ``base``."""
    changes = store.changes(base, commit)
    gone = {change.before: None for change in changes if change.before is not None}
    return Branch(
        commit=commit,
        blobs=gone | {change.path: change.object_after for change in changes},
        has_base=store.is_ancestor(base, commit),
        behind=frozenset(change.path for change in store.changes(commit, base)),
    )


def pull_request_state(
    github: GitHubClient, default_branch: str, base: str, pulls: Sequence[PullRequest]
) -> PullRequestState:
    """What GitHub shows of ``pulls``, without their branches; ``base`` is the default branch's commit."""
    closed_by = cache(github.closed_by)
    return PullRequestState(
        login=github.login,
        default_branch=default_branch,
        base=base,
        open=tuple(pull for pull in pulls if not pull.closed),
        closed=tuple(pull for pull in pulls if pull.closed),
        branches={},
        closed_by=lambda pull: closed_by(pull.number),
        check=github.check,
        comments=github.comments,
        author_of=cache(github.author_of),
    )


def text_of(ledger: CommitSnapshot | None, path: str) -> str | None:
    """The text of a ledger file, if it exists and is not too large."""
    if ledger is None or not ledger.exists(path):
        return None
    ledger.prepare([path])
    content = if_readable(partial(ledger.read, path, LEDGER_FILES))
    return None if content is None else content.decode("utf-8", "replace")


def record_of(ledger: CommitSnapshot | None, number: int | None) -> PullRequestRecord | None:
    """The record of pull request ``number`` with its shards; a corrupt one is lost."""
    record = None if number is None else _bare_record(ledger, number)
    return None if record is None else _with_shards(ledger, record_path(record.pull_request), record)


def records_of(ledger: CommitSnapshot | None) -> dict[int, PullRequestRecord]:
    """The records of all pull requests, by number, without their shards."""
    found = {number: _bare_record(ledger, number) for number in recorded_numbers(ledger)}
    return {number: record for number, record in found.items() if record is not None}


def recorded_numbers(ledger: CommitSnapshot | None) -> list[int]:
    """The pull requests that the ledger has a record of, readable or not."""
    names = [PurePosixPath(path).stem for path in (() if ledger is None else ledger.paths(FOLDER))]
    return sorted(int(name) for name in names if _NUMBER.fullmatch(name))


def _bare_record(ledger: CommitSnapshot | None, number: int) -> PullRequestRecord | None:
    return if_readable(lambda: load_record(ledger, number))


_Sharded = TypeVar("_Sharded", PullRequestRecord, Reconciled, FolderRecord)


def _with_shards(ledger: CommitSnapshot | None, path: str, record: _Sharded) -> _Sharded:
    """``record`` at ``path`` with its classifications; one of the former format may have some inside."""
    found = {**record.classifications, **load_classifications(ledger, path)}
    return record.model_copy(update={"classifications": found})


def reconciled_of(ledger: CommitSnapshot | None) -> Reconciled | None:
    """How far the default branch was reconciled; without a readable record new queries need a person."""
    found = readable(ledger, RECONCILED, Reconciled)
    return None if found is None else _with_shards(ledger, RECONCILED, found)


def rejections_of(ledger: CommitSnapshot | None) -> tuple[Rejection, ...]:
    """The rejections from pull requests that have been merged."""
    reconciled = readable(ledger, RECONCILED, Reconciled)
    known = () if reconciled is None else reconciled.rejections
    given = [
        Rejection(pull_request=record.pull_request, decision=item)
        for record in records_of(ledger).values()
        for item in record.decisions
        if record.merged is not None and item.action == "reject"
    ]
    return (*known, *(item for item in given if item not in known))


def raised_of(ledger: CommitSnapshot | None) -> CandidateRecord:
    """The extension candidates that were raised; without a readable record they are raised again."""
    return readable(ledger, CANDIDATES, CandidateRecord) or CandidateRecord()


def suggestions_of(ledger: CommitSnapshot | None) -> SuggestionRecord:
    """What is known of suggestions, if that is readable."""
    return readable(ledger, SUGGESTIONS, SuggestionRecord) or SuggestionRecord()


def remembered_of(ledger: CommitSnapshot | None) -> dict[str, Classification]:
    """The classifications of what was merged: of queries that did not enter, and of entries that are to be scored anew.

    They were made by a job that reads merged files alone.
    """
    known = remembered_of_entries(ledger)
    found = folders_of(ledger, ()).values()
    return known | {key: item for each in found if each is not None for key, item in each.classifications.items()}


def remembered_of_entries(ledger: CommitSnapshot | None) -> dict[str, Classification]:
    """The classifications of entries that are to be scored anew, and what was known before."""
    reconciled = reconciled_of(ledger)
    return {} if reconciled is None else dict(reconciled.classifications)


def index_of(ledger: CommitSnapshot | None) -> FolderIndex | None:
    """The folders that need not be read; without a readable index everything is read."""
    return readable(ledger, INDEX, FolderIndex)


def folders_of(ledger: CommitSnapshot | None, but: Collection[str]) -> dict[str, FolderRecord | None]:
    """Path → the record of a folder, for all ``but`` these paths; ``None`` for a corrupt file."""
    paths = () if ledger is None else [path for path in ledger.paths(FOLDER_RECORDS) if path not in but]
    _prepare(ledger, paths)
    return {path: _folder_at(ledger, path) for path in paths}


def folder_record(ledger: CommitSnapshot | None, folder: str) -> FolderRecord | None:
    """The record of ``folder``; a corrupt file counts as missing: its queries are classified again."""
    prepare_folders(ledger, [folder])
    return _folder_at(ledger, folder_path(folder))


def prepare_folders(ledger: CommitSnapshot | None, folders: Collection[str]) -> None:
    """Fetch the records of ``folders`` in one request, before they are read.

    What reviews said of merged queries is fetched with them: it is compared with what is said of the merged files.
    """
    merged = [number for number, record in records_of(ledger).items() if record.merged is not None]
    _prepare(ledger, [*map(folder_path, folders), *map(record_path, merged)] if folders else [])


def _prepare(ledger: CommitSnapshot | None, paths: Collection[str]) -> None:
    """Fetch the files at ``paths`` and their shards in one request."""
    if ledger is not None:
        ledger.prepare([*paths, *shard_ids(ledger, paths)])


def _folder_at(ledger: CommitSnapshot | None, path: str) -> FolderRecord | None:
    found = if_readable(lambda: load_folder(ledger, path))
    return None if found is None else _with_shards(ledger, path, found)


def corrections_of(ledger: CommitSnapshot | None) -> CorrectionRecord:
    """Tags that curators corrected; without a readable record people are asked again."""
    return readable(ledger, CORRECTIONS, CorrectionRecord) or CorrectionRecord()


def abilities_of(ledger: CommitSnapshot | None, now: float) -> AbilityRecord:
    """The abilities of endpoints that are valid ``now``; without a readable record they are probed again."""
    return (readable(ledger, ABILITIES, AbilityRecord) or NO_ABILITIES).until(now)


def models_of(ledger: CommitSnapshot | None) -> ModelRecord:
    """The fitted models that count; without a readable record the job that fits makes it again."""
    return readable(ledger, MODELS, ModelRecord) or NO_MODELS


def comment_lookup(github: GitHubClient, curators: Collection[str]) -> CommentLookup:
    """The look-ups for corrections on GitHub, each made once: comments, and authors of pull requests."""

    @cache
    def author(number: int) -> str | None:
        found = github.find_pull_request(number)
        return None if found is None else found.author

    return CommentLookup(
        remark=cache(github.find_remark),
        author=author,
        authority=Authority(curators=tuple(curators), permission=github.permission),
        commit_authors=cache(github.commit_authors),
    )


def known_in_group(
    ledger: CommitSnapshot | None, is_part: Callable[[str], bool], version: str
) -> dict[str, Classification]:
    """The classifications of the pull requests in a merge group; ``is_part`` tells of a head whether it is in it.

    What two of them say differently is classified again: no pull request decides about another's queries.
    """
    found: dict[str, Classification] = {}
    disputed: set[str] = set()
    numbers = recorded_numbers(ledger)
    _prepare(ledger, [record_path(number) for number in numbers])
    for number in numbers:
        record = record_of(ledger, number)
        if record is not None and is_part(record.head):
            known = record.known_to(version)
            disputed.update(key for key, item in known.items() if found.setdefault(key, item) != item)
    return {key: item for key, item in found.items() if key not in disputed}


def offer_from_clone(
    desired: DesiredPullRequest,
    here: WorkingTree,
    rests_on: Mapping[str, str],
    github: GitHubClient,
    address: str,
    token: str,
) -> PlannedPullRequest:
    """Open ``desired`` from a person's clone with their own ``token``, unless it is open or was refused; returns which.

    ``rests_on`` maps the files and folders of ``here`` that it depends on to their names in messages.  Raises
    :class:`UsageError` if one of them differs from the default branch at ``address``, or if the branch has other
    contents.
    """
    base = github.default_branch()
    with (
        tempfile.TemporaryDirectory(prefix="incumbent-") as folder,
        ObjectStore.create(Path(folder) / "objects.git") as store,
    ):
        refs = {"base": f"refs/heads/{base}", "tip": f"refs/heads/{desired.branch}"}
        commits = store.fetch(address, refs, token, optional=("tip",))
        called = differing_place(here, store.snapshot(commits["base"]), rests_on)
        if called is not None:
            fix = "bring the clone up to date first, or merge what is missing there"
            raise UsageError(f"{called} is not that of {base} on GitHub: {fix}")
        pulls = github.pull_requests_of(desired.branch, base)
        state = pull_request_state(github, base, commits["base"], pulls)
        if "tip" in commits:
            state = replace(state, branches={desired.branch: branch_at(store, commits["base"], commits["tip"])})
        planned = plan_pull_request(desired, state)
        if planned.action == "wait":
            raise UsageError(f"the branch {desired.branch} contains something else: delete it, and run this again")
        for number, operation in planned.writes:
            tree = store.tree(commits["base"]) if isinstance(operation, PushBranch) else None
            github.apply(number, operation, tree)
    if planned.number is None:
        opened = [pull.number for pull in github.pull_requests_of(desired.branch, base) if not pull.closed]
        return replace(planned, number=max(opened, default=None))
    return planned


def differing_place(here: WorkingTree, there: Snapshot, places: Mapping[str, str]) -> str | None:
    """The name of the first of ``places``, files or folders, that differs between ``here`` and ``there``."""
    return next((called for place, called in places.items() if _differs(here, there, place)), None)


def _differs(here: WorkingTree, there: Snapshot, place: str) -> bool:
    paths = {place, *here.paths(place), *there.paths(place)}
    return any(_content(here, path) != _content(there, path) for path in sorted(paths))


def _content(snapshot: Snapshot, path: str) -> bytes | None:
    # A clone may have other line endings than the repository.
    return snapshot.read(path, REVIEWED_FILES).replace(b"\r\n", b"\n") if snapshot.exists(path) else None

"""Reading and writing the ledger's files as text, and opening the ledger of a clone; others move the branch."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from incumbent.classifier.model import Classification
from incumbent.errors import InputError, LaterFormatError, Problem, UsageError
from incumbent.files.documents import parse_json
from incumbent.files.git import CommitSnapshot, ObjectStore, blob_id
from incumbent.files.git.working_copy import read_commit, read_top
from incumbent.files.snapshot import Snapshot
from incumbent.files.validation import FileModel, newest_format, validate
from incumbent.ledger.classifications import Shard, classifications_in, shard_folder, shards_of
from incumbent.ledger.model import (
    BRANCH,
    FORMAT,
    FolderRecord,
    LedgerFormat,
    PullRequestRecord,
    folder_path,
    record_path,
)
from incumbent.taxonomy.config import LEDGER_FILES
from incumbent.taxonomy.history import History
from incumbent.taxonomy.model import Taxonomy

Kind = TypeVar("Kind", bound=FileModel)
Found = TypeVar("Found")
LOG: Final = logging.getLogger(__name__)
"""Tells of files that are lost."""

README = """\
# Incumbent's ledger

Facts and decisions that Incumbent keeps between its runs; the format is documented in docs/ledger.md of the product.
A decision counts only while the comment that it cites is there, by the same person, and unchanged. People who may
push to this branch could change the rest: docs/ledger.md describes the consequences.
Deleting this branch loses no decision that was applied already; open pull requests are classified again.
"""


def refuse_later_ledger(snapshot: Snapshot) -> None:
    """Raise :class:`LaterFormatError` if a later version wrote the ledger in ``snapshot``.

    Raises :class:`InputError` if its format cannot be read: without it, nothing is known of any other file.
    """
    try:
        load(snapshot, FORMAT, LedgerFormat)
    except InputError as error:
        fix = "" if isinstance(error, LaterFormatError) else f"; or restore {FORMAT} from the branch's history"
        raise type(error)(
            replace(problem, file=f"{BRANCH}:{FORMAT}", fix=f"{problem.given_fix}{fix}") for problem in error.problems
        ) from None


def format_file(ledger: Snapshot | None) -> dict[str, str]:
    """The file of the newest format, to be written with others to the ``ledger``; none where it is there."""
    newest = newest_format(LedgerFormat)
    known = load(ledger, FORMAT, LedgerFormat)
    return {FORMAT: json.dumps(newest) + "\n"} if known is None or known.format < newest["format"] else {}


def load(snapshot: Snapshot | None, path: str, model: type[Kind]) -> Kind | None:
    """The file at ``path`` of the ledger, if it exists; raises :class:`InputError` if it is corrupt."""
    if snapshot is None or not snapshot.exists(path):
        return None
    return validate(model, parse_json(snapshot.read(path, LEDGER_FILES), snapshot.name(path), LEDGER_FILES))


def if_readable(read: Callable[[], Found]) -> Found | None:
    """What ``read`` finds in a file of the ledger; ``None``, and a warning, if it raises :class:`InputError`.

    Such a file is lost, and no other with it.
    """
    try:
        return read()
    except InputError as error:
        first = error.problems[0]
        LOG.warning("the ledger lost %s: %s", first.file, first.message)
        return None


def readable(snapshot: Snapshot | None, path: str, model: type[Kind]) -> Kind | None:
    """The file at ``path`` of the ledger; a corrupt one is lost."""
    return if_readable(lambda: load(snapshot, path, model))


def load_record(snapshot: Snapshot | None, number: int) -> PullRequestRecord | None:
    """The record of pull request ``number``, if there is one, without its shards.

    Raises :class:`InputError` if the file is corrupt, or is that of another pull request.
    """
    path = record_path(number)
    record = load(snapshot, path, PullRequestRecord)
    if record is not None and record.pull_request != number:
        raise InputError([Problem(path, None, f"it is the record of {record.pull_request}", "take the file out")])
    return record


def load_folder(snapshot: Snapshot | None, path: str) -> FolderRecord | None:
    """What is known of a folder, without its shards.

    Raises :class:`InputError` if the file is corrupt, or is another folder's.
    """
    found = load(snapshot, path, FolderRecord)
    if found is not None and folder_path(found.folder) != path:
        raise InputError([Problem(path, None, f"it is of {found.folder}", "take the file out")])
    return found


def shard_ids(snapshot: CommitSnapshot | None, paths: Collection[str]) -> dict[str, str]:
    """Path → git's id of the shards of the files at ``paths``."""
    found = [] if snapshot is None else [snapshot.ids(shard_folder(path)) for path in paths]
    return {path: id for each in found for path, id in each.items()}


def load_shard(snapshot: Snapshot, path: str) -> dict[str, Classification]:
    """The classifications in the shard at ``path``; raises :class:`InputError` if it is corrupt."""
    shard = load(snapshot, path, Shard)
    return {} if shard is None else classifications_in(shard, snapshot.name(path))


def load_classifications(snapshot: CommitSnapshot | None, path: str) -> dict[str, Classification]:
    """The classifications of the file at ``path``, by key; those of a corrupt shard are lost, and of no other."""
    found: dict[str, Classification] = {}
    if snapshot is not None:
        shards = snapshot.paths(shard_folder(path))
        snapshot.prepare(shards)
        for shard in shards:
            found |= if_readable(partial(load_shard, snapshot, shard)) or {}
    return found


def shard_changes(
    path: str, classifications: Mapping[str, Classification], present: Mapping[str, str]
) -> dict[str, str | None]:
    """The shards to write so that the file at ``path`` has ``classifications``; ``None`` for those to delete.

    ``present`` are the ids of shards that are there, of this and of other files.
    """
    wanted = shards_of(path, classifications)
    folder = f"{shard_folder(path)}/"
    gone = {shard for shard in present if shard.startswith(folder) and shard not in wanted}
    changed = {shard: text for shard, text in wanted.items() if present.get(shard) != blob_id(text)}
    return {**changed, **dict.fromkeys(sorted(gone))}


def record_text(record: FileModel) -> str:
    """``record`` as its file, without its shards; equal records give equal bytes."""
    return json.dumps(record.model_dump(mode="json"), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


@dataclass(frozen=True)
class LocalLedger:
    """The files of the ledger at its ``commit``, in the ``store`` of the repository whose top folder is ``top``.

    The platform is in its subfolder ``folder`` (the empty string: in the top folder itself).
    """

    snapshot: CommitSnapshot
    commit: str
    store: ObjectStore
    top: Path
    folder: str

    def open_commit(self, commit: str) -> CommitSnapshot | None:
        """The platform at ``commit``; ``None`` if the clone does not have it."""
        return self.store.snapshot(commit, self.folder) if self.store.exists(commit) else None

    def previous_taxonomies(self) -> tuple[Taxonomy, ...]:
        """The taxonomies in the history of the checkout, oldest first; none if they cannot be determined."""
        try:
            return History(self.store, read_commit(self.top, "HEAD"), self.folder).all()
        except (UsageError, InputError):
            return ()


def find_ledger(store: ObjectStore) -> str | None:
    """The commit of the ledger: that of the remote-tracking branch, or of the local one if it goes on from there.

    ``None`` without either.  Raises as :func:`refuse_later_ledger`.
    """
    remote, local = (store.find(f"refs/{place}/{BRANCH}") for place in ("remotes/origin", "heads"))
    is_local = remote is None or (local is not None and store.is_ancestor(remote, local))
    found = local if is_local else remote
    if found is not None:
        refuse_later_ledger(store.snapshot(found))
    return found


def open_ledger(repo: Path, stack: ExitStack) -> LocalLedger | str:
    """The ledger in the clone that contains ``repo``, open as long as ``stack``; or why there is none, in words."""
    top = read_top(repo)
    if top is None:
        return f"{repo} is not inside a git repository, so there is no ledger to read"
    store = stack.enter_context(ObjectStore.open(top))
    commit = find_ledger(store)
    if commit is None:
        return f"no ledger branch found; `git fetch origin {BRANCH}:{BRANCH}` fetches it"
    folder = repo.resolve().relative_to(top.resolve()).as_posix()
    return LocalLedger(store.snapshot(commit), commit, store, top, "" if folder == "." else folder)

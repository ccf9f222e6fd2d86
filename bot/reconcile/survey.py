"""The first job where the default branch has moved: what its eval sets hold, and which merge brought what."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from bot.classifier.model import Backend, Progress
from bot.classifier.remembering import halt
from bot.classifier.usage import total
from bot.curator.entry import Source
from bot.digests import digest
from bot.errors import InputError, Problem
from bot.extension.model import Core
from bot.github.analyse import classify_all, moved_from
from bot.github.analysis import IdentityFacts, ProblemFacts, StoppedFacts, UsageFacts
from bot.github.known import under
from bot.github.renewing import renew_entries
from bot.ledger.model import StoredClassification
from bot.object_store import Change, CommitSnapshot, ObjectStore, is_id
from bot.pipeline import Platform
from bot.reconcile.candidate_facts import CandidateFacts
from bot.reconcile.extending import candidates_of
from bot.reconcile.inventory import Inventory, MergeFacts
from bot.renewal import questions_since, tasks_of
from bot.settling import settle
from bot.submission import (
    EVAL_SETS,
    Package,
    called_by_agent,
    read_package,
    refuse_shared_ids,
    submission_folders,
)
from bot.taxonomy.history import History


def survey(
    repository: str,
    tip: str,
    since: str | None,
    platform: Platform,
    store: ObjectStore,
    known: Mapping[str, StoredClassification],
    moves: Mapping[str, Sequence[str]],
    raised: Collection[Core] | None,
    backend: Backend,
    progress: Progress,
) -> Inventory:
    """The facts of the commit ``tip`` of the default branch, and of what was merged after ``since``.

    ``moves`` are renames of folders before that which no entry has followed yet; ``known`` are the ledger's
    classifications by key: what is among them is not classified again.  ``raised`` are the cores of extension
    candidates that are known; ``None``: none are looked for.
    """
    merges = store.first_parents(since, tip) if since is not None else ()
    if since is not None and not merges and since != tip:
        # The line was left, as by a merge the wrong way round or by force: nobody saw what has come since.
        since, merges = None, ()
    parents = dict(zip(merges, (since or "", *merges), strict=False))
    changes = {merge: store.changes(parents[merge], merge) for merge in merges}
    entries = [*platform.regression_set.entries.values(), *platform.regression_set.waiting.values()]
    former = History(store, tip).since
    known = under(known, questions_since({entry.classified.taxonomy for entry in entries}, former))
    problems: list[Problem] = []
    unread: list[str] = []
    snapshot = store.snapshot(tip)
    new = [item for merge in merges for item in changes[merge]]
    packages = _packages(platform, snapshot, new, moves, problems, unread)
    packages = [called_by_agent(package) for package in refuse_shared_ids(packages, platform.regression_set)]
    # What has to leave the line is told of in the same run, which cannot ask any more.
    found = classify_all(platform, packages, known, backend, progress, line=True)
    # Where admissions are made by hand nobody would write what was found: `incumbent reclassify` is theirs as well.
    renewing = () if platform.config.admissions == "by-hand" else entries
    tasks = tasks_of(renewing, platform.taxonomy, backend.identity, former, platform.corrections)
    asked = backend if found.stopped is None else halt(backend, found.stopped)
    renewal = renew_entries(tasks, platform, snapshot, known, asked, progress)
    stopped = found.stopped or renewal.stopped
    is_sought = raised is not None and stopped is None
    candidates, naming = candidates_of(found.submissions, entries, platform, raised or ()) if is_sought else ((), None)
    return Inventory(
        repository=repository,
        base=tip,
        at=store.commit_time(tip),
        since=since,
        identity=IdentityFacts.of(backend.identity),
        merges=tuple(
            MergeFacts(
                commit=merge,
                at=store.commit_time(merge),
                brought=_brought(platform, store.snapshot(merge), changes[merge]),
            )
            for merge in merges
            if any(change.path.startswith(f"{EVAL_SETS}/") for change in changes[merge])
        ),
        submissions=found.submissions,
        departed=_departed(platform, snapshot, packages, unread, store),
        unread=tuple(unread),
        problems=tuple(ProblemFacts.of(problem) for problem in InputError(problems).problems),
        reused=found.reused,
        classified=found.classified + renewal.classified,
        stopped=StoppedFacts.of(stopped),
        usage=UsageFacts.of(total([backend.usage, naming])),
        renewals=renewal.facts,
        candidates=tuple(map(CandidateFacts.of, candidates)),
    )


def _packages(
    platform: Platform,
    snapshot: CommitSnapshot,
    changes: Sequence[Change],
    moves: Mapping[str, Sequence[str]],
    problems: list[Problem],
    unread: list[str],
) -> list[Package]:
    packages = []
    folders = submission_folders(snapshot)
    for folder in folders:
        customer, agent = folder.split("/")[1:]
        try:
            package = read_package(snapshot.within(folder), customer, agent, folder, platform.config.limits)
        except InputError as error:
            problems.extend(error.problems)
            unread.append(folder)
            continue
        moved = moved_from(folder, set(folders), changes)
        if moved is None and folder in moves:
            moved = (moves[folder][0], moves[folder][1])
        packages.append(replace(package, submission=replace(package.submission, moved_from=moved)))
    return packages


def _brought(platform: Platform, snapshot: CommitSnapshot, changes: Sequence[Change]) -> dict[str, str]:
    """Entry id → digest of the text, of all queries in the folders that a merge touched; faults are told elsewhere."""
    touched = {"/".join(change.path.split("/")[:3]) for change in changes}
    found: dict[str, str] = {}
    for folder in sorted(touched & set(submission_folders(snapshot))):
        customer, agent = folder.split("/")[1:]
        try:
            package = read_package(snapshot.within(folder), customer, agent, folder, platform.config.limits)
        except InputError:
            continue
        submission = package.submission
        found |= {submission.entry_id(query.id): digest(query.turns) for query in submission.queries}
    return found


def _departed(
    platform: Platform,
    snapshot: CommitSnapshot,
    packages: Sequence[Package],
    unread: Sequence[str],
    store: ObjectStore,
) -> dict[str, Literal["source-deleted", "customer-left"]]:
    """The entries, in R or in line, whose query has gone from the eval sets.

    Of what cannot be read, or never was here, nobody knows.
    """
    known = platform.regression_set
    found = settle([package.submission for package in packages], known)
    present = {item.id for item in (*found.settled.values(), *found.edited.values())}
    customers = {folder.split("/")[1] for folder in submission_folders(snapshot)}
    departed: dict[str, Literal["source-deleted", "customer-left"]] = {}
    for id, entry in sorted({**known.waiting, **known.entries}.items()):
        source = entry.source
        if id in present or source is None or f"{EVAL_SETS}/{source.customer}/{source.agent}" in unread:
            continue
        if _was_here(source, store):
            departed[id] = "source-deleted" if source.customer in customers else "customer-left"
    return departed


def _was_here(source: Source, store: ObjectStore) -> bool:
    """Whether the eval set was in the repository when the entry was admitted.

    An imported entry had none there that a customer could empty, wherever the file lies that it was read from.
    """
    if source.imported is not None:
        return False
    if source.commit is None or not is_id(source.commit) or not store.exists(source.commit):
        return False
    return store.snapshot(source.commit).exists(source.eval_set)

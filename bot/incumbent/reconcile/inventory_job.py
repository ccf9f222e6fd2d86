"""The first job where the default branch has moved: what its eval sets hold, and which merge brought what."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from incumbent.classifier.caching_backend import conditions_of, halt
from incumbent.classifier.model import Backend, Classification, Progress
from incumbent.classifier.usage import Usage, total
from incumbent.curator.entry import Entry, Source
from incumbent.errors import InputError, Problem
from incumbent.extension.model import Core, ExtensionCandidate, Observed
from incumbent.files.git import ChangedFile, CommitSnapshot, ObjectStore, is_id
from incumbent.files.user_cache import digest_of_product
from incumbent.github.analyse_job import classify_all
from incumbent.github.facts import (
    FORMAT,
    ClassifierWork,
    StoppedFacts,
    SubmissionFacts,
    classified_of,
    whole,
    without_secrets,
)
from incumbent.github.head_changes import moved_from
from incumbent.github.reclassified_entries import renew_entries
from incumbent.ledger.keys import under
from incumbent.ledger.model import (
    CorrectionRecord,
    FolderIndex,
    FolderRecord,
    Reconciled,
    ReconciledFolder,
)
from incumbent.ledger.store import record_text
from incumbent.pipeline.matching import settle
from incumbent.pipeline.reclassify import questions_since, tasks_of
from incumbent.pipeline.repository_paths import refused_folders
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import (
    EVAL_SETS,
    Package,
    agent_folder,
    read_package,
    refuse_shared_ids,
    submission_folders,
    with_agent_in_ids,
)
from incumbent.reconcile.inventory import Inventory, MergeFacts
from incumbent.reconcile.reconciled_state import folder_of, folders_to_read, is_whole, unchanged_folders
from incumbent.taxonomy.history import History
from incumbent.text.digests import digest


@dataclass(frozen=True, kw_only=True)
class Past:
    """What the ledger says of the default branch.

    ``known`` are classifications by key, ``folder`` tells what is known of a folder's queries: what is among these is
    not classified again.  None of it is from a pull request, whose job reads what is not merged.  ``prepare``
    fetches what is known of many folders at once.  ``reconciled`` is what the last run left, ``index`` the folders that
    need not be read, but for those that open repacks have ``looked_back`` on; ``corrections`` is what curators said of
    texts, whether or not it stands.
    """

    known: Mapping[str, Classification]
    folder: Callable[[str], FolderRecord | None]
    prepare: Callable[[Collection[str]], None]
    reconciled: Reconciled | None
    index: FolderIndex | None
    corrections: CorrectionRecord
    looked_back: frozenset[str] = frozenset()

    def known_in(self, folders: Collection[str]) -> dict[str, Classification]:
        """The classifications of queries in ``folders``, by key."""
        self.prepare(folders)
        found = map(self.folder, folders)
        return {key: item for each in found if each is not None for key, item in each.classifications.items()}


def survey(
    repository: str,
    tip: str,
    past: Past,
    platform: Platform,
    store: ObjectStore,
    backend: Backend,
    progress: Progress,
    *,
    all_folders: bool = False,
    raised: Collection[Core] | None = None,
) -> Inventory:
    """The facts of the commit ``tip`` of the default branch, and of what was merged since it was reconciled last.

    ``all_folders``: none is passed over.  ``raised`` are the cores of extension candidates that are known; ``None``:
    none are looked for.
    """
    reconciled = past.reconciled
    since = reconciled.commit if reconciled is not None and store.exists(reconciled.commit) else None
    moves = {} if reconciled is None else reconciled.moves
    merges = store.first_parents(since, tip) if since is not None else ()
    if since is not None and not merges and since != tip:
        # The line was left, as by a merge the wrong way round or by force: nobody saw what has come since.
        since, merges = None, ()
    parents = dict(zip(merges, (since or "", *merges), strict=False))
    changes = {merge: store.changes(parents[merge], merge) for merge in merges}
    entries = [*platform.regression_set.entries.values(), *platform.regression_set.waiting.values()]
    previous = History(store, tip).since
    problems: list[Problem] = [*platform.left_out]
    unread: list[str] = []
    snapshot = store.snapshot(tip)
    new = [item for merge in merges for item in changes[merge]]
    # Where admissions are made by hand, no ledger is kept of folders.
    by_hand = platform.config.admissions == "by-hand"
    tops = store.trees(tip, "config", "taxonomy", EVAL_SETS, below=False)
    conditions = None if by_hand else _conditions(tops, past.corrections, backend)
    if past.index is not None and is_whole(past.index, tops.get(EVAL_SETS)):
        # Listing as many folders as there are customers takes longer than all else.
        trees = {folder: item.tree for folder, item in past.index.folders.items()}
        folders = tuple(sorted(trees, key=lambda folder: folder.split("/")))
    else:
        trees, folders = store.trees(tip, EVAL_SETS), submission_folders(snapshot)
    unchanged: Mapping[str, ReconciledFolder] = {}
    if since is not None and conditions is not None and not all_folders and not (reconciled and reconciled.left):
        touched = {_folder(path) for change in new for path in (change.path, change.before or "")}
        touched |= past.looked_back
        known = platform.regression_set
        if past.index is not None:
            past.prepare([folder for folder in folders if folder not in past.index.folders])
        unchanged = unchanged_folders(past.index, conditions, trees, touched, past.folder, known)
    read = tuple(folder for folder in folders if folder not in unchanged)
    gone = () if past.index is None else past.index.folders.keys() - folders
    versions = {entry.classified.taxonomy for entry in entries} - {platform.taxonomy.version}
    questions = questions_since(versions, previous)
    remembered = under({**past.known, **past.known_in((*read, *sorted(gone)))}, questions)
    store.prepare(tip, read if unchanged else (EVAL_SETS,) if read else ())
    packages = _packages(platform, snapshot, read, folders, new, moves, problems, unread)
    named = [with_agent_in_ids(package) for package in refuse_shared_ids(packages, platform.regression_set)]
    # What has to leave the line is told of in the same run, which cannot ask any more.
    found = classify_all(platform, named, remembered, backend, progress, line=True)
    more = folders_to_read(unchanged, found.submissions)
    if more:
        unchanged = {folder: item for folder, item in unchanged.items() if folder not in more}
        remembered |= under(past.known_in(more), questions)
        store.prepare(tip, more)
        first = len(packages)
        packages += _packages(platform, snapshot, more, folders, new, moves, problems, unread)
        named = [with_agent_in_ids(package) for package in refuse_shared_ids(packages, platform.regression_set)]
        asked = backend if found.error is None else halt(backend, found.error)
        found = found.joined(classify_all(platform, named[first:], remembered, asked, progress, line=True))
    # Where admissions are made by hand nobody would write what was found: `incumbent reclassify` is theirs as well.
    renewing = () if by_hand else entries
    tasks = tasks_of(renewing, platform.taxonomy, backend.identity, previous, platform.corrections)
    asked = backend if found.error is None else halt(backend, found.error)
    renewal = renew_entries(tasks, platform, snapshot, remembered, asked, progress)
    stopped = found.error or renewal.stopped
    candidates: tuple[ExtensionCandidate, ...] = ()
    naming: Usage | None = None
    if raised is not None and stopped is None:
        candidates, naming = _candidates(found.submissions, entries, platform, raised)
    return Inventory(
        format=FORMAT,
        repository=repository,
        base=tip,
        at=store.commit_time(tip),
        since=since,
        identity=backend.identity,
        merges=tuple(
            MergeFacts(
                commit=merge,
                at=store.commit_time(merge),
                brought=_brought(platform, store, merge, changes[merge]),
            )
            for merge in merges
            if any(change.path.startswith(f"{EVAL_SETS}/") for change in changes[merge])
        ),
        submissions=found.submissions,
        unchanged=dict(unchanged),
        trees={
            folder: trees[folder] for folder in (facts.about.folder for facts in found.submissions) if folder in trees
        },
        conditions=conditions,
        departed=_departed(platform, folders, named, {*unread, *unchanged}, store),
        unread=tuple(unread),
        problems=tuple(without_secrets(problem) for problem in InputError(problems).problems),
        work=ClassifierWork(
            reused=found.reused,
            classified=found.classified + renewal.classified,
            stopped=StoppedFacts.of(stopped),
            usage=total([backend.usage, naming]),
        ),
        renewals=renewal.facts,
        candidates=candidates,
    )


def _conditions(trees: Mapping[str, str], corrections: CorrectionRecord, backend: Backend) -> str:
    """What verdicts rest on besides R and the eval sets: while it stays, what did not change is not read again."""
    reviewed = [trees.get("config"), trees.get("taxonomy")]
    identity = asdict(backend.identity)
    return digest([reviewed, record_text(corrections), identity, conditions_of(backend), digest_of_product()])


def _folder(path: str) -> str:
    """The agent's folder that ``path`` lies in."""
    return "/".join(path.split("/")[:3])


def _packages(
    platform: Platform,
    snapshot: CommitSnapshot,
    read: Sequence[str],
    folders: Collection[str],
    changes: Sequence[ChangedFile],
    moves: Mapping[str, Sequence[str]],
    problems: list[Problem],
    unread: list[str],
) -> list[Package]:
    packages = []
    refused = refused_folders(read, folders)
    for folder in read:
        if folder in refused:
            problems.append(refused[folder])
            unread.append(whole(folder))
            continue
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


def _brought(platform: Platform, store: ObjectStore, merge: str, changes: Sequence[ChangedFile]) -> dict[str, str]:
    """Entry id → digest of the text, of all queries in the folders that a merge touched; faults are told elsewhere."""
    touched = {_folder(change.path) for change in changes}
    found: dict[str, str] = {}
    snapshot = store.snapshot(merge)
    folders = sorted(touched.intersection(submission_folders(snapshot)))
    store.prepare(merge, folders)
    for folder in folders:
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
    folders: Sequence[str],
    packages: Sequence[Package],
    unread: Collection[str],
    store: ObjectStore,
) -> dict[str, Literal["source-deleted", "customer-left"]]:
    """The entries, in R or in line, whose query has gone from the eval sets.

    ``folders`` are those of the eval sets.  A folder that was not read, was read with faults, or never was here
    tells nothing.
    """
    known = platform.regression_set
    faulty = [package.submission for package in packages if package.submission.problems]
    unknown = {*unread, *(item.folder for item in faulty)}
    unknown |= {agent_folder(*item.moved_from) for item in faulty if item.moved_from is not None}
    found = settle([package.submission for package in packages], known)
    present = {item.id for item in (*found.settled.values(), *found.edited.values())}
    customers = {folder.split("/")[1] for folder in folders}
    departed: dict[str, Literal["source-deleted", "customer-left"]] = {}
    for id, entry in sorted({**known.waiting, **known.entries}.items()):
        source = entry.source
        if id in present or source is None or folder_of(source) in unknown:
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


def _candidates(
    submissions: Sequence[SubmissionFacts], entries: Sequence[Entry], platform: Platform, raised: Collection[Core]
) -> tuple[tuple[ExtensionCandidate, ...], Usage | None]:
    """The candidates among the queries of ``submissions`` and of ``entries``, without those that were ``raised``.

    The second value is what a language model has cost that named them.
    """
    # Imported here: one run a week needs them, and they are slow to load.
    from incumbent.extension.candidates import find_candidates
    from incumbent.extension.naming import named
    from incumbent.extension.signals import observe_all, observe_entry

    observed: dict[str, Observed] = {}
    taxonomy, settings = platform.taxonomy, platform.config.extension
    for entry in entries:
        item = observe_entry(entry, taxonomy)
        observed[item.id] = item
    for facts in submissions:
        found = classified_of(facts)
        for item in observe_all(found.submission, found.result.classifications, taxonomy, settings):
            observed[item.id] = item
    personal = platform.config.personal_data
    candidates = find_candidates(tuple(observed.values()), taxonomy, settings, raised, personal.shown)
    return named(candidates, taxonomy, platform.config.classifier, os.environ, names=personal.names)

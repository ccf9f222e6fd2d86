"""What the ledger remembers of the default branch: how far it was reconciled, and what need not be read again (pure).

While R grows a query that earned no slot earns none either, but for one way: the first entry that carries a capability
of it may be one that it beats (semantics, section 4: wins).  So folders are passed over until such an entry comes, R
loses something, an entry changes, or the rules or the classifier do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from incumbent.curator.entry import Entry, Source, Tombstone
from incumbent.curator.store import RegressionSet
from incumbent.files.git import is_id, tree_id
from incumbent.github.facts import QueryFacts, SubmissionFacts
from incumbent.ledger.model import (
    CorrectionRecord,
    FolderIndex,
    FolderRecord,
    LeftQuery,
    Reconciled,
    ReconciledFolder,
    Rejection,
    folder_path,
)
from incumbent.pipeline.matching import in_line, settle
from incumbent.pipeline.review import Platform, unsettled
from incumbent.pipeline.submission import EVAL_SETS, agent_folder
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.merged_submissions import MergedSubmission
from incumbent.reconcile.planned_set import follow_renames
from incumbent.text.compare import text_key
from incumbent.text.digests import digest


def _moves(inventory: Inventory, platform: Platform) -> dict[str, tuple[str, ...]]:
    """The folders that were renamed, as long as entries are said to come from where they were."""
    known = platform.regression_set
    places = {entry.source.place[:2] for entry in (*known.entries.values(), *known.waiting.values()) if entry.source}
    return {
        facts.about.folder: facts.about.moved_from
        for facts in inventory.submissions
        if facts.about.moved_from is not None and facts.about.moved_from in places
    }


def waiting(inventory: Inventory, regression_set: RegressionSet) -> dict[str, LeftQuery]:
    """The queries that wait for a slot in ``regression_set`` and may leave the line again, with what brought them."""
    found = {}
    for facts in inventory.submissions:
        submission = facts.submission
        for name, entry in in_line(settle([submission], regression_set), regression_set).items():
            source = entry.source
            if source is not None and source.pull_request and is_id(source.commit or ""):
                found[submission.entry_id(name)] = LeftQuery(
                    text=digest(list(entry.turns)),
                    pull_request=source.pull_request,
                    commit=source.commit or "",
                    at=entry.admitted.at,
                    waits=True,
                )
    return found


def remember(
    inventory: Inventory,
    cases: Sequence[MergedSubmission],
    found: Mapping[str, LeftQuery],
    rejected: Sequence[Rejection],
    platform: Platform,
    before: Reconciled | None,
    fresh: bool,
) -> Reconciled:
    """What is to be remembered once the ``cases`` are told of.

    What of them did not enter was ``found``, and what waited for a slot; ``rejected`` are the words of curators that
    outlast the records.

    Where no eval set was merged since, the commit that was reconciled last stays: our own commits move the branch too.
    """
    spoken = {entry for case in cases for entry in case.texts}
    kept = {} if before is None else {entry: item for entry, item in before.left.items() if entry not in spoken}
    left = {**kept, **found, **waiting(inventory, platform.regression_set)}
    known_rejections = () if before is None else before.rejections
    all_rejections = (*known_rejections, *(item for item in rejected if item not in known_rejections))
    # Findings on what was not asked about this time are worth something once it is.
    known = dict(before.classifications) if before is not None and inventory.incomplete is not None else {}
    present: set[tuple[str, str]] = set()
    contents: set[str] = set()
    for facts in inventory.submissions:
        own = facts.contents
        for query in _outside(facts, platform):
            contents.add(own[query.query.id])
            present.add((facts.entry_of(query), digest(list(query.query.turns))))
    for item in inventory.unchanged.values():
        contents.update(item.rejected)
    entries = {**platform.regression_set.waiting, **platform.regression_set.entries}
    # As long as it is not written, since some are missing or people have not merged it, nobody is asked twice.
    known |= {
        item.key: item.classification
        for item in inventory.renewals
        if item.key and item.classification and item.entry in entries and item.is_of(entries[item.entry])
    }
    base = Reconciled(commit=inventory.base) if before is None else before
    return base.model_copy(
        update={
            "commit": inventory.base if inventory.since is None or fresh else base.commit,
            "classifications": known,
            "rejections": tuple(item for item in all_rejections if item.decision.content in contents),
            "moves": _moves(inventory, platform),
            "left": {entry: item for entry, item in sorted(left.items()) if (entry, item.text) in present},
        }
    )


def remember_folders(
    inventory: Inventory,
    platform: Platform,
    left: Mapping[str, LeftQuery],
    before: Mapping[str, FolderRecord | None],
) -> dict[str, FolderRecord | None]:
    """What is known of queries outside the set, by path on the ledger; ``None`` for what is to go.

    ``left`` are those of folders that were read which were merged and did not enter, by entry.  ``before`` is
    what is there of folders that were read, and of those that are gone; ``None`` for what was mangled.
    """
    partial = inventory.incomplete is not None
    found: dict[str, FolderRecord | None] = dict.fromkeys(before)
    for facts in inventory.submissions:
        path = folder_path(facts.about.folder)
        previous = before.get(path)
        known = dict(previous.classifications) if previous is not None and partial else {}
        known |= {
            query.key: query.classification
            for query in _outside(facts, platform)
            if query.key is not None and query.classification is not None
        }
        ids = sorted(left.keys() & {facts.entry_of(query) for query in facts.queries})
        own = {entry: left[entry] for entry in ids}
        base = FolderRecord(folder=facts.about.folder) if previous is None else previous
        found[path] = base.model_copy(update={"classifications": known, "left": own}) if known or own else None
    return found


def _outside(facts: SubmissionFacts, platform: Platform) -> list[QueryFacts]:
    """The queries that are not in the set, or may leave its line, and were not when they were read."""
    outside = {query.id for query in unsettled(platform, facts.submission, line=True)}
    return [query for query in facts.queries if query.query.id in outside and query.key is not None]


_DEPTH: Final = 2
"""Slashes in an agent's folder."""


def folder_of(source: Source) -> str:
    """The folder of the agent that an entry came from."""
    return agent_folder(source.customer, source.agent)


def digests_of(known: RegressionSet) -> dict[str, str]:
    """Id → digest of all on record, as far as verdicts on others or what settles a query rest on it."""
    parts = (("evicted", known.tombstones), ("line", known.waiting), ("entry", known.entries))
    return {id: digest([part, *_facts(item)]) for part, items in parts for id, item in items.items()}


def _facts(item: Entry | Tombstone) -> tuple[str | None, str]:
    entry = item.entry if isinstance(item, Tombstone) else item
    folder = None if entry.source is None else folder_of(entry.source)
    # The time is corrected once a swap or a repack is confirmed, and moves no more than any newcomer does.
    return folder, entry.model_dump_json(exclude={"pin": True, "quarantined": True, "source": True, "admitted": {"at"}})


def is_whole(index: FolderIndex, tree: str | None) -> bool:
    """Whether the folders of ``index``, as they were, are all that is in the ``tree`` of the eval sets (git's id)."""
    above = f"{EVAL_SETS}/"
    if not all(folder.startswith(above) and folder.count("/") == _DEPTH for folder in index.folders):
        return False
    return tree_id({folder.removeprefix(above): item.tree for folder, item in index.folders.items()}) == tree


def unchanged_folders(
    index: FolderIndex | None,
    conditions: str,
    trees: Mapping[str, str],
    touched: Collection[str],
    record: Callable[[str], FolderRecord | None],
    known: RegressionSet,
) -> dict[str, ReconciledFolder]:
    """The folders of ``index`` that need not be read under these ``conditions``.

    ``trees`` are git's ids of the folders by path, ``touched`` the folders that were merged into since the last run;
    ``record`` tells what the ledger remembers of a folder, ``known`` is R.
    """
    if index is None or index.conditions != conditions:
        return {}
    present = digests_of(known)
    if any(present.get(id) != item for id, item in index.entries.items()):
        return {}
    new = {id: known.on_record[id] for id in present.keys() - index.entries.keys()}
    sources = [item.entry.source if isinstance(item, Tombstone) else item.source for item in new.values()]
    stirred = {*touched, *(folder_of(source) for source in sources if source is not None)}
    carried = _carried(known, new)
    found = {
        folder: item
        for folder, item in sorted(index.folders.items())
        if trees.get(folder) == item.tree and folder not in stirred and carried.isdisjoint(item.uncarried)
    }
    # What one pull request brought is judged again together.
    others = [record(folder) for folder in sorted(trees.keys() - index.folders.keys()) if folder.count("/") == _DEPTH]
    numbers = {item.pull_request for each in others if each is not None for item in each.left.values()}
    read = index.folders.keys() - found.keys()
    numbers |= {number for folder in read for number in index.folders[folder].pull_requests}
    while apart := {folder for folder, item in found.items() if not numbers.isdisjoint(item.pull_requests)}:
        numbers |= {number for folder in apart for number in found[folder].pull_requests}
        found = {folder: item for folder, item in found.items() if folder not in apart}
    return found


def folders_to_read(unchanged: Mapping[str, ReconciledFolder], read: Sequence[SubmissionFacts]) -> tuple[str, ...]:
    """The folders among those ``unchanged`` whose queries may beat what enters of those that were ``read``."""
    coming = {name for facts in read for query in facts.queries for name in _exercised(query)}
    return tuple(folder for folder, item in unchanged.items() if not coming.isdisjoint(item.uncarried))


def _exercised(query: QueryFacts) -> set[str]:
    judgements = {} if query.classification is None else query.classification.judgements
    return {name for name, item in judgements.items() if item.value}


def _carried(known: RegressionSet, ids: Collection[str]) -> set[str]:
    """The capabilities that entries among ``ids`` have, also in line."""
    present = {**known.waiting, **known.entries}
    return {name for id, entry in present.items() if id in ids for name in entry.scores}


def new_index(
    inventory: Inventory,
    cases: Sequence[MergedSubmission],
    reconciled: Reconciled,
    corrections: CorrectionRecord,
    before: FolderIndex | None,
    platform: Platform,
) -> FolderIndex | None:
    """The index once the ``cases`` are settled, with what is ``reconciled``; none where nothing may be passed over.

    All was judged on ``platform``, but for what was passed over: that rests on the entries of the index ``before``.
    """
    if inventory.conditions is None:
        return None
    kept = {} if before is None or before.conditions != inventory.conditions else before.folders
    previous = {} if before is None or not inventory.unchanged else before.entries
    entries = {**digests_of(platform.regression_set), **previous}
    fresh = _carried(platform.regression_set, entries.keys() - previous.keys())
    unchanged = {
        folder: item
        for folder, item in inventory.unchanged.items()
        if kept.get(folder) == item and fresh.isdisjoint(item.uncarried)
    }
    folders = {**unchanged, **_at_rest(inventory, cases, reconciled, corrections, platform)}
    return FolderIndex(conditions=inventory.conditions, entries=entries, folders=dict(sorted(folders.items())))


def _at_rest(
    inventory: Inventory,
    cases: Sequence[MergedSubmission],
    reconciled: Reconciled,
    corrections: CorrectionRecord,
    platform: Platform,
) -> dict[str, ReconciledFolder]:
    """The folders that were read and in which nothing is to be done, nor to be told."""
    known = platform.regression_set
    carried = _carried(known, known.on_record)
    spoken = {entry for case in cases for entry in case.texts}
    busy = {case.pull.number for case in cases if case.pull is not None}
    moving = [item.source for item in follow_renames(inventory, platform).values()]
    gone = [known.on_record[id] for id in inventory.departed_from(known) if id in known.on_record]
    leaving = [item.source for item in gone if isinstance(item, Entry)]
    stirred = {folder_of(source) for source in (*moving, *leaving) if source is not None}
    rejected = {item.decision.content for item in reconciled.rejections}
    found = {}
    for facts in inventory.submissions:
        folder, ids = facts.about.folder, {facts.entry_of(query) for query in facts.queries}
        tree = inventory.trees.get(folder)
        left = {entry: reconciled.left[entry] for entry in sorted(ids & reconciled.left.keys())}
        if (
            tree is not None
            and folder not in stirred
            and not ids & spoken
            and not busy & {item.pull_request for item in left.values()}
            and _is_settled(facts, left, corrections, platform)
        ):
            kept = [query for query in facts.queries if facts.entry_of(query) in left]
            uncarried = {name for query in kept for name in _exercised(query)} - carried
            numbers = [item.pull_request for item in left.values()]
            found[folder] = ReconciledFolder(
                tree=tree,
                pull_requests=tuple(sorted({number for number in numbers if number is not None})),
                pushed=numbers.count(None),
                rejected=tuple(sorted(rejected.intersection(facts.contents.values()))),
                uncarried=tuple(sorted(uncarried)),
                ruled_out=facts.ruled_out,
            )
    return found


def _is_settled(
    facts: SubmissionFacts, left: Mapping[str, LeftQuery], corrections: CorrectionRecord, platform: Platform
) -> bool:
    """Whether each query is on record for good, or stayed outside with a classification that nobody corrects."""
    known, submission = platform.regression_set, facts.submission
    found = settle([submission], known)
    outside = {query.id for query in unsettled(platform, submission, line=True)}
    return (
        not submission.problems
        and submission.moved_from is None
        and not found.edited
        and not any(item.id in known.waiting for item in found.settled.values())
        and not any(item.waits for item in left.values())
        and all(query.classification is not None for query in facts.queries if query.query.id in outside)
        and not any(text_key(query.query.turns) in corrections.texts for query in facts.queries)
    )

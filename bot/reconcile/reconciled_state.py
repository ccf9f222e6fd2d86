"""What the ledger remembers of the default branch: how far it was reconciled, and what did not enter (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.curator.store import RegressionSet
from bot.git import is_id
from bot.github.facts import QueryFacts, SubmissionFacts, classified_of
from bot.ledger.model import FolderRecord, LeftQuery, Reconciled, Rejection, folder_path
from bot.pipeline.matching import in_line, settle
from bot.pipeline.review import Platform, unsettled
from bot.reconcile.inventory import Inventory
from bot.reconcile.merged_submissions import MergedSubmission, entry_of
from bot.text.digests import digest


def _moves(inventory: Inventory, platform: Platform) -> dict[str, tuple[str, ...]]:
    """The folders that were renamed, as long as entries are said to come from where they were."""
    known = platform.regression_set
    places = {entry.source.place[:2] for entry in (*known.entries.values(), *known.waiting.values()) if entry.source}
    return {
        facts.folder: facts.moved_from
        for facts in inventory.submissions
        if facts.moved_from is not None and facts.moved_from in places
    }


def waiting(inventory: Inventory, regression_set: RegressionSet) -> dict[str, LeftQuery]:
    """The queries that wait for a slot in ``regression_set`` and may leave the line again, with what brought them."""
    found = {}
    for facts in inventory.submissions:
        submission = classified_of(facts).submission
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
        for query in _outside(facts, platform):
            contents.add(facts.contents[query.id])
            present.add((entry_of(facts, query), digest(list(query.turns))))
    for item in inventory.unchanged.values():
        contents.update(item.rejected)
    entries = {**platform.regression_set.waiting, **platform.regression_set.entries}
    # As long as it is not written, since some are missing or people have not merged it, nobody is asked twice.
    known |= {
        item.key: item.classification
        for item in inventory.renewals
        if item.key and item.classification and item.entry in entries and item.is_of(entries[item.entry])
    }
    return Reconciled(
        commit=inventory.base if before is None or inventory.since is None or fresh else before.commit,
        classifications=known,
        rejections=tuple(item for item in all_rejections if item.decision.content in contents),
        moves=_moves(inventory, platform),
        left={entry: item for entry, item in sorted(left.items()) if (entry, item.text) in present},
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
        path = folder_path(facts.folder)
        previous = before.get(path)
        known = dict(previous.classifications) if previous is not None and partial else {}
        known |= {
            query.key: query.classification
            for query in _outside(facts, platform)
            if query.key is not None and query.classification is not None
        }
        ids = sorted(left.keys() & {entry_of(facts, query) for query in facts.queries})
        own = {entry: left[entry] for entry in ids}
        found[path] = FolderRecord(folder=facts.folder, classifications=known, left=own) if known or own else None
    return found


def _outside(facts: SubmissionFacts, platform: Platform) -> list[QueryFacts]:
    """The queries that are not in the set, or may leave its line, and were not when they were read."""
    outside = {query.id for query in unsettled(platform, classified_of(facts).submission, line=True)}
    return [query for query in facts.queries if query.id in outside and query.key is not None]

"""What the job that writes after a merge believes of the job that read before it.

It reads the merged files itself: merges, texts, agents, keys, departures and what need not be read are its own.  Of the
document it takes what a classifier says of those very texts, within what rules allow (:mod:`incumbent.github.border`),
and words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from incumbent.classifier.corrections import merged
from incumbent.classifier.model import Backend, Classification
from incumbent.files.git import CommitSnapshot, ObjectStore
from incumbent.github.border import NOT_READ, ForeignFactsError, bounded_work, impossible
from incumbent.github.decisions import unverified
from incumbent.github.facts import SubmissionFacts
from incumbent.github.git_state import (
    corrections_of,
    folder_record,
    index_of,
    prepare_folders,
    reconciled_of,
    remembered_of_entries,
    suggestions_of,
)
from incumbent.github.reclassified_entries import RenewalFacts
from incumbent.pipeline.reclassify import query_of
from incumbent.pipeline.review import Platform
from incumbent.reconcile.desired_suggestions import folders_looked_back_on
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.inventory_job import Past, survey
from incumbent.taxonomy.history import History


def past_of(ledger: CommitSnapshot | None, known: Mapping[str, Classification]) -> Past:
    """What the ``ledger`` says of the default branch, and what is ``known`` of texts by key."""
    return Past(
        known={**remembered_of_entries(ledger), **known},
        folder=cache(partial(folder_record, ledger)),
        prepare=partial(prepare_folders, ledger),
        reconciled=reconciled_of(ledger),
        index=index_of(ledger),
        corrections=corrections_of(ledger),
        looked_back=folders_looked_back_on(suggestions_of(ledger)),
    )


def with_unverified(platform: Platform, past: Past, store: ObjectStore, commit: str) -> Platform:
    """``platform`` with all corrections on record: they tell which entries may have to be asked about.

    Whether they stand is looked up where they take effect.
    """
    said = unverified(past.corrections, platform.taxonomy, History(store, commit).all)
    return replace(platform, corrections=merged(platform.taxonomy, [platform.corrections, said]))


def confirmed(
    document: Inventory,
    platform: Platform,
    backend: Backend,
    store: ObjectStore,
    commit: str,
    ledger: CommitSnapshot | None,
    *,
    all_folders: bool,
) -> Inventory:
    """The facts of ``commit``, the tip of the default branch, with what ``document`` says of its texts.

    ``backend`` is the configured one, which is not asked.
    Raises :class:`ForeignFactsError` with every contradiction, where it says what no rule and no classifier says.
    """
    if document.identity != backend.identity:
        raise ForeignFactsError("the inventory is by another classifier than the config names")
    said = {
        item.key: item.classification
        for facts in document.submissions
        for item in facts.queries
        if item.key is not None and item.classification is not None
    }
    said |= {
        item.key: item.classification
        for item in document.renewals
        if item.key is not None and item.classification is not None
    }
    past = past_of(ledger, said)
    rated = with_unverified(platform, past, store, commit)
    found = survey(
        document.repository, commit, past, rated, store, backend, lambda done, total: None, all_folders=all_folders
    )
    renewals = tuple(_renewals(found.renewals, document.renewals))
    faults = [*_contradictions(found, said), *_renewed_wrongly(renewals, platform, backend)]
    if faults:
        raise ForeignFactsError(f"the inventory cannot be used: {'; '.join(dict.fromkeys(faults))}")
    why = {item.key: item.shortfall for facts in document.submissions for item in facts.queries}
    return found.model_copy(
        update={
            "submissions": tuple(_with_reasons(facts, why) for facts in found.submissions),
            "work": bounded_work(document.work, platform),
            "renewals": renewals,
            "candidates": document.candidates if all_folders else (),
        }
    )


def _with_reasons(facts: SubmissionFacts, why: Mapping[str | None, str | None]) -> SubmissionFacts:
    """``facts`` in which the first job says why it did not classify a query."""
    queries = tuple(
        item.model_copy(update={"shortfall": why.get(item.key) or NOT_READ}) if item.unclassified else item
        for item in facts.queries
    )
    return facts.model_copy(update={"queries": queries})


def _renewals(due: Sequence[RenewalFacts], said: Sequence[RenewalFacts]) -> Iterator[RenewalFacts]:
    """The renewals that the reviewed files make ``due``, with what the document ``said`` of those very questions."""
    known = {(item.entry, item.before, item.asked, item.key): item for item in said}
    for item in due:
        found = known.get((item.entry, item.before, item.asked, item.key))
        if item.classification is not None or item.kept is not None:
            yield item
        elif found is None:
            yield item.model_copy(update={"shortfall": NOT_READ})
        else:
            yield item.model_copy(update={"classification": found.classification, "shortfall": found.shortfall})


def _contradictions(found: Inventory, said: Mapping[str, Classification]) -> Iterator[str]:
    """Where what was ``said`` of a merged text was not taken, since no rule and no classifier says it."""
    for facts in found.submissions:
        for item in facts.queries:
            if item.key in said and item.classification is None:
                yield f"it says of {item.query.id} what no rule and no classifier says"


def _renewed_wrongly(renewals: Sequence[RenewalFacts], platform: Platform, backend: Backend) -> Iterator[str]:
    known = platform.regression_set
    entries = {**known.waiting, **known.entries}
    for item in renewals:
        entry = entries.get(item.entry)
        if item.asked and item.classification is not None and entry is not None:
            yield from impossible(query_of(entry), None, item.classification, platform.taxonomy, backend)

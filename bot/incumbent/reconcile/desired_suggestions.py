"""What people should be asked: what could go and what is to enter, without what they refused (pure).

A refusal is known by what was refused, which is in the branch's name; whatever the ledger says of older ones is looked
up before it holds anything back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from incumbent.curator.entry import Entry
from incumbent.curator.roles import EvictionKind
from incumbent.curator.suggestions import Suggestions, also_safe, suggest
from incumbent.github.managed_pull_request import PullRequestState
from incumbent.github.models import PullRequest
from incumbent.ledger.events import LedgerEvent, Suggested
from incumbent.ledger.model import ArchivedQuery, Refusal, Request, SuggestionRecord
from incumbent.ledger.refusals import grounds_in, is_since, refused_grounds, still_refused
from incumbent.ledger.releases.history import EntryHistory
from incumbent.pipeline.review import Platform
from incumbent.reconcile.admission_pull_request import AdmissionOffer
from incumbent.reconcile.reconciled_state import folder_of
from incumbent.reconcile.suggestion_pull_requests import (
    Proposal,
    grouped,
    is_suggestion,
    kept_in,
    looks_back,
    of_present,
    open_groups,
    proposals_of,
    refusal_by,
    slug,
    subject_of,
    with_former,
)
from incumbent.text.digests import digest


@dataclass(frozen=True, kw_only=True)
class SuggestionInputs:
    """GitHub as the plan finds it, and the ledger's part.

    ``misnamed`` are open pull requests from other branches under our prefix.  ``takes_no_commits`` tells that the
    default branch refused the last commits.  ``at`` is the time of the default branch's commit; ``events`` is the
    ledger's file of events so far, ``known`` those of them on pull requests that are here, or that the ledger calls
    refused; ``merged_by`` tells who merged a pull request, and when, ``pull_request`` looks one up that is not here,
    ``is_reviewed`` tells whether people commented on one or reviewed it.  ``keeps`` are what curators asked to keep,
    ``asked`` what they asked to suggest.  ``histories`` are what release runs showed of the entries of R.
    ``archived`` are the entries that excluded queries would have, by id: of all of them in a look through all eval
    sets, else of those that the last look chose for repacks and top-ups.  Of ``unread`` ones the eval set was not read,
    so that nothing is known of them.
    """

    github: PullRequestState
    misnamed: tuple[PullRequest, ...]
    ledger: str | None
    record: SuggestionRecord
    takes_no_commits: bool = False
    at: str
    events: str | None
    known: tuple[LedgerEvent, ...]
    merged_by: Callable[[int], tuple[str, str]]
    pull_request: Callable[[int], PullRequest | None]
    is_reviewed: Callable[[int], bool]
    keeps: tuple[Request, ...] = ()
    asked: tuple[Request, ...] = ()
    histories: Mapping[str, EntryHistory] = field(default_factory=dict)
    archived: Mapping[str, Entry] = field(default_factory=dict)
    unread: Mapping[str, ArchivedQuery] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DesiredSuggestions:
    """What people should be asked: ``proposals``, most urgent first, and the ``suggestions`` that they follow from.

    ``refusals`` are those that stand, ``forged`` those of the ledger that nobody gave; ``offers`` says what branches
    that offer admissions hold, as long as that is to be remembered.  ``archived`` is what repacks and top-ups would
    admit, or what people refused to admit so.
    """

    suggestions: Suggestions
    proposals: tuple[Proposal, ...]
    refusals: tuple[Refusal, ...]
    forged: tuple[Refusal, ...]
    offers: Mapping[str, tuple[str, ...]]
    archived: Mapping[str, ArchivedQuery] = field(default_factory=dict)


def desired_suggestions(
    platform: Platform,
    departed: Mapping[str, EvictionKind],
    inputs: SuggestionInputs,
    offer: AdmissionOffer | None = None,
    undone: Mapping[str, int] = MappingProxyType({}),
) -> DesiredSuggestions:
    """What could go now, without what people refused on the same grounds, and first of all the ``offer``.

    ``departed`` and ``undone`` are as :func:`incumbent.curator.suggestions.suggest` takes them.

    A refusal of the ledger holds nothing back unless its pull request was ours and was closed by people.
    """
    github = inputs.github
    shown = _shown_in_groups(inputs.known)
    listed_refusals = [item for pull in github.closed if (item := refusal_by(pull, github, shown)) is not None]
    here = {pull.number for pull in (*github.open, *github.closed)}
    kept = [item for item in inputs.record.refusals if item.pull_request not in here]
    entries = {*platform.regression_set.entries, *platform.regression_set.waiting, *inputs.archived}
    subjects = {slug(id) for id in entries}
    present = [of_present(item, platform.regression_set.entries) for item in (*listed_refusals, *kept)]
    known = [
        item
        for item in present
        if item.branch in inputs.record.offers
        or item.entries
        # A query may be archived again that is not just now.
        or looks_back(item.branch)
        or subject_of(item.branch) in subjects
    ]
    groups = open_groups(github)
    open_subjects = {subject_of(pull.branch or "") for pull in github.open}
    busy = {id for id in entries if slug(id) in open_subjects}
    busy |= {id for item in groups for id in item.members.suggests}
    # An entry that an open swap or repack removes counts as suggested.
    numbers = {pull.number for pull in github.open}
    suggestions = [item for item in inputs.known if isinstance(item, Suggested) and item.pull_request in numbers]
    busy |= {id for item in suggestions if item.admits is not None for id in item.entries}
    here_kept = {digest for item in groups for digest in item.members.kept.values()}
    here_kept |= {item.grounds for item in inputs.keeps if item.grounds is not None}

    closed_at = {pull.number: pull.closed_at for pull in github.closed}
    grounds_asked = frozenset(item.grounds for item in inputs.asked if item.grounds is not None)

    def suggested(refusals: Sequence[Refusal]) -> list[Suggestions]:
        refused = here_kept.union(*(still_refused(item, inputs.asked, closed_at) for item in refusals))
        taxonomy, config = platform.taxonomy, platform.config
        sets = [platform.regression_set, *(() if offer is None else (offer.leads_to,))]
        return [
            suggest(known, taxonomy, config, departed, frozenset(busy), refused, undone, inputs.archived)
            for known in sets
        ]

    unread = {slug(id) for id in inputs.unread}

    def unjudged(refusals: Sequence[Refusal]) -> frozenset[str]:
        about = [item for item in refusals if looks_back(item.branch) and subject_of(item.branch) in unread]
        return frozenset().union(*map(refused_grounds, about))

    now, *after = suggested(known)
    holding = now.refused | unjudged(known)
    remembered = {item.pull_request for item in kept}
    forged = [
        item
        for item in known
        if item.pull_request in remembered and refused_grounds(item) & holding and not _is_real(item, inputs)
    ]
    if forged:
        given = [refusal for item in forged if (refusal := _real(item, inputs)) is not None]
        real = [of_present(item, platform.regression_set.entries) for item in given]
        known = [*(item for item in known if item not in forged), *(item for item in real if item.entries)]
        now, *after = suggested(known)
    # Those of excluded queries count whether or not this run read the eval set.
    of_excluded = frozenset().union(*(refused_grounds(item) for item in known if looks_back(item.branch)))
    now = replace(now, refused=now.refused | of_excluded)
    # Whether what is offered is merged before them or after them, they have to be safe.
    found = also_safe(now, after[0]) if after else now
    return DesiredSuggestions(
        suggestions=found,
        proposals=(
            *(() if offer is None else (offer.proposal,)),
            *with_former(
                proposals_of(
                    found,
                    platform,
                    grouped(found, platform, github, groups, inputs.keeps, inputs.is_reviewed, grounds_asked),
                    kept_in(groups, inputs.keeps),
                    grounds_asked,
                    inputs.histories,
                ),
                groups,
            ),
        ),
        offers=_offers(offer, known, inputs.record),
        archived=_archived({item.entering.id for item in (*now.repacks, *now.top_ups)}, known, inputs),
        refusals=tuple(sorted(known, key=lambda item: item.pull_request)),
        forged=tuple(forged),
    )


def _shown_in_groups(known: Sequence[LedgerEvent]) -> dict[int, dict[str, str]]:
    """Pull request of a group → entry → the grounds on which it was suggested there, by the ``known`` events."""
    found: dict[int, dict[str, str]] = {}
    for event in known:
        if isinstance(event, Suggested) and len(event.entries) == 1 and event.admits is None:
            found.setdefault(event.pull_request, {})[event.entries[0]] = grounds_in(event.branch)
    return found


def withdrawn(closed: Sequence[PullRequest], asked: Sequence[Request]) -> frozenset[int]:
    """Those of ``closed`` pull requests that suggested one thing, which curators ``asked`` to suggest again since."""
    found = [pull for pull in closed if pull.branch is not None and is_suggestion(pull.branch)]
    return frozenset(
        pull.number
        for pull in found
        if any(
            item.grounds == grounds_in(pull.branch or "") and is_since(item, pull.number, pull.closed_at)
            for item in asked
        )
    )


def folders_looked_back_on(record: SuggestionRecord) -> frozenset[str]:
    """The folders of queries that open repacks and top-ups would admit: they are read in each run."""
    refused = {subject_of(item.branch) for item in record.refusals}
    return frozenset(item.folder for id, item in record.archived.items() if slug(id) not in refused)


def _archived(
    chosen: Collection[str], refusals: Sequence[Refusal], inputs: SuggestionInputs
) -> dict[str, ArchivedQuery]:
    """Where to look for the queries ``chosen`` to be admitted, and for those that people may reopen one about."""
    refused = {subject_of(item.branch) for item in refusals if looks_back(item.branch)}
    found = dict(inputs.unread)
    for id, entry in inputs.archived.items():
        source = entry.source
        if source is not None and source.commit is not None and (id in chosen or slug(id) in refused):
            found[id] = ArchivedQuery(
                folder=folder_of(source), text=digest(entry.turns), at=entry.admitted.at, commit=source.commit
            )
    return dict(sorted(found.items()))


def _offers(
    offer: AdmissionOffer | None, refusals: Sequence[Refusal], record: SuggestionRecord
) -> dict[str, tuple[str, ...]]:
    """What is offered now, and what was in those that people turned down."""
    turned_down = {item.branch for item in refusals}
    kept = {branch: contents for branch, contents in record.offers.items() if branch in turned_down}
    return dict(sorted({**kept, **({} if offer is None else {offer.branch: offer.contents})}.items()))


def _is_real(item: Refusal, inputs: SuggestionInputs) -> bool:
    real = _real(item, inputs)
    return real is not None and item.entries.items() <= real.entries.items()


def _real(item: Refusal, inputs: SuggestionInputs) -> Refusal | None:
    """What people refused on the pull request of ``item``, if it is the one that is named."""
    pull = inputs.pull_request(item.pull_request)
    if pull is None or not pull.closed or not is_suggestion(pull.branch) or pull.branch != item.branch:
        return None
    return refusal_by(pull, inputs.github, _shown_in_groups(inputs.known))

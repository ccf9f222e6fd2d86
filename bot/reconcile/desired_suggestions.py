"""What people should be asked: what could go and what is to enter, without what they refused (pure).

A refusal is known by what was refused, which is in the branch's name; whatever the ledger says of older ones is looked
up before it holds anything back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from bot.curator.prune import EvictionKind
from bot.curator.suggestions import Suggestions, also_safe, suggest
from bot.github.models import CheckRun, IssueComment, PullRequest
from bot.ledger.event_files import parsed_of
from bot.ledger.events import Event
from bot.ledger.model import Refusal, SuggestionRecord
from bot.pipeline.review import Platform
from bot.reconcile.admission_pull_request import AdmissionOffer
from bot.reconcile.suggestion_outcomes import closed_by_bots
from bot.reconcile.suggestion_pull_requests import (
    Proposal,
    grounds_in,
    is_about,
    is_suggestion,
    proposals_of,
    was_refused,
)


@dataclass(frozen=True, kw_only=True)
class Branch:
    """A branch under our prefix: its commit, and the ids of what differs there from the default branch.

    ``has_base`` tells whether the default branch's commit is among its ancestors; ``behind`` are paths that the default
    branch has changed since.
    """

    commit: str
    blobs: Mapping[str, str | None]
    has_base: bool
    behind: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class SuggestionInputs:
    """GitHub as the plan finds it: pull requests with branches under our prefix, these branches by name, checks by
    commit, and the ledger's part.

    ``barred`` are branches for which GitHub lets us open no pull request, ``opened`` those for which this run opened
    one, which its lists may not show yet.
    ``takes_no_commits`` tells that the default branch refused the last commits.  ``at`` is the time of ``base``;
    ``events`` is the ledger's file of events so far; ``merged_by`` and ``closed_by`` tell who ended a pull request, and
    when.
    ``comments`` reads those of a pull request, ``pull_request`` one that is in neither list.
    """

    login: str
    default_branch: str
    base: str
    open: tuple[PullRequest, ...]
    closed: tuple[PullRequest, ...]
    branches: Mapping[str, Branch]
    checks: Mapping[str, CheckRun | None]
    ledger: str | None
    record: SuggestionRecord
    barred: frozenset[str]
    opened: frozenset[str]
    takes_no_commits: bool = False
    comments: Callable[[int], tuple[IssueComment, ...]]
    pull_request: Callable[[int], PullRequest | None]
    at: str
    events: str | None
    merged_by: Callable[[int], tuple[str, str]]
    closed_by: Callable[[int], tuple[str, str]]

    @cached_property
    def known(self) -> tuple[Event, ...]:
        """The events so far on the pull requests that are here, or of which the ledger remembers a refusal."""
        numbers = {pull.number for pull in own((*self.open, *self.closed))}
        return parsed_of(self.events, numbers | {item.pull_request for item in self.record.refusals})

    @cached_property
    def by_bots(self) -> frozenset[int]:
        """Those of ``closed`` that a bot closed unmerged."""
        return closed_by_bots(own(self.closed), self.known, self.closed_by)


@dataclass(frozen=True, kw_only=True)
class DesiredSuggestions:
    """What people should be asked: ``proposals``, most urgent first, and the ``suggestions`` that they follow from.

    ``refusals`` are those that stand, ``forged`` those of the ledger that nobody gave; ``offers`` says what branches
    that offer admissions hold, as long as that is to be remembered.
    """

    suggestions: Suggestions
    proposals: tuple[Proposal, ...]
    refusals: tuple[Refusal, ...]
    forged: tuple[Refusal, ...]
    offers: Mapping[str, tuple[str, ...]]


def own(pulls: Sequence[PullRequest]) -> tuple[PullRequest, ...]:
    """Those of ``pulls`` that are suggestions: from a branch of the repository itself that is named like ours.

    Where the token may open none people open them, and accounts change; what counts is what the branch does.
    """
    return tuple(pull for pull in pulls if is_suggestion(pull.branch))


def wish(
    platform: Platform,
    departed: Mapping[str, EvictionKind],
    scene: SuggestionInputs,
    offer: AdmissionOffer | None = None,
    undone: Mapping[str, int] = MappingProxyType({}),
) -> DesiredSuggestions:
    """What could go now, without what people refused on the same grounds, and first of all the ``offer``.

    ``departed`` and ``undone`` are as :func:`bot.curator.suggestions.suggest` takes them.

    A refusal of the ledger holds nothing back unless its pull request was ours and was closed by people.
    """
    open_own = own(scene.open)
    closed = {pull.number: pull for pull in own(scene.closed)}
    listed_refusals = [
        _refusal(pull) for pull in closed.values() if was_refused(pull) and pull.number not in scene.by_bots
    ]
    reopened = {pull.number for pull in open_own}
    kept = [
        item for item in scene.record.refusals if item.pull_request not in closed and item.pull_request not in reopened
    ]
    entries = [*platform.regression_set.entries, *platform.regression_set.waiting]
    known = [
        item
        for item in (*listed_refusals, *kept)
        if item.branch in scene.record.offers or any(is_about(item.branch, id) for id in entries)
    ]
    busy = {id for id in platform.regression_set.entries for pull in open_own if is_about(pull.branch or "", id)}

    def suggested(refusals: Sequence[Refusal]) -> Suggestions:
        refused = {grounds_in(item.branch) for item in refusals}
        taxonomy, config = platform.taxonomy, platform.config
        sets = [platform.regression_set, *(() if offer is None else (offer.leads_to,))]
        now, *after = [suggest(known, taxonomy, config, departed, frozenset(busy), refused, undone) for known in sets]
        # Whether what is offered is merged before them or after them, they have to be safe.
        return also_safe(now, after[0]) if after else now

    found = suggested(known)
    forged = [
        item
        for item in kept
        if item in known and grounds_in(item.branch) in found.refused and not _is_real(item, scene)
    ]
    if forged:
        known = [item for item in known if item not in forged]
        found = suggested(known)
    return DesiredSuggestions(
        suggestions=found,
        proposals=(*(() if offer is None else (offer.proposal,)), *proposals_of(found, platform)),
        offers=_offers(offer, known, scene.record),
        refusals=tuple(sorted(known, key=lambda item: item.pull_request)),
        forged=tuple(forged),
    )


def _offers(
    offer: AdmissionOffer | None, refusals: Sequence[Refusal], record: SuggestionRecord
) -> dict[str, tuple[str, ...]]:
    """What is offered now, and what was in those that people turned down."""
    turned_down = {item.branch for item in refusals}
    kept = {branch: contents for branch, contents in record.offers.items() if branch in turned_down}
    return dict(sorted({**kept, **({} if offer is None else {offer.branch: offer.contents})}.items()))


def _refusal(pull: PullRequest) -> Refusal:
    return Refusal(pull_request=pull.number, branch=pull.branch or "")


def _is_real(item: Refusal, scene: SuggestionInputs) -> bool:
    pull = scene.pull_request(item.pull_request)
    if pull is None or not own([pull]) or pull.branch != item.branch or not was_refused(pull):
        return False
    return not closed_by_bots([pull], scene.known, scene.closed_by)

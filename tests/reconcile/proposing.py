"""A set of which something could go, and GitHub as the plan of suggestions finds it, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from incumbent.curator.entry import Entry
from incumbent.curator.roles import EvictionKind
from incumbent.curator.store import RegressionSet
from incumbent.github.managed_pull_request import Branch, PlannedPullRequest, PullRequestState
from incumbent.github.models import CheckRun, IssueComment, Operation, PostCheck, PullRequest, WriteLedger
from incumbent.ledger.event_files import appended, parsed
from incumbent.ledger.events import SET_EVENTS
from incumbent.ledger.model import SUGGESTIONS, ArchivedQuery, Request, SuggestionRecord
from incumbent.pipeline.review import Platform
from incumbent.reconcile.admission_pull_request import AdmissionOffer, OfferStep
from incumbent.reconcile.desired_suggestions import DesiredSuggestions, SuggestionInputs, desired_suggestions
from incumbent.reconcile.suggestion_plan import plan_suggestions, remembered, suggested
from incumbent.reconcile.suggestion_pull_requests import LABEL, Proposal, is_suggestion
from incumbent.report.pull_request_bodies import EntryChange, Offered
from tests.factories import make_config, make_entry, make_taxonomy
from tests.reconcile.merges import BOT, TIP, commit, make_pull

BEST = (make_entry("best1", {"a": 0.9, "b": 0.9}), make_entry("best2", {"a": 0.8, "b": 0.8}))
SPARE = make_entry("spare", {"a": 0.6, "b": 0.6})
NEWCOMER = make_entry("newcomer", {"a": 0.95})
OFFER = AdmissionOffer(
    steps=(
        OfferStep(
            message="Admit 1 query",
            file_changes=(),
            offered=(Offered(entry=NEWCOMER, change=EntryChange.ENTERS, pull_request=7),),
        ),
    ),
    leads_to=RegressionSet({item.id: item for item in (*BEST, NEWCOMER, SPARE)}, {}, {}),
)


def make_platform(
    *entries: Any, waiting: tuple[Any, ...] = (), open_evictions: int = 10, group: int = 1, **config: Any
) -> Platform:
    """A platform with capabilities a and b that need one coverer each; ``spare`` and ``best2`` could go."""
    knobs = make_config(**{"redundancy_floor": 1} | config)
    limits = knobs.limits.model_copy(update={"open_evictions": open_evictions, "group": group})
    knobs = knobs.model_copy(update={"limits": limits})
    known = {item.id: item for item in entries or (*BEST, SPARE)}
    return Platform(
        taxonomy=make_taxonomy("a", "b"),
        config=knobs,
        regression_set=RegressionSet(known, {item.id: item for item in waiting}, {}),
    )


@dataclass(frozen=True)
class Plan:
    """What is written, and what becomes of each pull request."""

    operations: tuple[tuple[int | None, Operation], ...]
    planned: tuple[PlannedPullRequest, ...]

    @property
    def beyond(self) -> list[str]:
        """The branches of what is held back."""
        return [item.branch for item in self.planned if item.action in ("wait", "barred")]

    @property
    def left(self) -> list[int | None]:
        """The numbers of what holds people's commits."""
        return [item.number for item in self.planned if item.action == "leave"]


@dataclass
class Suggesting:
    """Pull requests and branches under our prefix."""

    platform: Platform = field(default_factory=make_platform)
    open: list[PullRequest] = field(default_factory=list)
    closed: list[PullRequest] = field(default_factory=list)
    branches: dict[str, Branch] = field(default_factory=dict)
    record: SuggestionRecord = field(default_factory=SuggestionRecord)
    checks: dict[str, Any] = field(default_factory=dict)
    comments: dict[int, tuple[IssueComment, ...]] = field(default_factory=dict)
    elsewhere: dict[int, PullRequest | None] = field(default_factory=dict)
    departed: Mapping[str, EvictionKind] = field(default_factory=dict)
    undone: Mapping[str, int] = field(default_factory=dict)
    offer: AdmissionOffer | None = None
    events: str | None = None
    ledger: str | None = "f" * 40
    closer: str = "dan"
    authors: dict[str, str] = field(default_factory=dict)
    reviewed: set[int] = field(default_factory=set)
    keeps: list[Request] = field(default_factory=list)
    asked: list[Request] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)
    archived: Mapping[str, Entry] = field(default_factory=dict)
    unread: Mapping[str, ArchivedQuery] = field(default_factory=dict)

    @property
    def github(self) -> PullRequestState:
        return PullRequestState(
            login=BOT,
            default_branch="main",
            base=TIP,
            open=tuple(pull for pull in self.open if is_suggestion(pull.branch)),
            closed=tuple(pull for pull in self.closed if is_suggestion(pull.branch)),
            branches=self.branches,
            closed_by=remembered(parsed(self.events), lambda number: (self.closer, "2026-11-23T09:30:00Z")),
            check=self.checks.get,
            comments=lambda number: self.comments.get(number, ()),
            author_of=lambda commit: self.authors.get(commit, "dan"),
            heads=self.record.heads,
            **self.more,
        )

    @property
    def inputs(self) -> SuggestionInputs:
        return SuggestionInputs(
            github=self.github,
            misnamed=tuple(pull for pull in self.open if not is_suggestion(pull.branch)),
            ledger=self.ledger,
            record=self.record,
            at="2026-11-23T10:00:00Z",
            events=self.events,
            known=parsed(self.events),
            merged_by=lambda number: ("cora", "2026-11-23T09:00:00Z"),
            pull_request=self.elsewhere.__getitem__,
            archived=self.archived,
            unread=self.unread,
            is_reviewed=lambda number: number in self.reviewed,
            keeps=tuple(self.keeps),
            asked=tuple(self.asked),
        )

    @property
    def desired(self) -> DesiredSuggestions:
        return desired_suggestions(self.platform, self.departed, self.inputs, self.offer, self.undone)

    @property
    def proposals(self) -> dict[str, Proposal]:
        """What is wanted now, by the entry that goes first."""
        return {item.entries[0]: item for item in self.desired.proposals}

    def plan(self) -> Plan:
        writes, planned = plan_suggestions(self.desired, self.platform, self.inputs)
        return Plan(tuple(writes), planned)

    def opened(self, proposal: Proposal, number: int, **more: Any) -> PullRequest:
        """``proposal`` as it is once it was opened and nobody touched it."""
        tip = commit(number)
        pull = make_pull(
            number,
            **{
                "head": tip,
                "branch": proposal.branch,
                "author": BOT,
                "closed": False,
                "merge": None,
                "labels": (LABEL,),
                "title": proposal.title,
                "body": proposal.body,
            }
            | more,
        )
        self.open.append(pull)
        self.branches[proposal.branch] = Branch(commit=tip, blobs=proposal.blobs, has_base=True)
        self.record = self.record.model_copy(update={"heads": {**self.record.heads, proposal.branch: tip}})
        self.events = appended(self.events, suggested([pull], {proposal.branch: proposal}, (), "2026-11-22T10:00:00Z"))
        return pull

    def settle(self) -> None:
        """Post the checks, and write the ledger, as the plan says."""
        for _, item in self.plan().operations:
            if isinstance(item, PostCheck):
                self.checks[item.commit] = CheckRun(conclusion=item.conclusion, external_id=item.external_id)
            if isinstance(item, WriteLedger):
                self.events = dict(item.files).get(SET_EVENTS, self.events)
        found = record_in(self.plan())
        self.record = found or self.record


def record_in(plan: Plan) -> SuggestionRecord | None:
    """What ``plan`` writes of the ledger's part."""
    for _, item in plan.operations:
        text = dict(getattr(item, "files", ())).get(SUGGESTIONS)
        if text is not None:
            return SuggestionRecord.model_validate_json(text, strict=False)
    return None


def events_in(plan: Plan) -> str | None:
    """What ``plan`` makes of the file of events."""
    return next((text for item in found(plan, WriteLedger) for path, text in item.files if path == SET_EVENTS), None)


def kinds(plan: Plan, number: int | None = None) -> list[str]:
    """What ``plan`` does on a pull request, or where there is none: the names of the operations."""
    return [type(item).__name__ for where, item in plan.operations if where == number]


def found(plan: Plan, kind: type[Operation]) -> list[Any]:
    """The operations of one kind."""
    return [item for _, item in plan.operations if isinstance(item, kind)]


def close(world: Suggesting, entry: str, number: int = 5, **more: Any) -> str:
    """People close the suggestion to evict ``entry``; its branch."""
    proposal = world.proposals[entry]
    world.opened(proposal, number)
    pull = world.open.pop()
    world.closed.append(replace(pull, **{"closed": True} | more))
    del world.branches[proposal.branch]
    world.record = world.record.model_copy(update={"heads": {}})
    return proposal.branch

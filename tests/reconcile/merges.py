"""What was merged, as values: inventories, merges, pull requests, and comments that people wrote."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import yaml

from incumbent.classifier.model import Identity
from incumbent.curator.entry import Entry, Source, Tombstone, entry_id
from incumbent.curator.store import RegressionSet, entry_path, tombstone_path, waiting_path
from incumbent.github.facts import FORMAT, ClassifierWork, QueryFacts, SubmissionFacts
from incumbent.github.models import IssueComment, PullRequest
from incumbent.ledger.model import DecisionRecord, LeftQuery, Merged, PullRequestRecord
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import Submission
from incumbent.reconcile.inventory import Inventory, MergeFacts
from incumbent.reconcile.merged_submissions import MergedSubmission, cases_of
from incumbent.text.digests import digest
from tests.factories import make_entry
from tests.github.scenes import reworded

TIP = "7" * 40
"""The default branch."""
MERGE = "a" * 40
MERGED_AT = "2026-11-22T10:00:00Z"
BOT = "github-actions[bot]"


def commit(number: int) -> str:
    return f"{number:040x}"


def id_of(item: str, agent: str = "desk") -> str:
    """The id that the query ``item`` of acme's has as an entry."""
    return entry_id("acme", agent, item)


def text_of(query: QueryFacts) -> str:
    return digest(list(query.query.turns))


def source(item: str, agent: str = "desk", **more: Any) -> Source:
    """Where an entry of acme's came from; in scenes of one eval set that is its only file."""
    eval_set = f"eval_sets/acme/{agent}/evals.yaml"
    return Source(customer="acme", agent=agent, item=item, **{"eval_set": eval_set} | more)


def entry_of(query: QueryFacts, agent: str = "desk", **more: Any) -> Entry:
    """``query`` as the entry it has become, with the scores of its TRUE capabilities."""
    known = query.classification
    scores = {} if known is None else {name: item.confidence for name, item in known.judgements.items() if item.value}
    defaults: dict[str, Any] = {"turns": query.query.turns, "source": source(query.query.id, agent)}
    return make_entry(id_of(query.query.id, agent), scores, **defaults | more)


def settled(query: QueryFacts) -> QueryFacts:
    """``query`` as the facts show it once an entry or a tombstone settles it."""
    return query.model_copy(update={"key": None, "classification": None})


def facts(*queries: QueryFacts, agent: str = "desk", prefix: str = "", **more: Any) -> SubmissionFacts:
    """One agent of acme's; ``prefix`` goes before the ids of its queries."""
    named = tuple(reworded(query, id=f"{prefix}{query.query.id}") for query in queries)
    about = {name: more.pop(name) for name in ("moved_from", "problems") if name in more}
    defaults: dict[str, Any] = {
        "about": Submission(customer="acme", agent=agent, folder=f"eval_sets/acme/{agent}", prefix=prefix, **about),
        "specification": "s",
        "queries": named,
    }
    return SubmissionFacts(**defaults | more)


def make_inventory(*submissions: SubmissionFacts, merges: Iterable[MergeFacts] = (), **more: Any) -> Inventory:
    """The facts of the default branch, which was reconciled once before."""
    defaults: dict[str, Any] = {
        "format": FORMAT,
        "repository": "o/r",
        "base": TIP,
        "at": "2026-11-23T10:00:00Z",
        "since": commit(1),
        "identity": Identity(backend="embedded", model="m1", prompt="p1", samples=5),
        "merges": tuple(merges),
        "submissions": submissions,
        "departed": {},
        "unread": (),
        "problems": (),
        "work": ClassifierWork(
            reused=0, classified=0, stopped=more.pop("stopped", None), abilities=more.pop("abilities", {})
        ),
    }
    return Inventory(**defaults | more)


def merge_of(*queries: QueryFacts, by: str = MERGE, at: str = MERGED_AT, agent: str = "desk") -> MergeFacts:
    """The commit ``by`` of the default branch, which brought ``queries`` of one agent."""
    return MergeFacts(commit=by, at=at, brought={id_of(query.query.id, agent): text_of(query) for query in queries})


def make_pull(number: int = 7, **more: Any) -> PullRequest:
    """A pull request of mara's that was merged by ``MERGE`` unless said otherwise."""
    defaults: dict[str, Any] = {
        "head": "1" * 40,
        "base": "main",
        "author": "mara",
        "association": "MEMBER",
        "labels": (),
        "closed": True,
        "merge": MERGE,
    }
    return PullRequest(number=number, **defaults | more)


def make_record(number: int = 7, **more: Any) -> PullRequestRecord:
    """The record of a pull request; ``seen`` maps entries that people saw admitted to their contents then."""
    seen = more.pop("seen", None)
    if seen is not None:
        more["merged"] = Merged(commit=MERGE, at=MERGED_AT, seen=dict(seen))
    return PullRequestRecord(pull_request=number, head="1" * 40, **more)


def make_left(
    query: QueryFacts, number: int | None = 7, by: str = MERGE, at: str = MERGED_AT, waits: bool = False
) -> LeftQuery:
    """What is remembered of ``query``, which was merged and did not enter."""
    return LeftQuery(text=text_of(query), pull_request=number, commit=by, at=at, waits=waits)


def make_comment(id: int, author: str, body: str, **more: Any) -> IssueComment:
    defaults: dict[str, Any] = {"is_bot": author.endswith("[bot]"), "created_at": MERGED_AT, "updated_at": MERGED_AT}
    return IssueComment(id=id, author=author, body=body, **defaults | more)


def decided(action: str, item: str = "q1", **more: Any) -> DecisionRecord:
    """What cora decided of the query ``item``."""
    data: dict[str, Any] = {"entry": id_of(item), "action": action, "by": "cora", "comment": 1, "codes": "x"}
    digests = dict.fromkeys(("content", "verdict", "said"), "0" * 24)
    return DecisionRecord.model_validate({**data, **digests, "at": MERGED_AT} | more)


def make_case(
    *queries: QueryFacts, pull: PullRequest | None = None, record: PullRequestRecord | None = None
) -> MergedSubmission:
    """The case of one merge that brought ``queries``, by ``pull`` if it is given."""
    inventory = make_inventory(facts(*queries), merges=[merge_of(*queries)])
    pulls = {} if pull is None else {MERGE: pull}
    records = {} if record is None else {record.pull_request: record}
    (case,) = cases_of(inventory, inventory.merges, pulls, records)
    return case


def with_set(
    platform: Platform,
    *entries: Entry,
    waiting: Iterable[Entry] = (),
    gone: Iterable[Tombstone] = (),
) -> Platform:
    """``platform`` with these as well."""
    known = platform.regression_set
    grown = RegressionSet(
        {**known.entries, **{item.id: item for item in entries}},
        {**known.waiting, **{item.id: item for item in waiting}},
        {**known.tombstones, **{item.id: item for item in gone}},
    )
    return replace(platform, regression_set=grown)


def written(platform: Platform, files: Iterable[tuple[str, str | None]]) -> Platform:
    """``platform`` once ``files`` of its regression set were written: what they hold is read again."""
    known = platform.regression_set
    entries: dict[str, Any] = dict(known.entries)
    waiting: dict[str, Any] = dict(known.waiting)
    graves: dict[str, Any] = dict(known.tombstones)
    for path, text in files:
        id = path.rpartition("/")[2].removesuffix(".yaml")
        part = {entry_path(id): entries, waiting_path(id): waiting, tombstone_path(id): graves}[path]
        part.pop(id, None)
        if text is not None:
            model = Tombstone if part is graves else Entry
            part[id] = model.model_validate(yaml.safe_load(text), strict=False)
    return replace(platform, regression_set=RegressionSet(entries, waiting, graves))

"""Pull requests as values: facts, comments and what was written, applied to a GitHub that is a few tuples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from incumbent.classifier.model import Classification, Identity, Judgement
from incumbent.curator.entry import Entry
from incumbent.curator.store import RegressionSet
from incumbent.errors import Problem
from incumbent.files.git import ChangedFile, blob_id
from incumbent.files.snapshot import EmptySnapshot, Overlay
from incumbent.github.authority import NO_CO_AUTHORS, Authority, CoAuthors
from incumbent.github.decisions import CommentLookup, RecordedCorrections, look_up
from incumbent.github.facts import (
    FORMAT,
    Analysis,
    ChangedEntryFile,
    ClassifierWork,
    JudgedFacts,
    QueryFacts,
    SubmissionFacts,
)
from incumbent.github.models import (
    AddLabels,
    CheckRun,
    CommentKind,
    CreateComment,
    DeleteComment,
    EditComment,
    IssueComment,
    PostCheck,
    PullRequest,
    RemoveLabel,
    ThreadComment,
    WriteLedger,
)
from incumbent.github.publish_plan import PublishInputs, PublishPlan, plan_review
from incumbent.intake.query import Query
from incumbent.ledger.classifications import is_shard, shard_folder
from incumbent.ledger.events import events_path
from incumbent.ledger.keys import classification_key
from incumbent.ledger.model import (
    ABILITIES,
    CORRECTIONS,
    AbilityRecord,
    CommentKey,
    CorrectionRecord,
    PullRequestRecord,
    record_path,
)
from incumbent.ledger.releases.history import histories
from incumbent.ledger.releases.record import EntryResult, ReleaseRecord, content_of
from incumbent.ledger.store import load_shard
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import Submission
from tests.factories import make_config, make_entry, make_taxonomy

BOT = "github-actions[bot]"
CAPABILITIES = ("a", "b", "c", "d", "e")
IDENTITY = Identity(backend="embedded", model="m1", prompt="p1", samples=5)
HEAD = "1" * 40
BASE = "0" * 40


def make_platform(**config: Any) -> Platform:
    """A platform whose set covers a, b and c singly, twice each."""
    entries = {f"r{name}{copy}": make_entry(f"r{name}{copy}", {name: 0.9}) for name in "abc" for copy in "12"}
    return Platform(
        taxonomy=make_taxonomy(*CAPABILITIES),
        config=make_config(**{"curators": ["cora"]} | config),
        regression_set=RegressionSet(entries, {}, {}),
    )


def make_query(id: str, scores: Mapping[str, float] | None, text: str | None = None, line: int = 1) -> QueryFacts:
    """A query that exercises ``scores``; without any it could not be classified."""
    turns = (text or f"{id} asks for something of its own: {id * 5}",)
    known = None
    if scores is not None:
        judgements = {name: Judgement(name in scores, scores.get(name, 0.9), "inference") for name in CAPABILITIES}
        known = Classification(judgements=judgements)
    return QueryFacts(
        query=Query(id=id, turns=turns, file="eval_sets/acme/desk/evals.yaml", line=line),
        key=classification_key(turns, "s", "d", IDENTITY, ""),
        classification=known,
    )


def reworded(item: QueryFacts, **changes: Any) -> QueryFacts:
    """``item`` with another id, text or place in the eval set."""
    return item.model_copy(update={"query": replace(item.query, **changes)})


PAIR = {"a": 0.8, "b": 0.8}
QUERIES = (
    make_query("q01", {"d": 0.9}, line=3),
    make_query("q02", PAIR, line=4),
    make_query("q03", PAIR, line=5),
    make_query("q04", {"a": 0.7}, line=6),
)
"""In turn: a direct admission, one that needs a person, its alternate, and a redundant one."""


def make_analysis(
    queries: Sequence[QueryFacts] = QUERIES,
    head: str = HEAD,
    problems: Sequence[Problem] = (),
    rows: Sequence[Problem] = (),
    set_changes: Sequence[ChangedEntryFile] = (),
    **more: Any,
) -> Analysis:
    """The facts of a pull request with one eval set of ``queries``."""
    submission = SubmissionFacts(
        about=Submission(customer="acme", agent="desk", folder="eval_sets/acme/desk", problems=tuple(rows)),
        specification=more.pop("specification", "s"),
        queries=tuple(queries),
    )
    judged: dict[str, Any] = {
        "pull_request": 7,
        "base": BASE,
        "head": head,
        "identity": Identity(backend="embedded", model="m1", prompt="p1", samples=5),
        "submissions": (submission,) if queries else (),
        "problems": tuple(problems),
        "set_changes": tuple(set_changes),
        "departing": {},
    }
    work: dict[str, Any] = {"reused": 0, "classified": len(queries), "stopped": None, "usage": None, "abilities": {}}
    defaults: dict[str, Any] = {
        "format": FORMAT,
        "repository": "o/r",
        "at": "2026-11-21T09:00:00Z",
        "held": False,
        "touches": ("eval_sets",),
        "judged": JudgedFacts(**{name: more.pop(name, value) for name, value in judged.items()}),
        "work": ClassifierWork(**{name: more.pop(name, value) for name, value in work.items()}),
    }
    return Analysis(**defaults | more)


def make_releases(entries: Mapping[str, Entry], marks: Mapping[str, str]) -> tuple[ReleaseRecord, ...]:
    """Releases by what each entry did in them, as in ``+-+``: it passed, failed, and passed."""
    counts = {"+": {"passed": 1}, "-": {"failed": 1}}
    return tuple(
        ReleaseRecord(
            release=f"v{place}",
            at=f"2026-01-{place + 1:02}T00:00:00Z",
            entries={
                id: EntryResult(content=content_of(entries[id]), **counts[done[place]])
                for id, done in marks.items()
                if place < len(done)
            },
        )
        for place in range(max(map(len, marks.values())))
    )


def shards_in(ledger: Mapping[str, str]) -> dict[str, str]:
    """Path → git's id of the shards among the files of a ledger."""
    return {path: blob_id(text) for path, text in ledger.items() if is_shard(path)}


def classifications_of(ledger: Mapping[str, str], path: str) -> dict[str, Classification]:
    """What the shards of the file at ``path`` say."""
    snapshot = Overlay(EmptySnapshot(), ledger)
    shards = snapshot.paths(shard_folder(path))
    return {key: item for shard in shards for key, item in load_shard(snapshot, shard).items()}


@dataclass
class Hub:
    """What a pull request on GitHub holds, with a clock that ticks at every write."""

    platform: Platform = field(default_factory=make_platform)
    author: str = "mara"
    association: str = "NONE"
    comments: list[IssueComment] = field(default_factory=list)
    labels: set[str] = field(default_factory=set)
    check: PostCheck | None = None
    ledger: dict[str, str] = field(default_factory=dict)
    commits: int = 0
    now: int = 0
    permissions: dict[str, str] = field(default_factory=lambda: {"mara": "write"})
    elsewhere: dict[int, ThreadComment] = field(default_factory=dict)
    releases: tuple[ReleaseRecord, ...] = ()
    run: str | None = "https://github.example/o/r/actions/runs/1"
    co_authors: CoAuthors = NO_CO_AUTHORS
    changes: tuple[ChangedFile, ...] = ()
    brings: set[str] = field(default_factory=set)

    def tick(self) -> str:
        self.now += 1
        return f"2026-11-21T10:{self.now // 60:02d}:{self.now % 60:02d}Z"

    def say(
        self, author: str, body: str, is_bot: bool = False, kind: CommentKind = "comment", id: int | None = None
    ) -> int:
        """Somebody comments; the id of the comment."""
        moment = self.tick()
        if id is None:
            id = len(self.comments) + 101 if not self.comments else max(item.id for item in self.comments) + 1
        where = None if kind == "comment" else 7
        self.comments.append(
            IssueComment(
                id=id,
                author=author,
                is_bot=is_bot,
                body=body,
                created_at=moment,
                updated_at=moment,
                kind=kind,
                pull_request=where,
            )
        )
        return id

    @property
    def record(self) -> PullRequestRecord | None:
        text = self.ledger.get("pull_requests/7.json")
        if text is None:
            return None
        record = PullRequestRecord.model_validate_json(text, strict=False)
        kept = classifications_of(self.ledger, record_path(7))
        return record.model_copy(update={"classifications": record.classifications | kept})

    def inputs(self, head: str = HEAD) -> PublishInputs:
        check = None
        if self.check is not None and self.check.commit == head:
            check = CheckRun(conclusion=self.check.conclusion, external_id=self.check.external_id)
        return PublishInputs(
            login=BOT,
            pull=PullRequest(
                number=7,
                head=head,
                base="main",
                author=self.author,
                association=self.association,
                labels=tuple(sorted(self.labels)),
            ),
            comments=tuple(self.comments),
            check=check,
            ledger="f" * 40 if self.ledger else None,
            record=self.record,
            shards=shards_in(self.ledger),
            events=self.ledger.get(events_path(7)),
            run=self.run,
            corrections=self.recorded(),
            abilities=self.abilities,
            histories=histories(self.platform.regression_set.entries, self.releases, self.platform.config.results),
            co_authors=self.co_authors,
            changes=self.changes,
        )

    @property
    def abilities(self) -> AbilityRecord:
        text = self.ledger.get(ABILITIES)
        return AbilityRecord() if text is None else AbilityRecord.model_validate_json(text, strict=False)

    def recorded(self) -> RecordedCorrections:
        """What the ledger says of tags, looked up among the comments of the pull request and those ``elsewhere``."""
        text = self.ledger.get(CORRECTIONS)
        if text is None:
            return RecordedCorrections()
        record = CorrectionRecord.model_validate_json(text, strict=False)
        remarks: dict[CommentKey, ThreadComment] = {
            item.key: ThreadComment(number=7, comment=item) for item in self.comments
        }
        remarks.update(self.elsewhere.items())
        lookups = CommentLookup(
            remark=lambda key: remarks.get(key),
            author={7: self.author}.get,
            authority=Authority(
                curators=self.platform.config.curators, permission=lambda login: self.permissions[login]
            ),
            commit_authors=lambda _: self.co_authors.commits(),
            elsewhere=lambda *_: self.brings,
        )
        return look_up(record, set(record.texts), self.platform.taxonomy, lambda: (), lookups)

    def plan(self, analysis: Analysis) -> PublishPlan:
        return plan_review(
            analysis, self.platform, self.inputs(analysis.judged.head), lambda login: self.permissions[login]
        )

    def review(
        self, analysis: Analysis | None = None, until: Callable[[object], bool] = lambda _: False
    ) -> PublishPlan:
        """One run; it dies before the first operation that ``until`` names."""
        plan = self.plan(analysis or make_analysis())
        for operation in plan.operations:
            if until(operation):
                break
            self.apply(operation)
        return plan

    def apply(self, operation: object) -> None:
        match operation:
            case CreateComment(body=body):
                self.say(BOT, body, is_bot=True)
            case EditComment(id=id, body=body):
                moment = self.tick()
                self.comments = [
                    replace(item, body=body, updated_at=moment) if item.key == id else item for item in self.comments
                ]
            case DeleteComment(id=id):
                self.comments = [item for item in self.comments if item.key != id]
            case AddLabels(names=names):
                self.labels |= set(names)
            case RemoveLabel(name=name):
                self.labels.remove(name)
            case PostCheck():
                self.check = operation
            case WriteLedger(files=files):
                self.ledger |= {path: text for path, text in files if text is not None}
                self.commits += 1

    @property
    def ours(self) -> list[str]:
        """The bodies of our comments, oldest first."""
        return [item.body for item in self.comments if item.author == BOT]

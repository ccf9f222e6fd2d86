"""Pull request 7 once it was merged: runs that admit what it brought, until nothing is left to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from incumbent.curator import file_changes as changes
from incumbent.curator.entry import Evicted, Tombstone
from incumbent.curator.store import entry_path
from incumbent.github.facts import QueryFacts
from incumbent.github.models import CreateComment, EditComment, PullRequest, PushCommits, WriteLedger
from incumbent.ledger.model import (
    FOLDER,
    FOLDER_RECORDS,
    RECONCILED,
    FolderRecord,
    PullRequestRecord,
    Reconciled,
    Request,
)
from incumbent.pipeline.review import Platform, unsettled
from incumbent.reconcile.admission_plan import AdmissionWrites, plan_admissions
from incumbent.reconcile.inventory import Inventory, MergeFacts
from incumbent.reconcile.merged_submissions import AdmissionInputs, MergedSubmission, cases_of
from tests.factories import make_entry
from tests.github.scenes import BOT, QUERIES, Hub, classifications_of, make_analysis, make_query, shards_in
from tests.reconcile.merges import MERGE, MERGED_AT, TIP, facts, make_inventory, make_pull, merge_of, settled, written

NEW = make_query("q01", {"d": 0.9}, line=3)
OTHER = make_query("q02", {"e": 0.9}, line=4)


GRAVE = Tombstone(
    id="gone",
    evicted=Evicted(reason="x", grounds={"digest": "abc"}),
    restore="incumbent restore gone",
    entry=make_entry("gone", {"e": 0.9}),
)
"""An entry that was evicted on grounds that it remembers."""
ASKED = Request(entry="gone", action="restore", by="cora", comment=101, said="0" * 24)
"""A curator wants it back."""


@dataclass
class After:
    """The default branch after a merge; ``hub`` has the pull request's comments and labels, and the ledger.

    ``others`` are further merges, ``found`` maps them to pull requests; ``more`` is put into the scene, ``stated`` into
    the inventory.
    """

    hub: Hub = field(default_factory=Hub)
    queries: tuple[QueryFacts, ...] = QUERIES
    merged: tuple[QueryFacts, ...] | None = None
    pull: bool = True
    before: tuple[MergeFacts, ...] = ()
    found: dict[str, PullRequest] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    stated: dict[str, Any] = field(default_factory=dict)
    again: tuple[MergedSubmission, ...] = ()
    messages: list[str] = field(default_factory=list)
    files: dict[str, str | None] = field(default_factory=dict)

    def seen(self) -> After:
        """The review before the merge, so that people see what it says."""
        self.hub.review(make_analysis(self.queries))
        return self

    @property
    def platform(self) -> Platform:
        return self.hub.platform

    @property
    def inventory(self) -> Inventory:
        bare = facts(*self.queries)
        outside = {query.id for query in unsettled(self.platform, bare.submission)}
        known = [query if query.query.id in outside else settled(query) for query in self.queries]
        mine = merge_of(*(self.queries if self.merged is None else self.merged))
        return make_inventory(facts(*known), merges=[*self.before, mine], **self.stated)

    @property
    def reconciled(self) -> Reconciled | None:
        text = self.hub.ledger.get(RECONCILED)
        if text is None:
            return None
        found = Reconciled.model_validate_json(text, strict=False)
        assert not found.left
        left = {entry: item for record in self.folders.values() for entry, item in record.left.items()}
        return found.model_copy(update={"left": left})

    @property
    def folders(self) -> Mapping[str, FolderRecord]:
        texts = {path: text for path, text in self.hub.ledger.items() if path.startswith(f"{FOLDER_RECORDS}/")}
        found = {path: FolderRecord.model_validate_json(text, strict=False) for path, text in texts.items()}
        kept = {path: classifications_of(self.hub.ledger, path) for path in found}
        return {path: item.model_copy(update={"classifications": kept[path]}) for path, item in found.items()}

    @property
    def records(self) -> Mapping[int, PullRequestRecord]:
        texts = [text for path, text in self.hub.ledger.items() if path.startswith(f"{FOLDER}/")]
        found = [PullRequestRecord.model_validate_json(text, strict=False) for text in texts]
        return {item.pull_request: item for item in found}

    @property
    def fresh(self) -> tuple[MergeFacts, ...]:
        known = self.reconciled
        return () if known is not None and known.commit == TIP else self.inventory.merges

    @property
    def cases(self) -> tuple[MergedSubmission, ...]:
        mine = {MERGE: make_pull(labels=tuple(sorted(self.hub.labels)))} if self.pull else {}
        known = {} if self.hub.record is None else self.hub.record.classifications
        found = cases_of(self.inventory, self.fresh, {**mine, **self.found}, self.records)
        return (*(replace(case, reviewed=known) for case in found), *self.again)

    @property
    def inputs(self) -> AdmissionInputs:
        defaults: dict[str, Any] = {
            "login": BOT,
            "branch": "main",
            "commit": TIP,
            "comments": {7: tuple(self.hub.comments)},
            "ended": (),
            "ledger": "f" * 40,
            "rejections": (),
            "reconciled": self.reconciled,
            "folders": self.folders,
            "shards": shards_in(self.hub.ledger),
            "fresh": bool(self.fresh),
            "ledger_files": dict(self.hub.ledger),
            "permission": self.hub.permissions.__getitem__,
            "merged_by": lambda number: ("cora", MERGED_AT),
            "texts": self._text,
            "run": None,
            "abilities": self.hub.abilities,
        }
        return AdmissionInputs(**defaults | self.more)

    def _text(self, path: str) -> str:
        known = {entry_path(id): entry for id, entry in self.platform.regression_set.entries.items()}
        return self.files.get(path) or f"# kept by hand\n{changes.render(known[path])}"

    def plan(self) -> AdmissionWrites:
        return plan_admissions(self.inventory, self.cases, self.platform, self.inputs)

    def step(self) -> AdmissionWrites:
        """Plan once, and write what is to be written now."""
        plan = self.plan()
        for _, operation in plan.next:
            match operation:
                case PushCommits(commits=commits):
                    for made in commits:
                        self.messages.append(made.message)
                        self.files |= dict(made.files)
                        self.hub.platform = written(self.platform, made.files)
                case WriteLedger(files=files):
                    self.hub.apply(operation)
                    for path in [path for path, text in files if text is None]:
                        self.hub.ledger.pop(path, None)
                case _:
                    self.hub.apply(operation)
        return plan

    def run(self) -> list[AdmissionWrites]:
        """Plan and write until nothing is left to do."""
        plans = []
        while self.plan().next:
            plans.append(self.step())
            assert len(plans) < 5, "it never comes to its end"
        return plans

    @property
    def comment(self) -> str:
        """What our comment on the pull request says."""
        (first, *_) = self.hub.ours
        return first


def said(plan: AdmissionWrites) -> list[str]:
    """The bodies of comments that a plan writes."""
    operations = [item for _, items in plan.spoken for item in items]
    return [item.body for item in operations if isinstance(item, CreateComment | EditComment)]


def after(*queries: QueryFacts, hub: Hub | None = None) -> After:
    """Pull request 7, which brought ``queries``, or those of the scenes where none are named."""
    return After(queries=queries or QUERIES, hub=hub or Hub())

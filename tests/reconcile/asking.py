"""Threads on which people ask something of entries, and what was noted of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from incumbent.curator.entry import Entry, Evicted, Tombstone
from incumbent.curator.store import RegressionSet
from incumbent.github.authority import Authority
from incumbent.github.decisions import CommentLookup
from incumbent.github.models import CreateComment, IssueComment, Operation, React, ThreadComment, WriteLedger
from incumbent.ledger.model import REQUESTS, Request, RequestRecord
from incumbent.reconcile.requests import RequestInputs, plan_requests
from incumbent.report.task_list import Task
from incumbent.text.digests import digest
from tests.factories import make_entry, make_taxonomy
from tests.reconcile.merges import BOT, make_comment, source

START = "2026-11-20T00:00:00Z"
LATER = "2026-11-24T00:00:00Z"
X = make_entry("x", {"a": 0.9}, source=source("q1", pull_request=7))
W = make_entry("w", {"a": 0.8}, source=source("q2", pull_request=7))
GONE = make_entry("gone", {"b": 0.9}, source=source("q3", pull_request=8))
LOCAL = make_entry("local", {"b": 0.9})
DASHBOARD = 50


def buried(entry: Entry) -> Tombstone:
    return Tombstone(id=entry.id, evicted=Evicted(reason="x"), restore="x", entry=entry)


KNOWN = RegressionSet({"x": X, "local": LOCAL}, {"w": W}, {"gone": buried(GONE)})


class RequestPlan(NamedTuple):
    """What is written, and what stands."""

    operations: tuple[tuple[int | None, Operation], ...]
    stand: tuple[Request, ...]


@dataclass
class Threads:
    """Comments on threads, and what was noted of them."""

    comments: dict[int, list[IssueComment]] = field(default_factory=dict)
    record: RequestRecord | None = None
    reviewed: frozenset[int] = frozenset()
    suggested: dict[int, dict[str, str]] = field(default_factory=dict)
    listed: tuple[Task, ...] = ()
    known: RegressionSet = KNOWN
    curators: tuple[str, ...] = ("cora", "mara")
    more: dict[str, Any] = field(default_factory=dict)

    def say(self, number: int, author: str, body: str, id: int | None = None, **more: Any) -> int:
        ids = [item.id for items in self.comments.values() for item in items]
        id = id or max(ids, default=100) + 1
        self.comments.setdefault(number, []).append(make_comment(id, author, body, **more))
        return id

    @property
    def inputs(self) -> RequestInputs:
        remarks = [
            ThreadComment(number=number, comment=item) for number, items in self.comments.items() for item in items
        ]
        defaults: dict[str, Any] = {
            "login": BOT,
            "known": self.known,
            "taxonomy": make_taxonomy(*"abcdefgh"),
            "at": START,
            "record": self.record,
            "remarks": tuple(sorted(remarks, key=lambda item: item.comment.id)),
            "reviewed": lambda: self.reviewed,
            "lookups": CommentLookup(
                remark=lambda id: next((item for item in remarks if item.comment.id == id), None),
                author={7: "mara", 8: "nils"}.__getitem__,
                authority=Authority(curators=self.curators, permission=dict[str, str]().__getitem__),
            ),
            "thread": lambda number: tuple(self.comments.get(number, ())),
            "suggested": lambda: self.suggested,
            "listed": lambda: self.listed,
            "refusals": {6},
            "by_hand": False,
            "ledger": "f" * 40,
        }
        return RequestInputs(**defaults | self.more)

    def plan(self) -> RequestPlan:
        """One run, whose answers and notes are written."""
        plan = RequestPlan(*plan_requests(self.inputs))
        for number, operation in plan.operations:
            if isinstance(operation, CreateComment):
                assert number is not None
                self.say(number, BOT, operation.body)
            elif isinstance(operation, WriteLedger):
                self.record = RequestRecord.model_validate_json(dict(operation.files)[REQUESTS] or "", strict=False)
        return plan


def reactions(plan: RequestPlan) -> list[tuple[int | None, int, str]]:
    return [(number, item.comment, item.reaction) for number, item in plan.operations if isinstance(item, React)]


def answers(plan: RequestPlan) -> list[str]:
    return [item.body for _, item in plan.operations if isinstance(item, CreateComment)]


def request_of(entry: str, action: str, body: str, by: str = "cora", comment: int = 101) -> Request:
    data = {"entry": entry, "action": action, "by": by, "comment": comment, "said": digest(body)}
    return Request.model_validate(data)

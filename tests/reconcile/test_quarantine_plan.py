"""Offers of quarantine as pull requests: opened, kept true, merged, refused, closed, and what is remembered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import yaml

from incumbent.curator.entry import Entry
from incumbent.curator.file_changes import render
from incumbent.curator.store import RegressionSet, entry_path
from incumbent.files.git import blob_id
from incumbent.files.snapshot import EmptySnapshot, Overlay
from incumbent.github.managed_pull_request import Branch, PullRequestState
from incumbent.github.models import (
    AddLabels,
    CheckRun,
    ClosePullRequest,
    CreateComment,
    DeleteBranch,
    EditDescription,
    OpenPullRequest,
    Operation,
    PostCheck,
    PullRequest,
    PushBranch,
    WriteLedger,
)
from incumbent.ledger.model import QUARANTINES, QuarantineRecord, Refusal
from incumbent.ledger.releases.history import histories
from incumbent.ledger.releases.quarantine import FLAPS
from incumbent.pipeline.review import Platform
from incumbent.reconcile.quarantine_plan import (
    QUARANTINE,
    QuarantineInputs,
    QuarantineStatus,
    desired_quarantines,
    is_quarantine,
    plan_quarantines,
)
from incumbent.reconcile.suggestion_pull_requests import LABEL
from incumbent.report.pull_request_bodies import was_closed_by_us
from incumbent.taxonomy.config import ResultSettings
from tests.factories import make_config, make_entry, make_taxonomy
from tests.github.hostile import FEW
from tests.github.test_hostile_text import dead
from tests.reconcile.merges import BOT, TIP, commit, make_pull
from tests.results.test_quarantine import records_of

ENTRIES = {id: make_entry(id, {"a": 0.9}) for id in ("one", "two")}
RESULTS = ResultSettings(window=20, flips=3, mixed=1, stable=4, prior_releases=4.0, defect_rate=0.05)
CLOSED_AT = "2026-01-04T12:00:00Z"
"""After v3."""


@dataclass
class Offering:
    """GitHub, as far as quarantine is concerned; ``step`` lets a plan take effect."""

    marks: Mapping[str, str] = field(default_factory=lambda: {"one": "+-+-"})
    entries: dict[str, Entry] = field(default_factory=lambda: dict(ENTRIES))
    limit: int = 2
    open: list[PullRequest] = field(default_factory=list)
    closed: list[PullRequest] = field(default_factory=list)
    branches: dict[str, Branch] = field(default_factory=dict)
    checks: dict[str, CheckRun] = field(default_factory=dict)
    elsewhere: dict[int, PullRequest] = field(default_factory=dict)
    record: QuarantineRecord = field(default_factory=QuarantineRecord)
    closer: str = "dan"
    barred: frozenset[str] = frozenset()
    asked: list[int] = field(default_factory=list)
    planned: tuple[QuarantineStatus, ...] = ()
    commits: int = 0
    number: int = 20

    @property
    def platform(self) -> Platform:
        config = make_config()
        limits = config.limits.model_copy(update={"open_quarantines": self.limit})
        config = config.model_copy(update={"limits": limits, "results": RESULTS})
        known = RegressionSet(self.entries, {}, {})
        return Platform(taxonomy=make_taxonomy("a"), config=config, regression_set=known)

    @property
    def inputs(self) -> QuarantineInputs:
        records = records_of(self.marks, ENTRIES)
        return QuarantineInputs(
            github=PullRequestState(
                login=BOT,
                default_branch="main",
                base=TIP,
                open=tuple(self.open),
                closed=tuple(self.closed),
                branches=self.branches,
                closed_by=self.closed_by,
                check=self.checks.get,
                comments=lambda number: (),
                author_of=lambda commit: "dan",
                barred=self.barred,
            ),
            records=records,
            histories=histories(self.entries, records, RESULTS),
            record=self.record,
            ledger="f" * 40,
            pull_request=self.pull_request,
            texts=lambda path: next(render(item) for id, item in self.entries.items() if entry_path(id) == path),
        )

    def closed_by(self, pull: PullRequest) -> tuple[str, str]:
        self.asked.append(pull.number)
        return self.closer, CLOSED_AT

    def pull_request(self, number: int) -> PullRequest | None:
        self.asked.append(number)
        return self.elsewhere.get(number)

    def plan(self) -> list[tuple[int | None, Operation]]:
        desired = desired_quarantines(self.platform, self.inputs)
        writes, self.planned = plan_quarantines(desired, self.platform, self.inputs)
        return [*writes]

    def step(self) -> list[Operation]:
        plan = self.plan()
        for number, item in plan:
            match item:
                case PushBranch(branch=branch, files=files):
                    self.commits += 1
                    self.branches[branch] = Branch(
                        commit=commit(self.commits),
                        blobs={path: blob_id(text or "") for path, text in files},
                        has_base=True,
                    )
                    self.change(branch, head=commit(self.commits))
                case OpenPullRequest(branch=branch, title=title, body=body):
                    head = self.branches[branch].commit
                    self.open.append(pull_from(branch, self.number, title=title, body=body, head=head))
                    self.number += 1
                case EditDescription(body=body):
                    self.change(number, body=body)
                case AddLabels(names=names):
                    self.change(number, labels=names)
                case PostCheck(commit=checked, conclusion=conclusion, external_id=external):
                    self.checks[checked] = CheckRun(conclusion=conclusion, external_id=external)
                case ClosePullRequest(body=body):
                    self.end(number, body=body)
                case DeleteBranch(branch=branch):
                    del self.branches[branch]
                case WriteLedger(files=written):
                    text = dict(written)[QUARANTINES]
                    self.record = QuarantineRecord.model_validate_json(text or "", strict=False)
                case CreateComment():
                    pass
                case _:
                    raise AssertionError(item)
        return [item for _, item in plan]

    def settle(self) -> list[Operation]:
        """Step until nothing is left to do; all that was done."""
        found = list[Operation]()
        for _ in range(6):
            done = self.step()
            found += done
            if not done:
                return found
        raise AssertionError(found)

    def change(self, which: int | str | None, **more: Any) -> None:
        self.open = [replace(item, **more) if which in (item.number, item.branch) else item for item in self.open]

    def end(self, number: int | None, **more: Any) -> None:
        (pull,) = [item for item in self.open if item.number == number]
        self.open.remove(pull)
        ended: dict[str, Any] = {"closed": True, "closed_at": CLOSED_AT} | more
        self.closed.append(replace(pull, **ended))

    def merge(self) -> None:
        (pull,) = self.open
        ends = pull.title.startswith("End")
        self.entries["one"] = self.entries["one"].model_copy(update={"quarantined": None if ends else FLAPS})
        self.end(pull.number, merge=commit(99))
        # What is merged differs from the default branch no more.
        self.branches[pull.branch or ""] = replace(self.branches[pull.branch or ""], blobs={})


def pull_from(branch: str, number: int = 20, **more: Any) -> PullRequest:
    defaults: dict[str, Any] = {"branch": branch, "author": BOT, "closed": False, "merge": None}
    return make_pull(number, **defaults | more)


def kinds(plan: list[Operation]) -> list[type[Operation]]:
    return [type(item) for item in plan]


def test_what_flaps_is_offered_noted_and_then_left_alone() -> None:
    world = Offering()
    push, opened = world.step()
    assert isinstance(push, PushBranch)
    assert isinstance(opened, OpenPullRequest)
    assert push.branch == opened.branch
    assert push.branch.startswith(f"{QUARANTINE}one-")
    assert is_quarantine(push.branch)
    ((path, text),) = push.files
    assert path == "regression_set/one.yaml"
    assert yaml.safe_load(text or "") == yaml.safe_load(render(ENTRIES["one"])) | {"quarantined": FLAPS}
    assert (opened.title, opened.draft) == ("Quarantine one: it flaps", False)
    assert kinds(world.step()) == [AddLabels, PostCheck, WriteLedger]
    (pull,) = world.open
    assert pull.labels == (LABEL,)
    assert world.record == QuarantineRecord(heads={push.branch: world.branches[push.branch].commit})
    assert world.settle() == []
    assert [(item.offer.entry.id, item.planned.action, item.planned.number) for item in world.planned] == [
        ("one", "keep", 20)
    ]


def test_a_release_changes_the_words_and_asks_nothing_anew() -> None:
    world = Offering()
    world.settle()
    before = world.open[0]
    world.marks = {"one": "+-+-+"}
    assert kinds(world.settle()) == [EditDescription]
    (after,) = world.open
    assert (after.number, after.branch, after.head) == (before.number, before.branch, before.head)
    assert "| `v4` | 1 | 0 | changed |" in after.body


def test_the_entry_changes_beside_its_quarantine() -> None:
    world = Offering()
    world.settle()
    world.entries["one"] = world.entries["one"].model_copy(update={"pin": "an audit"})
    assert kinds(world.settle()) == [PushBranch, WriteLedger, PostCheck, WriteLedger]


def test_once_merged_its_end_is_offered_when_it_is_stable_and_then_nothing() -> None:
    world = Offering()
    world.settle()
    world.merge()
    assert kinds(world.settle()) == [WriteLedger]
    assert world.record == QuarantineRecord()
    world.marks = {"one": "+-+-+++"}
    assert world.settle() == []
    world.marks = {"one": "+-+-++++"}
    push, opened, *_ = world.settle()
    assert isinstance(push, PushBranch)
    assert push.files == (("regression_set/one.yaml", render(ENTRIES["one"])),)
    assert isinstance(opened, OpenPullRequest)
    assert opened.title == "End the quarantine of one: it is stable"
    world.merge()
    assert kinds(world.settle()) == [WriteLedger]
    assert world.entries == ENTRIES
    # It flaps anew.
    world.marks = {"one": "+-+-++++-"}
    assert kinds(world.settle())[:2] == [PushBranch, OpenPullRequest]


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "of long ago"])
def test_a_refusal_holds_until_later_releases_alone_show_the_same(listed: bool) -> None:
    world = Offering()
    world.settle()
    branch = world.open[0].branch or ""
    world.end(20)
    assert kinds(world.settle()) == [WriteLedger]
    assert world.record == QuarantineRecord(refusals=(Refusal(pull_request=20, branch=branch),))
    if not listed:
        world.elsewhere[20] = world.closed.pop()
    world.asked.clear()
    for marks in ("+-+-", "+-+-+", "+-+-+-+"):
        world.marks = {"one": marks}
        assert world.settle() == []
    assert (20 in world.asked) == (not listed), "what GitHub lists and the ledger knows is not looked up again"
    world.marks = {"one": "+-+-+-+-"}
    push, opened, *_ = world.settle()
    assert isinstance(push, PushBranch)
    assert push.branch != branch
    assert isinstance(opened, OpenPullRequest)
    assert "`v4`" in opened.body
    assert "`v3`" not in opened.body, "what was refused is no ground any more"
    world.end(21)
    assert kinds(world.settle()) == [WriteLedger]
    assert len({item.branch for item in world.record.refusals}) == 2


def test_refused_to_end_it_stays_quarantined_until_as_many_releases_more() -> None:
    world = Offering(marks={"one": "++++"})
    world.entries["one"] = ENTRIES["one"].model_copy(update={"quarantined": FLAPS})
    world.settle()
    world.end(20)
    world.settle()
    world.marks = {"one": "+" * 7}
    assert world.settle() == []
    world.marks = {"one": "+" * 8}
    assert kinds(world.settle())[:2] == [PushBranch, OpenPullRequest]


def test_a_refusal_that_is_reopened_is_offered_still() -> None:
    world = Offering()
    world.settle()
    world.end(20)
    world.settle()
    (pull,) = world.closed
    world.closed, world.open = [], [replace(pull, closed=False, closed_at=None)]
    world.settle()
    assert world.record.refusals == ()
    assert list(world.record.heads) == [pull.branch]
    assert [item.planned.action for item in world.planned] == ["keep"]


@pytest.mark.parametrize(
    "pull",
    [
        None,
        pull_from("incumbent/quarantine/one-0123456789abcdef", closed=False),
        pull_from("incumbent/quarantine/one-0123456789abcdef", closed=True, merge=commit(3), closed_at=CLOSED_AT),
        pull_from("incumbent/quarantine/two-0123456789abcdef", closed=True, closed_at=CLOSED_AT),
        pull_from("incumbent/evict/one-0123456789abcdef", closed=True, closed_at=CLOSED_AT),
        pull_from("incumbent/quarantine/one-0123456789abcdef", closed=True, closed_at=None),
    ],
)
def test_a_refusal_that_nobody_gave_holds_nothing_back(pull: PullRequest | None) -> None:
    forged = Refusal(pull_request=20, branch="incumbent/quarantine/one-0123456789abcdef")
    world = Offering(record=QuarantineRecord(refusals=(forged,)), elsewhere={} if pull is None else {20: pull})
    assert kinds(world.step()) == [PushBranch, OpenPullRequest, WriteLedger]
    assert world.record.refusals == ()


def test_what_is_remembered_is_of_entries_of_the_set_and_costs_no_call_while_nothing_is_offered() -> None:
    refusals = tuple(
        Refusal(pull_request=number, branch=f"{QUARANTINE}{id}-0123456789abcdef")
        for number, id in ((3, "one"), (4, "gone"))
    )
    other = Refusal(pull_request=5, branch="x")
    world = Offering(marks={"one": "+++"}, record=QuarantineRecord(refusals=(*refusals, other)))
    world.settle()
    assert world.record.refusals == refusals[:1]
    assert world.asked == []


def test_what_a_bot_closed_is_no_refusal() -> None:
    world = Offering(closer="stale[bot]")
    world.settle()
    world.end(20)
    assert kinds(world.settle())[0] is OpenPullRequest


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"marks": {"one": "+-+-++++"}}, "what release runs show of it"),
        ({"entries": {"two": ENTRIES["two"]}}, "is not in the regression set any more"),
        ({"entries": {"one": ENTRIES["one"].model_copy(update={"quarantined": "a person's"})}}, "Whether `one` is"),
        ({"entries": {"one": ENTRIES["one"].model_copy(update={"turns": ("another",)})}}, "or its text"),
    ],
)
def test_what_is_moot_is_closed_with_the_reason_and_is_no_refusal(change: dict[str, Any], why: str) -> None:
    world = Offering()
    world.settle()
    for name, value in change.items():
        setattr(world, name, value)
    told, closed, deleted, _ = world.step()
    assert isinstance(told, CreateComment)
    assert why in told.body
    assert isinstance(closed, ClosePullRequest)
    assert isinstance(deleted, DeleteBranch)
    assert was_closed_by_us(world.closed[0].body)
    assert world.record == QuarantineRecord()
    assert world.settle() == []


def test_only_so_many_are_open_and_those_that_could_end_come_first() -> None:
    world = Offering(marks={"one": "+-+-", "two": "++++"}, limit=1)
    world.entries["two"] = ENTRIES["two"].model_copy(update={"quarantined": FLAPS})
    world.settle()
    assert [pull.title for pull in world.open] == ["End the quarantine of two: it is stable"]
    assert [(item.offer.entry.id, item.planned.action) for item in world.planned] == [("two", "keep"), ("one", "wait")]


def test_where_we_may_open_none_the_branch_is_there_for_people() -> None:
    world = Offering()
    push = world.plan()[0][1]
    assert isinstance(push, PushBranch)
    world.barred = frozenset({push.branch})
    world.settle()
    assert world.open == []
    assert [item.planned.action for item in world.planned] == ["barred"]
    assert list(world.record.heads) == [push.branch]


def test_a_branch_with_commits_of_people_is_left_and_checked() -> None:
    world = Offering()
    world.settle()
    branch = world.open[0].branch or ""
    files = {"regression_set/one.yaml": "theirs", "regression_set/two.yaml": "too much"}
    theirs = Branch(commit=commit(50), blobs={path: blob_id(text) for path, text in files.items()}, has_base=True)
    world.branches[branch] = theirs
    world.change(20, head=commit(50))
    assert kinds(world.settle()) == [PostCheck, WriteLedger]
    assert world.checks[commit(50)].conclusion == "failure"


@pytest.mark.parametrize(
    ("branch", "found"),
    [
        ("incumbent/quarantine/one-0123456789abcdef", True),
        ("incumbent/quarantine/one-0123456789abcde", False),
        ("incumbent/quarantine/a/b-0123456789abcdef", False),
        ("incumbent/evict/one-0123456789abcdef", False),
        (None, False),
    ],
)
def test_a_branch_of_ours_is_known_by_its_name(branch: str | None, found: bool) -> None:
    assert is_quarantine(branch) == found


# The description -----------------------------------------------------------------------------------------------------


def body(world: Offering) -> str:
    world.settle()
    return world.open[0].body


def test_the_description_has_the_releases_as_grounds() -> None:
    text = body(Offering(marks={"one": "+-.~+-", "two": "++++.-"}))
    assert "Incumbent suggests to quarantine `one`: it failed in 3 of 5 releases, 3 changes between passing" in text
    rows = [line for line in text.splitlines() if line.startswith("| `v")]
    assert rows == [
        "| `v5` | 0 | 1 | changed | 1 of 1 |",
        "| `v4` | 1 | 0 | changed | – |",
        "| `v3` | 1 | 1 | runs disagree | 0 of 1 |",
        "| `v1` | 0 | 1 | changed | 0 of 1 |",
        "| `v0` | 1 | 0 |  | 0 of 1 |",
    ]
    assert 'incumbent quarantine one --reason "it flaps in release runs"' in text
    assert "WARNING" not in text, "two covers it, too"


def test_the_only_exported_entry_of_a_capability_is_warned_of() -> None:
    entries = {"one": ENTRIES["one"], "two": ENTRIES["two"].model_copy(update={"quarantined": "a person's"})}
    assert "> [!WARNING]\n> No other exported entry covers *A*." in body(Offering(entries=entries))


@pytest.mark.parametrize(("marks", "ended"), [("+-++++", "passed"), ("+-+----", "failed")])
def test_the_end_of_a_quarantine_says_how_the_releases_ended(marks: str, ended: str) -> None:
    entries = {"one": ENTRIES["one"].model_copy(update={"quarantined": FLAPS})}
    text = body(Offering(marks={"one": marks}, entries=entries))
    assert f"to end the quarantine of `one`: it {ended} in each of the last 4 releases in which it ran." in text
    assert ("it would fail until the agent or its expectation is fixed" in text) == (ended == "failed")
    assert "`incumbent quarantine one --end`" in text


@pytest.mark.untraced
@pytest.mark.parametrize("name", FEW)
def test_no_text_of_an_entry_and_no_name_of_a_release_comes_alive(name: str) -> None:
    said = FEW[name].encode("utf-8", "replace").decode().strip() or "x"
    world = Offering(entries={"one": make_entry("one", {"a": 0.9}, said)})
    records = records_of({"one": "+-+-"}, world.entries)
    hostile = tuple(record.model_copy(update={"release": f"{said} {place}"}) for place, record in enumerate(records))
    known = histories(world.entries, hostile, RESULTS)
    inputs = replace(world.inputs, records=hostile, histories=known)
    (found,) = desired_quarantines(world.platform, inputs).wanted
    dead(found.body.partition("\n")[2], None)


def test_what_is_offered_can_be_read_again() -> None:
    world = Offering()
    push = world.plan()[0][1]
    assert isinstance(push, PushBranch)
    assert Overlay(EmptySnapshot(), dict(push.files)).exists("regression_set/one.yaml")

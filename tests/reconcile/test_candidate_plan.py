"""Candidates as draft pull requests: raised once, kept labelled and checked, and known by their core from then on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from incumbent.extension.model import DistinctiveTrait, DraftExemplar, ExtensionCandidate, Signal, Trait
from incumbent.files.git import blob_id
from incumbent.files.snapshot import EmptySnapshot, Overlay
from incumbent.files.validation import Checked, FileModel
from incumbent.github.managed_pull_request import Branch, PullRequestState
from incumbent.github.models import (
    AddLabels,
    CheckRun,
    OpenPullRequest,
    Operation,
    PostCheck,
    PullRequest,
    PushBranch,
    WriteLedger,
)
from incumbent.ledger.model import CANDIDATES, CandidateRecord
from incumbent.reconcile.candidate_plan import LABEL, branch_of, is_candidate, plan_candidates
from incumbent.report.candidates import render_candidate
from incumbent.taxonomy.config import ExtensionSettings
from incumbent.taxonomy.loading import TAXONOMY_FILE, load_taxonomy
from tests.extension.builders import make_candidate, make_taxonomy
from tests.reconcile.merges import BOT, TIP, commit, make_pull


class Written(FileModel):
    candidate: Checked[ExtensionCandidate]


HEAD = commit(9)
EXEMPLARS = {"capabilities": {"__all__": {"exemplars"}}}
ONE = make_candidate()
OTHER = make_candidate(id="deeds.hop", core=("1" * 24,), members=(ONE.members[0].__class__(
    id="c/a/2", customer="c", turns=("hop",), digest="1" * 24, signals=()
),))  # fmt: skip


@dataclass
class Raising:
    """GitHub, as far as candidates are concerned; ``step`` lets a plan take effect."""

    found: tuple[ExtensionCandidate, ...] = (ONE,)
    most: int = 2
    open: list[PullRequest] = field(default_factory=list)
    closed: list[PullRequest] = field(default_factory=list)
    branches: dict[str, Branch] = field(default_factory=dict)
    checks: dict[str, CheckRun | None] = field(default_factory=dict)
    record: CandidateRecord = field(default_factory=CandidateRecord)
    taxonomy: dict[str, str] = field(default_factory=lambda: {TAXONOMY_FILE: taxonomy_text()})
    barred: frozenset[str] = frozenset()
    closer: str = "cora"
    asked: list[int] = field(default_factory=list)

    @property
    def github(self) -> PullRequestState:
        return PullRequestState(
            login=BOT,
            default_branch="main",
            base=TIP,
            open=tuple(self.open),
            closed=tuple(self.closed),
            branches=self.branches,
            closed_by=self.closed_by,
            check=self.checks.get,
            comments=lambda number: (),
            author_of=lambda commit: "cora",
            barred=self.barred,
        )

    def closed_by(self, pull: PullRequest) -> tuple[str, str]:
        self.asked.append(pull.number)
        return self.closer, "2026-11-22T10:00:00Z"

    def plan(self) -> list[Operation]:
        settings = ExtensionSettings(open_candidates=self.most, core_overlap=0.6)
        writes = plan_candidates(self.found, settings, self.github, self.record, self.taxonomy, "f" * 40)
        return [item for _, item in writes]

    def step(self) -> list[Operation]:
        plan = self.plan()
        for item in plan:
            match item:
                case PushBranch(branch=branch, files=files):
                    self.branches[branch] = holding(dict(files))
                case OpenPullRequest(branch=branch):
                    self.open.append(pull_from(branch, 20 + len(self.open)))
                    self.checks[HEAD] = None
                case AddLabels(names=names):
                    self.open = [pull_from(each.branch or "", each.number, labels=names) for each in self.open]
                case PostCheck(conclusion=conclusion, external_id=external):
                    self.checks[HEAD] = CheckRun(conclusion=conclusion, external_id=external)
                case WriteLedger(files=files):
                    self.record = CandidateRecord.model_validate_json(dict(files)[CANDIDATES] or "", strict=False)
                case _:
                    raise AssertionError(item)
        return plan


def taxonomy_text() -> str:
    return yaml.safe_dump(make_taxonomy().model_dump(mode="json", exclude_none=True), sort_keys=False)


def holding(files: Mapping[str, str | None]) -> Branch:
    return Branch(commit=HEAD, blobs={path: blob_id(text or "") for path, text in files.items()}, has_base=True)


def drafted() -> Branch:
    """The branch as we push it."""
    push = Raising().plan()[0]
    assert isinstance(push, PushBranch)
    return holding(dict(push.files))


def pull_from(branch: str, number: int = 20, **more: Any) -> PullRequest:
    defaults: dict[str, Any] = {"head": HEAD, "branch": branch, "author": BOT, "closed": False, "merge": None}
    return make_pull(number, **{"labels": ()} | defaults | more)


def kinds(plan: list[Operation]) -> list[type[Operation]]:
    return [type(item) for item in plan]


def test_a_candidate_is_pushed_opened_noted_and_then_left_alone() -> None:
    world = Raising()
    first = world.step()
    assert kinds(first) == [PushBranch, OpenPullRequest]
    push, opened = first[0], first[1]
    assert isinstance(push, PushBranch)
    assert isinstance(opened, OpenPullRequest)
    assert opened.draft
    assert push.branch == opened.branch == branch_of(ONE)
    assert kinds(world.step()) == [AddLabels, PostCheck, WriteLedger]
    assert world.record.raised == {branch_of(ONE): ONE.core}
    assert world.record.heads == {branch_of(ONE): HEAD}
    assert world.open[0].labels == (LABEL,)
    assert world.step() == []


def test_what_somebody_pushed_is_checked_by_the_review_alone() -> None:
    world = Raising()
    world.step()
    other = commit(8)
    world.open = [pull_from(branch_of(ONE), head=other)]
    world.checks[other] = None
    world.branches[branch_of(ONE)] = Branch(commit=other, blobs={TAXONOMY_FILE: "x"}, has_base=True)
    assert kinds(world.step()) == [AddLabels, WriteLedger]
    assert world.record.heads == {}
    assert world.step() == []


def test_a_branch_of_that_name_with_something_else_is_not_offered() -> None:
    assert Raising(branches={branch_of(ONE): holding({TAXONOMY_FILE: "version: 9"})}).plan() == []


@pytest.mark.untraced
def test_one_that_waits_keeps_back_no_other_with_the_same_core() -> None:
    grown = make_candidate(core=("2" * 24,), members=(*ONE.members, *OTHER.members))
    assert [item.branch for item in Raising(found=(ONE, grown)).plan() if isinstance(item, OpenPullRequest)] == [
        branch_of(ONE)
    ]
    world = Raising(found=(ONE, grown), branches={branch_of(ONE): holding({TAXONOMY_FILE: "version: 9"})})
    assert [item.branch for item in world.step() if isinstance(item, OpenPullRequest)] == [branch_of(grown)]
    assert kinds(world.step()) == [AddLabels, PostCheck, WriteLedger]
    assert world.step() == []


def test_whatever_a_candidate_is_called_its_core_names_the_branch() -> None:
    assert branch_of(make_candidate(id="deeds.other", name="Other")) == branch_of(ONE)


def test_a_candidate_is_known_by_its_branch() -> None:
    assert is_candidate(branch_of(ONE))
    assert not is_candidate("incumbent/evict/x-0123456789abcdef")
    assert not is_candidate(None)


def test_what_is_pushed_is_a_taxonomy_of_one_capability_more() -> None:
    push = Raising().plan()[0]
    assert isinstance(push, PushBranch)
    taxonomy = load_taxonomy(Overlay(EmptySnapshot(), dict(push.files)))
    assert push.files[0][0] == TAXONOMY_FILE
    assert taxonomy.version == "1.3.0"
    assert taxonomy.by_id["deeds.zigzag"].exemplars.positive == ("zigzag",)


def test_beside_tables_of_exemplars_a_table_is_pushed_as_well_and_known_again() -> None:
    text = yaml.safe_dump(make_taxonomy().model_dump(mode="json", exclude=EXEMPLARS, exclude_none=True))
    table = "id\tlabels\tturns\nh-1\tdeeds.say\tsay it\n"
    files = {TAXONOMY_FILE: text, "taxonomy/exemplars/hand.tsv": table}
    world = Raising(taxonomy=files)
    push = world.step()[0]
    assert isinstance(push, PushBranch)
    assert [path.rpartition("/")[0] for path, _ in push.files] == ["taxonomy", "taxonomy/exemplars"]
    taxonomy = load_taxonomy(Overlay(EmptySnapshot(), files | dict(push.files)))
    assert taxonomy.by_id["deeds.zigzag"].exemplars.positive == ("zigzag",)
    world.step()
    assert world.record.heads == {branch_of(ONE): HEAD}
    assert world.step() == []


def test_a_run_that_was_killed_between_is_taken_up() -> None:
    world = Raising(branches={branch_of(ONE): drafted()})
    assert kinds(world.plan()) == [OpenPullRequest]
    world = Raising(branches={branch_of(ONE): drafted()}, open=[pull_from(branch_of(ONE), labels=(LABEL,))])
    assert kinds(world.step()) == [PostCheck, WriteLedger]
    assert world.step() == []


@pytest.mark.parametrize("merge", [None, "a" * 40])
def test_what_was_closed_or_merged_is_not_raised_again_nor_what_has_grown_from_it(merge: str | None) -> None:
    world = Raising(closed=[pull_from(branch_of(ONE), closed=True, merge=merge)])
    assert kinds(world.step()) == [WriteLedger]
    world.found = (make_candidate(core=("2" * 24,), members=(*ONE.members, *OTHER.members)),)
    assert world.step() == []


@pytest.mark.untraced
def test_no_more_are_open_than_the_config_says() -> None:
    world = Raising(found=(ONE, OTHER), most=1)
    opened = [item.branch for item in world.step() if isinstance(item, OpenPullRequest)]
    assert opened == [branch_of(ONE)]
    world.step()
    assert world.step() == []
    world.closed, world.open = [pull_from(branch_of(ONE), closed=True)], []
    assert [item.branch for item in world.step() if isinstance(item, OpenPullRequest)] == [branch_of(OTHER)]


def test_where_no_pull_request_may_be_opened_nothing_is_noted() -> None:
    world = Raising(barred=frozenset({branch_of(ONE)}))
    assert kinds(world.step()) == [PushBranch]
    assert world.step() == []


def test_a_taxonomy_that_takes_no_capability_is_left_as_it_is() -> None:
    assert Raising(taxonomy={TAXONOMY_FILE: "version: 1"}).plan() == []


def test_what_people_open_under_our_prefix_is_theirs_and_counts() -> None:
    world = Raising(most=1, open=[pull_from("incumbent-candidates/mine", author="eve")])
    assert world.plan() == []
    # Nor is it labelled under a name that the ledger knows; and one of the bot's under another name is none of these.
    for pull in (pull_from(branch_of(ONE), author="eve"), pull_from("incumbent-candidates/mine")):
        assert AddLabels not in kinds(Raising(most=1, open=[pull]).plan())


def test_facts_give_the_candidate_again() -> None:
    written = Written(candidate=ONE).model_dump(mode="json")
    assert Written.model_validate(written).candidate == ONE
    assert {"kind", "text", "unexplained"} <= written["candidate"]["telling"][0].keys()


@pytest.mark.parametrize("wrong", [{"core": []}, {"core": ["x"]}, {"id": "No Id"}, {"surprise": -1.0}, {"more": 1}])
def test_a_candidate_that_is_none_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Written.model_validate({"candidate": Written(candidate=ONE).model_dump(mode="json")["candidate"] | wrong})


def test_nothing_of_a_customer_comes_alive_in_the_description() -> None:
    hostile = "<b>@x</b> | `y` ![](z) <!-- e --> " + "a" * 300
    candidate = make_candidate(
        customers=(hostile,),
        positive=(DraftExemplar(turns=(hostile,), source=hostile),),
        negative=tuple(DraftExemplar(turns=(hostile, f"{place}"), source="deeds.say") for place in range(30)),
        telling=(
            DistinctiveTrait(**Trait("word", hostile)._asdict(), members=1, observed=1, expected=0.1, surprise=3.0),
        ),
        belongs_to=("deeds.say",),
        kind="missed-capability",
        named_by="language model",
    )
    text = render_candidate(candidate)
    for line in text.splitlines():
        outside = "".join(line.split("`")[::2]) if line.count("`") % 2 == 0 else line
        assert "@x" not in outside or "``" in line
    assert "<!--" not in text
    assert "and 10 more" in text
    assert Signal.FAR in candidate.signals
    assert "A missed capability" in text
    assert "the language model" in text


def test_without_hard_negatives_no_table_of_them_is_shown() -> None:
    assert "| exemplar | of |" in render_candidate(make_candidate())
    assert "| exemplar | of |" not in render_candidate(make_candidate(negative=()))


def close_all(world: Raising) -> None:
    world.closed += [replace(pull, closed=True) for pull in world.open]
    world.open = []


def test_who_closed_it_is_asked_once() -> None:
    world = Raising()
    world.step()
    world.step()
    close_all(world)
    world.step()
    assert world.step() == []
    assert world.asked == [20]
    assert world.record.raised == {branch_of(ONE): ONE.core}


@pytest.mark.parametrize("kept", [True, False], ids=["the branch stays", "the branch goes"])
def test_what_a_bot_closed_is_raised_again_until_people_close_it(kept: bool) -> None:
    world = Raising(closer="stale[bot]")
    world.step()
    world.step()
    close_all(world)
    if not kept:
        world.branches = {}
    found, world.found = world.found, ()  # the job that looked for candidates knew it by the ledger
    assert kinds(world.step()) == [WriteLedger]
    assert (world.record.raised, world.record.heads) == ({}, {})
    world.found = found
    assert kinds(world.step()) == ([OpenPullRequest] if kept else [PushBranch, OpenPullRequest])
    world.open = [replace(pull, number=21) for pull in world.open]
    world.step()
    assert world.record.raised == {branch_of(ONE): ONE.core}
    world.closer = "cora"
    world.closed = [replace(pull, closed=True) for pull in world.open] + world.closed
    world.open = []
    world.found = ()
    world.step()
    assert world.step() == []
    assert world.record.raised == {branch_of(ONE): ONE.core}

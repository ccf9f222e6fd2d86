"""Groups of evictions: kept up to date, dropped in part by people, and remembered once they ended."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.curator.store import entry_path, tombstone_path
from incumbent.github.managed_pull_request import Branch
from incumbent.github.models import (
    ClosePullRequest,
    CreateComment,
    EditDescription,
    OpenPullRequest,
    PostCheck,
    PullRequest,
    PushBranch,
    WriteLedger,
)
from incumbent.ledger.event_files import parsed
from incumbent.ledger.events import SET_EVENTS, Answered, Suggested
from incumbent.ledger.model import Refusal, Request, SuggestionRecord
from incumbent.ledger.refusals import refused_grounds
from incumbent.reconcile.suggestion_pull_requests import (
    EVICT,
    GROUP,
    Proposal,
    branch_of,
    grounds_shown,
    of_present,
)
from incumbent.report.pull_request_bodies import closing, members_in
from tests.factories import make_entry
from tests.reconcile.merges import BOT, commit, make_pull, source
from tests.reconcile.proposing import BEST, Plan, Suggesting, found, kinds, make_platform, record_in

PINNED = (BEST[0], BEST[1].model_copy(update={"pin": "an audit wants it"}))
IDS = tuple(f"spare{number}" for number in range(4))


def spare(id: str) -> Any:
    return make_entry(id, {"a": 0.6, "b": 0.6}, source=source(id))


def platform(*more: Any, without: str | None = None, **config: Any) -> Any:
    entries = [spare(id) for id in IDS if id != without]
    return make_platform(*PINNED, *entries, *more, **{"group": 50, "open_evictions": 1} | config)


def group_in(world: Suggesting) -> Proposal:
    (proposal,) = [item for item in world.desired.proposals if item.branch.startswith(GROUP)]
    return proposal


def started(number: int = 5) -> Suggesting:
    """A world in which the group of all spares is open, and nothing is left to do."""
    world = Suggesting(platform=platform())
    world.opened(group_in(world), number)
    world.settle()
    assert world.plan().operations == ()
    return world


def members(world: Suggesting) -> set[str]:
    return set(members_in(world.open[0].body).suggests)


def digest_of(world: Suggesting, id: str) -> str:
    return members_in(world.open[0].body).suggests[id]


def followed(world: Suggesting) -> Plan:
    """What one round writes; branches and descriptions then are as it says."""
    plan = world.plan()
    for push in found(plan, PushBranch):
        blobs = group_in(world).blobs
        world.branches[push.branch] = Branch(commit=commit(40), blobs=blobs, has_base=True)
        world.authors[commit(40)] = BOT
    for edit in found(plan, EditDescription):
        world.open[0] = replace(world.open[0], body=edit.body)
    return plan


def ended(world: Suggesting, **more: Any) -> PullRequest:
    """The group's pull request, once people closed or merged it."""
    pull = replace(world.open.pop(), closed=True, closed_at="2026-11-23T09:30:00Z", **more)
    world.closed.append(pull)
    del world.branches[pull.branch or ""]
    world.record = world.record.model_copy(update={"heads": {}})
    return pull


def without(branch: Branch, *ids: str, by: str = commit(77)) -> Branch:
    """``branch`` after somebody reverted the commits of ``ids``."""
    gone = {path for id in ids for path in (entry_path(id), tombstone_path(id))}
    return replace(branch, commit=by, blobs={path: blob for path, blob in branch.blobs.items() if path not in gone})


def keep(world: Suggesting, id: str, number: int | None = 5, by: str = "cora") -> Request:
    return Request(
        entry=id,
        action="keep",
        by=by,
        comment=9,
        said="0" * 24,
        grounds=digest_of(world, id),
        pull_request=number,
    )


# Opening ------------------------------------------------------------------------------------------------------------


def test_beyond_the_limit_one_pull_request_has_a_commit_for_each_entry() -> None:
    world = Suggesting(platform=platform())
    plan = world.plan()
    (push,) = found(plan, PushBranch)
    (opened,) = found(plan, OpenPullRequest)
    assert opened.branch.startswith("incumbent/group/customer-acme-")
    assert opened.title == "Evict several entries of customer acme"
    messages = [push.message.partition("\n")[0], *(each.message for each in push.then)]
    assert sorted(messages) == [f"Evict {id}: redundant" for id in IDS]
    assert all(len(each.files) == 2 for each in push.then)
    assert set(push.all_files) == {path for id in IDS for path in (entry_path(id), tombstone_path(id))}


def test_within_the_limit_or_with_a_size_of_one_each_has_its_own() -> None:
    configs: tuple[dict[str, Any], ...] = ({"open_evictions": 10}, {"group": 1})
    for config in configs:
        world = Suggesting(platform=platform(**config))
        assert not [item for item in world.desired.proposals if item.branch.startswith(GROUP)]


def test_a_run_begins_only_so_many_commits() -> None:
    world = Suggesting(platform=platform())
    world.more["pushed"] = 297
    assert found(world.plan(), PushBranch) == []
    assert world.plan().beyond == [group_in(world).branch]
    world.more["pushed"] = 296
    assert len(found(world.plan(), PushBranch)) == 1


def test_a_group_that_may_not_be_opened_is_kept_up_to_date_on_its_branch() -> None:
    world = Suggesting(platform=platform())
    proposal = group_in(world)
    world.more["barred"] = frozenset({proposal.branch})
    world.branches[proposal.branch] = Branch(commit=commit(3), blobs=proposal.blobs, has_base=True)
    record = record_in(world.plan())
    assert record is not None
    assert record.heads == {proposal.branch: commit(3)}
    world.record = record
    fewer = without(world.branches[proposal.branch], "spare1", by=commit(3))
    world.branches[proposal.branch] = fewer
    assert proposal.branch in [item.branch for item in found(world.plan(), PushBranch)]
    world.record = SuggestionRecord()
    world.branches[proposal.branch] = replace(fewer, commit=commit(4))
    assert proposal.branch in world.plan().beyond
    world.authors[commit(4)] = BOT
    assert proposal.branch in [item.branch for item in found(world.plan(), PushBranch)]


# Keeping up to date -------------------------------------------------------------------------------------------------


def test_one_whose_grounds_end_leaves_and_a_newcomer_joins() -> None:
    world = started()
    world.platform = platform(spare("spare9"), without="spare1")
    (push,) = found(followed(world), PushBranch)
    assert push.message.startswith("Evict several entries of customer acme (brought up to date)")
    assert [each.message for each in push.then] == ["Evict spare9: redundant"]
    assert push.parents == (commit(5),)
    assert kinds(followed(world), 5) == ["EditDescription", "PostCheck"]
    assert members(world) == {"spare0", "spare2", "spare3", "spare9"}


def test_a_newcomer_alone_is_one_more_commit() -> None:
    world = started()
    world.platform = platform(spare("spare9"))
    (push,) = found(world.plan(), PushBranch)
    assert (push.message.partition("\n")[0], push.then) == ("Evict spare9: redundant", ())
    assert set(push.all_files) == set(group_in(world).blobs)


@pytest.mark.parametrize("reason", ["reviewed", "kept by a comment", "kept by a commit", "full"])
def test_nothing_joins_what_people_review_or_what_is_full(reason: str) -> None:
    world = started()
    world.platform = platform(spare("spare9"), group=4 if reason == "full" else 50)
    if reason == "reviewed":
        world.reviewed.add(5)
    elif reason == "kept by a comment":
        world.keeps.append(keep(world, "spare1"))
    elif reason == "kept by a commit":
        branch = world.open[0].branch or ""
        world.branches[branch] = without(world.branches[branch], "spare1")
    assert "spare9" not in group_in(world).entries
    assert "spare9" in world.proposals


@pytest.mark.parametrize(("limit", "joins"), [(1, True), (5, False)])
def test_a_newcomer_joins_only_where_there_is_no_room_for_one_of_its_own(limit: int, joins: bool) -> None:
    world = started()
    world.platform = platform(spare("spare9"), open_evictions=limit)
    assert ("spare9" in group_in(world).entries) is joins
    assert "spare9" in {id for item in world.desired.proposals for id in item.entries}


def test_a_stale_branch_is_brought_up_to_date_with_a_merge() -> None:
    world = started()
    branch = world.open[0].branch or ""
    behind = frozenset({entry_path("spare1")})
    world.branches[branch] = replace(world.branches[branch], has_base=False, behind=behind)
    (push,) = found(world.plan(), PushBranch)
    assert len(push.parents) == 2
    assert push.then == ()


# What people drop ---------------------------------------------------------------------------------------------------


def test_a_revert_keeps_an_entry_and_the_branch_stays_the_bots() -> None:
    world = started()
    branch = world.open[0].branch or ""
    world.branches[branch] = without(world.branches[branch], "spare1")
    plan = followed(world)
    assert kinds(plan, 5) == ["EditDescription", "PostCheck"]
    (check,) = found(plan, PostCheck)
    assert (check.conclusion, check.title) == ("success", "Every floor and every pin holds, whichever of them go")
    assert set(members_in(world.open[0].body).kept) == {"spare1"}
    assert "People keep `spare1` (a commit): not suggested again" in world.open[0].body
    record = record_in(plan)
    assert record is not None
    assert record.heads == {branch: commit(77)}
    world.record = record
    assert "spare1" not in group_in(world).entries
    assert "spare1" not in world.proposals


@given(data=st.data())
def test_what_is_on_the_branch_says_what_people_drop_whatever_came_before(data: st.DataObject) -> None:
    world = started()
    branch = world.open[0].branch or ""
    whole = world.branches[branch]
    for dropped in data.draw(st.lists(st.sets(st.sampled_from(IDS), max_size=3), min_size=1, max_size=4)):
        world.branches[branch] = without(whole, *dropped)
        if data.draw(st.booleans(), label="a run sees it"):
            followed(world)
    assert kinds(followed(world), 5)[-1:] in (["PostCheck"], [])
    assert members(world) == set(IDS) - dropped
    assert set(members_in(world.open[0].body).kept) == dropped
    assert followed(world).operations == () or record_in(world.plan()) is not None
    assert set(group_in(world).entries) == set(IDS) - dropped


def test_an_eviction_that_people_wrote_otherwise_takes_no_drop_back() -> None:
    world = started()
    branch = world.open[0].branch or ""
    whole = world.branches[branch]
    world.branches[branch] = without(whole, "spare1")
    followed(world)
    for path, text in ((entry_path("spare1"), None), (tombstone_path("spare1"), "x")):
        fewer = without(whole, "spare1")
        world.branches[branch] = replace(fewer, blobs={**fewer.blobs, path: text})
        (check,) = found(followed(world), PostCheck)
        assert (check.conclusion, set(members_in(world.open[0].body).kept)) == ("failure", {"spare1"})


def test_what_the_bot_itself_took_out_is_not_kept_by_people() -> None:
    world = started()
    branch = world.open[0].branch or ""
    world.branches[branch] = without(world.branches[branch], "spare1")
    world.authors[commit(77)] = BOT
    (push,) = found(world.plan(), PushBranch)
    assert push.message.startswith("Evict spare1: redundant\n")


@pytest.mark.parametrize(
    ("extra", "conclusion"),
    [
        ({"README.md": "x"}, "success"),
        ({entry_path("spare2"): "x"}, "failure"),
        ({tombstone_path("spare1"): "x"}, "failure"),
        ({"config/curation.yaml": "x"}, "failure"),
        ({"taxonomy/taxonomy.yaml": "x"}, "failure"),
        ({"eval_sets/acme/desk/evals.yaml": "x"}, "failure"),
        ({".github/workflows/x.yml": "x"}, "failure"),
        ({"docs/taxonomy/x.md": "x"}, "success"),
    ],
)
def test_any_part_passes_and_nothing_else(extra: dict[str, str], conclusion: str) -> None:
    world = started()
    branch = world.open[0].branch or ""
    fewer = without(world.branches[branch], "spare1")
    world.branches[branch] = replace(fewer, blobs={**fewer.blobs, **extra})
    (check,) = found(world.plan(), PostCheck)
    assert check.conclusion == conclusion


def test_a_branch_that_was_just_deleted_drops_nothing() -> None:
    world = started()
    del world.branches[world.open[0].branch or ""]
    assert set(group_in(world).entries) == set(IDS)


def test_what_a_curator_asked_to_keep_leaves_and_is_named() -> None:
    world = started()
    world.keeps += [keep(world, "spare1"), keep(world, "spare2", number=8)]
    proposal = group_in(world)
    assert set(proposal.entries) == {"spare0", "spare3"}
    assert "People keep `spare1` (by `cora`): not" in proposal.body
    assert members_in(proposal.body).kept == {}


def test_where_nothing_is_left_it_is_closed_with_the_reason() -> None:
    world = started()
    world.keeps += [keep(world, id) for id in IDS]
    plan = world.plan()
    (comment,) = found(plan, CreateComment)
    assert "nothing is left of it" in comment.body
    assert len(found(plan, ClosePullRequest)) == 1


def test_a_single_suggestion_that_is_kept_is_closed_with_the_reason() -> None:
    world = Suggesting(platform=platform(group=1))
    proposal = world.proposals["spare1"]
    pull = world.opened(proposal, 5)
    digest = (pull.branch or "").rpartition("-")[2]
    world.keeps.append(
        Request(entry="spare1", action="keep", by="cora", comment=9, said="0" * 24, grounds=digest, pull_request=5)
    )
    (comment,) = found(world.plan(), CreateComment)
    assert "a curator asked to keep `spare1`" in comment.body


# What is remembered -------------------------------------------------------------------------------------------------


def refusals(plan: Plan) -> tuple[Refusal, ...]:
    record = record_in(plan)
    assert record is not None
    return record.refusals


def test_closing_refuses_all_and_the_ledger_remembers() -> None:
    world = started()
    pull = ended(world)
    assert not set(world.proposals) & set(IDS)
    (refusal,) = refusals(world.plan())
    assert set(refusal.entries) == set(IDS)
    world.record = SuggestionRecord(refusals=(refusal,))
    world.closed.clear()
    world.elsewhere[5] = pull
    assert not set(world.proposals) & set(IDS)


def test_closing_refuses_what_was_suggested_whatever_its_description_says_by_then() -> None:
    world = started()
    ended(world, body="Nothing of ours.")
    (refusal,) = refusals(world.plan())
    assert set(refusal.entries) == set(IDS)


def test_merging_refuses_what_is_still_there() -> None:
    world = started()
    pull = ended(world, merge=commit(50))
    world.platform = make_platform(*PINNED, spare("spare1"), group=50, open_evictions=1)
    assert "spare1" not in world.proposals
    (refusal,) = refusals(world.plan())
    assert set(refusal.entries) == {"spare1"}
    assert pull.branch == refusal.branch


def test_what_another_bot_closes_is_refused_by_nobody() -> None:
    world = started()
    world.closer = "stale[bot]"
    ended(world)
    assert set(IDS) <= {id for item in world.desired.proposals for id in item.entries}


def test_what_a_commit_kept_is_refused_even_where_the_bot_closed_the_rest() -> None:
    world = started()
    branch = world.open[0].branch or ""
    world.branches[branch] = without(world.branches[branch], "spare1")
    followed(world)
    body = world.open[0].body
    ended(world, body=closing(body, "nothing is left of it"))
    left = {id for item in world.desired.proposals for id in item.entries}
    assert left & set(IDS) == set(IDS) - {"spare1"}


def test_what_a_commit_just_kept_is_written_down_where_nothing_is_left_to_ask() -> None:
    world = started()
    branch, kept = world.open[0].branch or "", IDS[0]
    world.branches[branch] = without(world.branches[branch], kept)
    world.keeps = [keep(world, id) for id in IDS if id != kept]
    (closed,) = found(world.plan(), ClosePullRequest)
    assert set(members_in(closed.body).kept) == {kept}
    ended(world, body=closed.body)
    world.keeps = []
    assert kept not in {id for item in world.desired.proposals for id in item.entries}


@pytest.mark.parametrize("forged", ["unknown", "open", "other", "more"])
def test_a_forged_refusal_holds_nothing_back_and_the_true_one_stays(forged: str) -> None:
    world = started()
    other = digest_of(world, "spare2")
    branch, digest = world.open[0].branch or "", digest_of(world, "spare1")
    pull = world.open[0]
    world = Suggesting(platform=platform())
    entries = {"spare1": digest, "spare2": other}
    world.record = SuggestionRecord(refusals=(Refusal(pull_request=6, branch=branch, entries=entries),))
    kept = re.sub(r"^(spare1 .*)$", r"\1 kept", pull.body, flags=re.MULTILINE)
    ours_closed = closing(kept, "nothing is left of it")
    world.elsewhere[6] = {
        "unknown": None,
        "open": replace(pull, number=6),
        "other": replace(pull, number=6, branch=branch_of(EVICT, "spare1", digest), closed=True),
        "more": replace(pull, number=6, closed=True, body=ours_closed),
    }[forged]
    wanted = world.desired
    suggested = {id for item in wanted.proposals for id in item.entries}
    assert [item.pull_request for item in wanted.forged] == [6]
    assert "spare2" in suggested
    assert ("spare1" in suggested) is (forged != "more")
    assert [item.entries for item in wanted.refusals] == ([{"spare1": digest}] if forged == "more" else [])


def test_refusals_are_of_entries_that_are_there() -> None:
    item = Refusal(pull_request=6, branch=f"{GROUP}mixed-{'0' * 16}", entries={"x": "1" * 16, "y": "2" * 16})
    assert of_present(item, {"x", "y"}) is item
    assert of_present(item, {"x"}).entries == {"x": "1" * 16}
    assert refused_grounds(item) == {"1" * 16, "2" * 16}
    assert refused_grounds(Refusal(pull_request=6, branch=branch_of(EVICT, "x", "3" * 16))) == {"3" * 16}


def test_the_grounds_that_open_pull_requests_show() -> None:
    world = started()
    single = make_pull(8, branch=branch_of(EVICT, "best2", "3" * 16), closed=False, merge=None)
    swap = make_pull(9, branch="incumbent/swap/x-0000000000000000", closed=False, merge=None)
    shown = grounds_shown([*world.open, single, swap], ["best2", *IDS])
    assert shown == {5: members_in(world.open[0].body).suggests, 8: {"best2": "3" * 16}}


# Events -------------------------------------------------------------------------------------------------------------


def recorded(world: Suggesting) -> list[Any]:
    """The new events of a plan, which are then known."""
    before = len(parsed(world.events))
    for write in found(world.plan(), WriteLedger):
        files = dict(write.files)
        world.events = files.get(SET_EVENTS, world.events)
    return list(parsed(world.events))[before:]


def answers(events: list[Any]) -> dict[str, tuple[bool, str]]:
    return {item.entries[0]: (item.agrees, item.by) for item in events if isinstance(item, Answered)}


def test_each_entry_is_recorded_as_it_would_be_alone_once() -> None:
    world = Suggesting(platform=platform())
    world.opened(group_in(world), 5)
    events = [item for item in parsed(world.events) if isinstance(item, Suggested)]
    digests = members_in(world.open[0].body).suggests
    assert {item.branch for item in events} == {branch_of(EVICT, id, digests[id]) for id in IDS}
    assert {item.suggestion for item in events} == {"redundant"}
    world.settle()
    assert recorded(world) == []


def test_a_merge_agrees_with_what_went_and_not_with_what_stayed() -> None:
    world = started()
    world.keeps.append(keep(world, "spare1", by="mara"))
    branch = world.open[0].branch or ""
    world.branches[branch] = without(world.branches[branch], "spare2")
    followed(world)
    followed(world)
    followed(world)
    ended(world, merge=commit(50))
    world.platform = make_platform(*PINNED, spare("spare1"), spare("spare2"), group=50, open_evictions=1)
    events = recorded(world)
    assert answers(events) == {
        "spare0": (True, "cora"),
        "spare1": (False, "mara"),
        "spare2": (False, "cora"),
        "spare3": (True, "cora"),
    }
    assert [item.agrees for item in events if isinstance(item, Answered)] == [False, False, True, True]
    assert recorded(world) == []


def test_what_is_kept_of_one_group_is_no_answer_to_another_one() -> None:
    """The grounds are the same, the pull requests are not: "keep" was said on the first alone."""
    world = started()
    world.keeps.append(keep(world, "spare1", number=5, by="mara"))
    first = ended(world, merge=commit(50))
    world.closed.append(replace(first, number=6))
    world.platform = make_platform(*PINNED, spare("spare1"), group=50, open_evictions=1)
    events = recorded(world)
    found = {
        number: answers([item for item in events if isinstance(item, Answered) and item.pull_request == number])
        for number in (5, 6)
    }
    assert (found[5]["spare1"], found[6]["spare1"]) == ((False, "mara"), (False, "cora"))
    assert {who for id, (_, who) in found[5].items() if id != "spare1"} == {"cora"}


def test_closing_answers_for_each_until_it_is_reopened() -> None:
    world = started()
    digests = {id: digest_of(world, id) for id in IDS}
    pull = ended(world)
    events = recorded(world)
    assert answers(events) == dict.fromkeys(IDS, (False, "dan"))
    branches = {branch_of(EVICT, id, digest) for id, digest in digests.items()}
    assert {item.branch for item in events if isinstance(item, Answered)} == branches
    assert recorded(world) == []
    world.closed = []
    world.open = [replace(pull, closed=False, closed_at=None)]
    assert [item.kind for item in recorded(world)] == ["reopened"]


def test_what_the_bot_closed_is_no_answer_but_for_what_people_kept() -> None:
    world = started()
    world.keeps.append(keep(world, "spare1"))
    ended(world, body=closing(group_in(world).body, "nothing is left of it"))
    assert answers(recorded(world)) == {"spare1": (False, "cora")}
    world.keeps.clear()
    assert recorded(world) == []

"""Pull requests of ours: opened within the limit, refreshed, left to people, closed with the reason, never reopened."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from incumbent.curator.entry import Source
from incumbent.curator.roles import EvictionKind
from incumbent.curator.store import RegressionSet
from incumbent.github.managed_pull_request import Branch
from incumbent.github.models import (
    AddLabels,
    ClosePullRequest,
    CreateComment,
    DeleteBranch,
    EditDescription,
    OpenPullRequest,
    PostCheck,
    PushBranch,
    WriteLedger,
)
from incumbent.ledger.event_files import appended, parsed
from incumbent.ledger.events import SET_EVENTS
from incumbent.ledger.model import ArchivedQuery, SuggestionRecord
from incumbent.reconcile.desired_suggestions import folders_looked_back_on
from incumbent.reconcile.suggestion_plan import suggested
from incumbent.reconcile.suggestion_pull_requests import LABEL
from incumbent.report.pull_request_bodies import CLOSED, closing
from incumbent.text.digests import digest
from tests.factories import make_entry, make_taxonomy
from tests.ledger.replay import replay
from tests.reconcile.merges import BOT, TIP, commit, make_comment, make_pull
from tests.reconcile.proposing import BEST, OFFER, SPARE, Suggesting, found, kinds, make_platform, record_in

# Opening -----------------------------------------------------------------------------------------------------------


def test_what_could_go_gets_a_branch_and_a_pull_request_each() -> None:
    world = Suggesting()
    plan = world.plan()
    spare = world.proposals["spare"]
    pushes = found(plan, PushBranch)
    assert [item.branch for item in pushes] == [item.branch for item in world.proposals.values()]
    assert (pushes[0].tip, pushes[0].base, pushes[0].parents) == (None, TIP, (TIP,))
    assert pushes[0].files == spare.files
    assert pushes[0].message.startswith("Evict spare: redundant\n")
    opened = found(plan, OpenPullRequest)
    assert opened[0] == OpenPullRequest(branch=spare.branch, base="main", title=spare.title, body=spare.body)
    assert kinds(plan) == ["PushBranch", "OpenPullRequest"] * 2
    assert (plan.beyond, plan.left) == ([], [])


def test_no_more_are_open_than_the_limit_says_and_the_rest_is_told() -> None:
    world = Suggesting(platform=make_platform(open_evictions=1))
    spare, best2 = world.proposals.values()
    plan = world.plan()
    assert [item.branch for item in found(plan, OpenPullRequest)] == [spare.branch]
    assert plan.beyond == [best2.branch]
    world.opened(spare, 5)
    assert found(world.plan(), OpenPullRequest) == []
    assert world.plan().beyond == [best2.branch]


def test_an_offer_comes_first_and_takes_no_room() -> None:
    world = Suggesting(platform=make_platform(open_evictions=1), offer=OFFER)
    assert [item.branch for item in found(world.plan(), OpenPullRequest)] == [
        OFFER.branch,
        world.proposals["spare"].branch,
    ]
    world.opened(OFFER.proposal, 5)
    assert [item.branch for item in found(world.plan(), OpenPullRequest)] == [world.proposals["spare"].branch]


def test_what_this_run_opened_is_not_opened_again_where_lists_lag() -> None:
    world = Suggesting()
    world.more["opened"] = frozenset(item.branch for item in world.proposals.values())
    assert world.plan().operations == ()


def test_a_branch_that_a_killed_run_left_is_used() -> None:
    world = Suggesting()
    spare = world.proposals["spare"]
    world.branches[spare.branch] = Branch(commit=commit(3), blobs=spare.blobs, has_base=True)
    plan = world.plan()
    assert spare.branch not in [item.branch for item in found(plan, PushBranch)]
    assert spare.branch in [item.branch for item in found(plan, OpenPullRequest)]


def test_a_branch_without_a_pull_request_that_holds_something_else_is_somebodys() -> None:
    world = Suggesting()
    spare, best2 = world.proposals.values()
    world.branches[spare.branch] = Branch(commit=commit(3), blobs={"README.md": "x"}, has_base=True)
    plan = world.plan()
    assert [item.branch for item in found(plan, OpenPullRequest)] == [best2.branch]
    assert plan.beyond == [spare.branch]


def test_where_github_lets_us_open_none_the_branch_is_there_and_people_are_told() -> None:
    world = Suggesting()
    spare, best2 = world.proposals.values()
    world.more["barred"] = frozenset({spare.branch})
    plan = world.plan()
    assert spare.branch in [item.branch for item in found(plan, PushBranch)]
    assert [item.branch for item in found(plan, OpenPullRequest)] == [best2.branch]
    assert plan.beyond == [spare.branch]


# Keeping -----------------------------------------------------------------------------------------------------------


def settled() -> Suggesting:
    """A world in which everything that could go is suggested, and nothing is left to do."""
    world = Suggesting()
    for number, proposal in enumerate(world.proposals.values(), start=5):
        world.opened(proposal, number)
    world.settle()
    assert world.plan().operations == ()
    return world


def test_a_suggestion_gets_a_check_for_the_commit_that_it_was_derived_for() -> None:
    world = Suggesting()
    world.opened(world.proposals["spare"], 5)
    (check,) = found(world.plan(), PostCheck)
    assert (check.commit, check.conclusion) == (commit(5), "success")
    assert check.title == "Every floor and every pin holds without it"
    assert f"Derived again for `{TIP[:12]}`" in check.summary
    world.settle()
    assert kinds(world.plan(), 5) == []


@pytest.mark.parametrize(
    ("scores", "title"),
    [
        ({"a": 0.9}, "Without it 1 capability falls below the floor"),
        ({"a": 0.9, "b": 0.9}, "Without it 2 capabilities fall below the floor"),
    ],
)
def test_the_check_of_what_left_its_source_says_what_falls_short(scores: dict[str, float], title: str) -> None:
    world = Suggesting(
        platform=make_platform(make_entry("only", scores)), departed={"only": EvictionKind.SOURCE_DELETED}
    )
    world.opened(world.proposals["only"], 5)
    assert [item.title for item in found(world.plan(), PostCheck)] == [title]


def test_the_check_of_an_offer_says_that_it_was_derived_again() -> None:
    world = Suggesting(platform=make_platform(*BEST[:1]), offer=OFFER)
    world.opened(OFFER.proposal, 5)
    assert [item.title for item in found(world.plan(), PostCheck)] == ["What enters was derived again"]


def test_a_label_that_somebody_took_off_is_put_back() -> None:
    world = settled()
    world.open[0] = replace(world.open[0], labels=(LABEL.upper(),))
    assert world.plan().operations == ()
    world.open[0] = replace(world.open[0], labels=("other",))
    assert world.plan().operations == ((5, AddLabels(names=(LABEL,))),)


def test_a_description_follows_what_is_derived_unless_somebody_wrote_another() -> None:
    world = settled()
    body = world.open[0].body
    other = world.proposals["best2"].body
    world.open[0] = replace(world.open[0], body=other)
    assert world.plan().operations == ((5, EditDescription(body=body)),)
    world.open[0] = replace(world.open[0], body=f"{body}\nI think so too.")
    assert world.plan().operations == ()


def test_what_people_reopened_is_described_as_open_again() -> None:
    world = settled()
    body = world.open[0].body
    world.open[0] = replace(world.open[0], body=closing(body, "its grounds did not hold"))
    assert world.plan().operations == ((5, EditDescription(body=body)),)


def test_that_people_reopened_one_is_recorded_before_anything_is_done_to_it() -> None:
    """A run that is killed on the way must not leave a refusal that somebody took back."""
    world = settled()
    was_open, refused = world.open[0], replace(world.open[0], closed=True, closed_at="2026-11-23T09:30:00Z")
    world.open, world.closed = world.open[1:], [refused]
    (write,) = found(world.plan(), WriteLedger)
    world.events = dict(write.files)[SET_EVENTS]
    assert [item.pull_request for item in replay(parsed(world.events)).refused] == [was_open.number]
    world.open, world.closed, world.branches = [was_open], [], {}
    ((number, write),) = world.plan().operations
    assert (number, isinstance(write, WriteLedger)) == (None, True)
    assert isinstance(write, WriteLedger)
    (path,) = (path for path, _ in write.files)
    assert path == SET_EVENTS
    world.events = dict(write.files)[SET_EVENTS]
    assert replay(parsed(world.events)).refused == ()
    assert len(world.plan().operations) > 1


def test_a_branch_of_ours_that_holds_something_older_is_moved_forward() -> None:
    world = settled()
    spare = world.proposals["spare"]
    world.branches[spare.branch] = Branch(commit=commit(5), blobs={}, has_base=False)
    (push,) = found(world.plan(), PushBranch)
    assert (push.tip, push.parents, push.files) == (commit(5), (commit(5), TIP), spare.files)
    world.branches[spare.branch] = Branch(commit=commit(5), blobs={}, has_base=True)
    (push,) = found(world.plan(), PushBranch)
    assert push.parents == (commit(5),)


def test_a_branch_whose_files_changed_on_the_default_branch_is_moved_forward() -> None:
    world = settled()
    spare = world.proposals["spare"]
    behind = Branch(
        commit=commit(5), blobs=spare.blobs, has_base=False, behind=frozenset({"regression_set/spare.yaml"})
    )
    world.branches[spare.branch] = behind
    assert [item.branch for item in found(world.plan(), PushBranch)] == [spare.branch]
    world.branches[spare.branch] = replace(behind, behind=frozenset({"README.md"}))
    assert world.plan().operations == ()


def test_a_branch_that_was_deleted_a_moment_ago_is_somebodys_answer() -> None:
    world = settled()
    branch = world.open[0].branch or ""
    del world.branches[branch]
    plan = world.plan()
    assert kinds(plan, 5) == []
    assert branch not in [getattr(item, "branch", None) for _, item in plan.operations]


@pytest.mark.parametrize(
    ("extra", "conclusion", "words"),
    [
        ({"README.md": "x"}, "success", "It still does to the regression set what was suggested."),
        ({"regression_set/best1.yaml": None}, "failure", "what was suggested (`regression_set/best1.yaml`): undo that"),
        ({".github/workflows/x.yml": "x"}, "failure", "what was suggested (`.github/workflows/x.yml`): undo that"),
    ],
)
def test_a_branch_with_somebodys_commits_is_left_and_the_check_tells_what_it_does(
    extra: dict[str, str | None], conclusion: str, words: str
) -> None:
    world = settled()
    spare = world.proposals["spare"]
    world.branches[spare.branch] = Branch(commit=commit(99), blobs={**spare.blobs, **extra}, has_base=True)
    plan = world.plan()
    assert kinds(plan, 5) == ["PostCheck"]
    (check,) = found(plan, PostCheck)
    assert (check.commit, check.conclusion) == (commit(99), conclusion)
    assert check.title == "Someone committed to this branch: Incumbent no longer changes it"
    assert words in check.summary
    assert plan.left == [5]
    assert spare.branch not in [item.branch for item in found(plan, PushBranch)]
    record = record_in(plan)
    assert record is not None
    assert spare.branch not in record.heads


def test_what_people_reopened_and_committed_to_is_described_as_open_again() -> None:
    world = settled()
    spare = world.proposals["spare"]
    world.branches[spare.branch] = Branch(commit=commit(99), blobs={}, has_base=True)
    world.open[0] = replace(world.open[0], body=closing(spare.body, "x"))
    assert kinds(world.plan(), 5) == ["EditDescription", "PostCheck"]


def test_a_branch_under_our_prefix_that_is_none_of_ours_fails_its_check() -> None:
    world = settled()
    world.open.append(make_pull(9, branch="incumbent/mine", closed=False, merge=None, head=commit(9)))
    plan = world.plan()
    assert kinds(plan, 9) == ["PostCheck"]
    (check,) = found(plan, PostCheck)
    assert (check.commit, check.conclusion, check.title) == (
        commit(9),
        "failure",
        "Branches under incumbent/ are Incumbent's",
    )


# Closing -----------------------------------------------------------------------------------------------------------


def closing_of(world: Suggesting) -> str:
    """The words with which the pull request 5 is closed, which stand in the comment and in the description."""
    plan = world.plan()
    (comment,) = found(plan, CreateComment)
    (close,) = found(plan, ClosePullRequest)
    why = comment.body.strip().removeprefix("<!-- incumbent:closes -->\nClosed by Incumbent: ")
    assert close.body.startswith(f"{CLOSED}\n**Closed by Incumbent:** {why}\n")
    return str(why)


def test_what_is_not_suggested_any_more_is_closed_with_the_reason_and_its_branch_goes() -> None:
    world = settled()
    branch = world.open[0].branch
    world.platform = make_platform(*BEST)
    plan = world.plan()
    assert kinds(plan, 5) == ["CreateComment", "ClosePullRequest", "DeleteBranch"]
    assert found(plan, DeleteBranch) == [DeleteBranch(branch=branch or "", tip=commit(5))]


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ((*BEST,), "what it is about is not in the regression set any more."),
        ((*BEST, SPARE.model_copy(update={"pin": "an audit"})), "`spare` was pinned by a person."),
        (
            (BEST[0], SPARE),
            "its grounds do not hold any more. What `spare` covers has changed, or whom it yields to, or its text.",
        ),
    ],
    ids=["gone", "pinned", "changed"],
)
def test_the_reason_says_what_has_become_of_it(entries: tuple[Any, ...], why: str) -> None:
    world = Suggesting()
    world.opened(world.proposals["spare"], 5)
    world.platform = make_platform(*entries, redundancy_floor=2)
    assert closing_of(world) == why


def test_an_offer_of_which_nothing_is_left_is_closed_with_words_of_its_own() -> None:
    world = Suggesting(platform=make_platform(*BEST[:1]), offer=OFFER)
    world.opened(OFFER.proposal, 5)
    world.offer = None
    assert (
        closing_of(world)
        == "what it offers does not enter unchanged any more; the rest is in another one, or on the dashboard."
    )


def test_what_was_said_already_is_not_said_again() -> None:
    world = Suggesting()
    world.opened(world.proposals["spare"], 5)
    world.platform = make_platform(*BEST, redundancy_floor=2)
    (comment,) = found(world.plan(), CreateComment)
    world.comments[5] = (make_comment(1, "eve", comment.body), make_comment(2, BOT, "something else"))
    assert len(found(world.plan(), CreateComment)) == 1
    world.comments[5] = (make_comment(1, BOT, f"{comment.body}\n"),)
    assert kinds(world.plan(), 5) == ["ClosePullRequest", "DeleteBranch"]


def test_a_branch_with_somebodys_commits_stays_when_its_pull_request_is_closed() -> None:
    world = Suggesting()
    spare = world.proposals["spare"]
    world.opened(spare, 5)
    world.branches[spare.branch] = Branch(commit=commit(99), blobs=spare.blobs, has_base=True)
    world.platform = make_platform(*BEST, redundancy_floor=2)
    assert kinds(world.plan(), 5) == ["CreateComment", "ClosePullRequest"]


def test_a_swap_is_about_the_entry_that_waits() -> None:
    weak, other = make_entry("weak", {"a": 0.6}), make_entry("other", {"b": 0.9})
    platform = make_platform(weak, other, waiting=(make_entry("better", {"a": 0.9}),), ceiling=2)
    world = Suggesting(platform=platform)
    swap = world.proposals["weak"]
    world.opened(swap, 5)
    assert kinds(world.plan(), 5) == ["PostCheck"]
    world.platform = make_platform(weak, other, waiting=(make_entry("better", {"a": 0.3}),), ceiling=2)
    assert "What `better` covers has changed" in closing_of(world)
    world.platform = replace(world.platform, regression_set=RegressionSet({"weak": weak, "other": other}, {}, {}))
    assert closing_of(world) == "what it is about is not in the regression set any more."


def repacking() -> Suggesting:
    """An archived query frees two entries."""
    best = [make_entry(f"best-{name}", {name: 0.95}) for name in "abc"]
    pairs = [make_entry(id, dict.fromkeys(id, 0.7)) for id in ("ab", "bc")]
    platform = replace(make_platform(*best, *pairs, novelty=2), taxonomy=make_taxonomy("a", "b", "c"))
    source = Source(customer="c", agent="a", eval_set="eval_sets/c/a/evals.yaml", item="q1", commit=commit(3))
    entry = make_entry("abc", dict.fromkeys("abc", 0.75), source=source)
    return Suggesting(platform=platform, archived={"abc": entry})


def refused(world: Suggesting) -> Suggesting:
    pull = world.opened(world.proposals["ab"], 5)
    world.open, world.closed = [], [replace(pull, closed=True)]
    return world


def known_in(world: Suggesting) -> SuggestionRecord:
    """What the plan leaves in the ledger."""
    world.record = record_in(world.plan()) or world.record
    return world.record


def test_a_repack_is_remembered_by_where_its_query_is_and_closed_without_it() -> None:
    world = repacking()
    world.opened(world.proposals["ab"], 5)
    record = known_in(world)
    entry = world.archived["abc"]
    assert record.archived == {
        "abc": ArchivedQuery(
            folder="eval_sets/c/a", text=digest(entry.turns), at="2026-01-01T00:00:00Z", commit=commit(3)
        )
    }
    assert entry.turns[0] not in record.model_dump_json()
    assert folders_looked_back_on(record) == {"eval_sets/c/a"}
    world.archived = {}
    assert closing_of(world).startswith("the query that it admits has changed")
    assert known_in(world).archived == {}


def test_an_entry_of_an_open_repack_counts_as_suggested() -> None:
    world = repacking()
    twin = make_entry("twin", {"a": 0.65, "b": 0.65})
    more = RegressionSet({**world.platform.regression_set.entries, "twin": twin}, {}, {})
    proposal = world.proposals["ab"]
    world.platform, world.archived = replace(world.platform, regression_set=more), {}
    assert [item.entries for item in world.desired.proposals] == [("twin",)]
    pull = world.opened(proposal, 5)
    (event,) = suggested([pull], {proposal.branch: proposal}, (), "2026-11-23T09:00:00Z")
    world.events = appended(None, [event])
    assert [item.entries for item in world.desired.proposals] == [("ab",)]
    world.open = []
    assert [item.entries for item in world.desired.proposals] == [("twin",)]


def test_a_top_up_is_remembered_likewise() -> None:
    best = [make_entry(f"best-{name}", {name: 0.95}) for name in "ab"]
    source = Source(customer="c", agent="a", eval_set="eval_sets/c/a/evals.yaml", item="q1", commit=commit(3))
    entry = make_entry("ab", {"a": 0.8, "b": 0.8}, source=source)
    world = Suggesting(platform=make_platform(*best, ceiling=10, fill_to=0.5), archived={"ab": entry})
    world.opened(world.proposals["ab"], 5)
    assert folders_looked_back_on(known_in(world)) == {"eval_sets/c/a"}
    world.archived = {}
    assert "no slot is left for it" in closing_of(world)


def test_a_refused_repack_holds_whatever_is_archived_and_its_eval_set_is_not_read() -> None:
    world = refused(repacking())
    record = known_in(world)
    assert [item.pull_request for item in record.refusals] == [5]
    assert folders_looked_back_on(record) == frozenset()
    assert world.desired.proposals == ()
    assert len(world.desired.suggestions.refused) == 1
    # Nobody reads it; it stays known where it is, for the case that people reopen the pull request.
    world.unread, world.archived = record.archived, {}
    assert known_in(world) == record
    assert len(world.desired.suggestions.refused) == 1
    world.unread = {}
    assert known_in(world).refusals == record.refusals
    assert world.record.archived == {}


def test_a_forged_refusal_of_a_repack_holds_nothing_back() -> None:
    world = refused(repacking())
    known_in(world)
    world.unread, world.archived, world.closed = world.record.archived, {}, []
    world.elsewhere = {5: None}
    assert [item.pull_request for item in world.desired.forged] == [5]
    assert world.desired.suggestions.refused == frozenset()
    assert folders_looked_back_on(known_in(world)) == {"eval_sets/c/a"}


def test_a_repack_whose_eval_set_was_not_read_is_left_as_it_is() -> None:
    world = repacking()
    pull = world.opened(world.proposals["ab"], 5)
    before = known_in(world)
    assert pull.branch in before.heads
    world.unread, world.archived = before.archived, {}
    plan = world.plan()
    assert kinds(plan, 5) == []
    assert known_in(world) == before


def test_an_archived_query_of_no_known_commit_is_not_remembered() -> None:
    world = repacking()
    entry = world.archived["abc"]
    assert entry.source is not None
    for source in (None, entry.source.model_copy(update={"commit": None})):
        world.archived = {"abc": entry.model_copy(update={"source": source})}
        assert world.desired.archived == {}


def test_a_new_ledger_says_what_the_branch_is() -> None:
    world = Suggesting(offer=OFFER, ledger=None)
    (write,) = found(world.plan(), WriteLedger)
    assert (write.parent, [path for path, _ in write.files]) == (
        None,
        ["README.md", "format.json", "suggestions.json"],
    )

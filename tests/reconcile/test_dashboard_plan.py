"""The dashboard issue: single, found again, edited only when it says something else, with the last runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from incumbent.errors import Problem
from incumbent.files.git.file_history import FileHistory
from incumbent.github.managed_pull_request import Action, Branch, PlannedPullRequest
from incumbent.github.models import (
    CloseIssue,
    ClosePullRequest,
    Commit,
    CreateComment,
    CreateIssue,
    EditIssue,
    Issue,
    OpenPullRequest,
    Operation,
    PushCommits,
    WriteLedger,
)
from incumbent.ledger.agreement.agreement import agreement_of
from incumbent.ledger.agreement.responses import responses_of
from incumbent.ledger.counted import AgreementRecord
from incumbent.ledger.model import AGREEMENT, RUNS, DisplayedVerdict, Refusal, Request, Run, RunRecord, Showing
from incumbent.ledger.refusals import grounds_in
from incumbent.ledger.releases.quarantine import FLAPS, QuarantineOffer
from incumbent.ledger.store import record_text
from incumbent.reconcile.dashboard_plan import RUNS_KEPT, DashboardInputs, plan_dashboard
from incumbent.reconcile.quarantine_plan import QUARANTINE, QuarantineStatus
from incumbent.report.dashboard import MARKER, TITLE
from incumbent.report.pull_request_bodies import GroupMembers
from incumbent.report.task_list import Task, boxes_in
from tests.agreement.factories import decided as decided_on
from tests.agreement.factories import facts, shown
from tests.factories import make_entry
from tests.reconcile.merges import TIP, commit, decided, make_pull, make_record
from tests.reconcile.proposing import BEST, OFFER, SPARE, Suggesting, close, make_platform
from tests.report.test_dashboard import rows, section
from tests.results.test_quarantine import offered

PAGE = "https://github.example/o/r/actions/runs/2"
NOW = "2026-11-23T10:00:00Z"


def make_scene(world: Suggesting | None = None, **more: Any) -> DashboardInputs:
    world = world or Suggesting()
    defaults: dict[str, Any] = {
        "commit": TIP,
        "at": NOW,
        "address": "https://github.example/o/r",
        "default_branch": "main",
        "page": PAGE,
        "wanted": world.desired,
        "planned": world.plan().planned,
        "barred": world.github.barred,
        "pushed": 0,
        "records": {},
        "issues": (),
        "ledger": "f" * 40,
        "noted": None,
        "agreement": agreement_of(()),
        "agents": {},
        "counted": {},
        "history": FileHistory(changes={}, is_whole=True),
        "runs": RunRecord(),
        "written": (),
    }
    return DashboardInputs(**defaults | more)


def planned(inputs: DashboardInputs) -> list[Operation]:
    found = plan_dashboard(make_platform(), inputs)
    assert all(number is None for number, _ in found)
    return [item for _, item in found]


def body_of(inputs: DashboardInputs) -> str:
    """What the dashboard says where there is none yet."""
    (issue,) = [item for item in planned(replace(inputs, issues=())) if isinstance(item, CreateIssue)]
    return issue.body


def runs_in(operations: list[Operation]) -> list[Run]:
    (write,) = [item for item in operations if isinstance(item, WriteLedger)]
    return list(RunRecord.model_validate_json(dict(write.files)[RUNS] or "", strict=False).runs)


# The issue ---------------------------------------------------------------------------------------------------------


def test_where_there_is_none_it_is_opened() -> None:
    (issue,) = planned(make_scene())
    assert isinstance(issue, CreateIssue)
    assert issue.title == TITLE
    assert issue.body.startswith(f"{MARKER}\n### Regression set: 3 of 150 slots taken")


def test_it_is_edited_only_where_it_says_something_else() -> None:
    body = body_of(make_scene())
    assert planned(make_scene(issues=(Issue(number=4, body=body.replace("\n", "\r\n")),))) == []
    old = Issue(number=4, body=f"{MARKER}\nsomething older")
    assert planned(make_scene(issues=(old,))) == [EditIssue(number=4, body=body)]


def test_one_that_a_race_doubled_is_closed_and_issues_without_our_mark_are_left_alone() -> None:
    body = body_of(make_scene())
    issues = (Issue(number=3, body="about the bot"), Issue(number=4, body=body), Issue(number=5, body=body))
    assert planned(make_scene(issues=issues)) == [CloseIssue(number=5)]


def test_the_page_of_another_run_is_no_reason_to_write() -> None:
    runs = RunRecord(runs=(Run(at=NOW, commit=TIP, did="admitted", run=PAGE),))
    inputs = make_scene(runs=runs)
    body = body_of(inputs).replace("/actions/runs/2", "/actions/runs/1")
    assert planned(replace(inputs, issues=(Issue(number=4, body=body),))) == []


# What it tells -----------------------------------------------------------------------------------------------------


def test_each_entry_of_a_group_that_waits_is_told() -> None:
    more = [make_entry(f"more{number}", {"a": 0.6, "b": 0.6}) for number in range(2)]
    world = Suggesting(platform=make_platform(*BEST, SPARE, *more, open_evictions=1, group=2))
    body = body_of(make_scene(world))
    _, waiting = world.desired.proposals
    assert "Could go or enter, not suggested yet (2)" in body
    for entry in waiting.entries:
        assert f"| `{entry}` | redundant |" in body


def test_what_is_suggested_and_what_could_go_is_told() -> None:
    world = Suggesting(platform=make_platform(open_evictions=1))
    spare, _ = world.proposals.values()
    world.opened(spare, 5)
    world.open.append(make_pull(6, branch="incumbent/evict/other-0123456789abcdef", closed=False, merge=None))
    body = body_of(make_scene(world))
    assert "| #5 |" in body
    assert "#6" not in body
    assert "`best2`" in body
    assert "compare" not in body


def test_the_number_of_one_that_was_refused_is_not_that_of_an_open_one() -> None:
    world = Suggesting()
    spare, *_ = world.proposals.values()
    refused = PlannedPullRequest(branch=spare.branch, action="refused", number=5)
    assert "#5" not in body_of(make_scene(world, planned=(refused,)))
    assert "| #5 |" in body_of(make_scene(world, planned=(replace(refused, action="keep"),)))


def test_what_people_made_of_verdicts_is_told_and_what_was_counted_is_kept() -> None:
    events = (shown(facts=facts(scores={"x": 0.9}, new=("x",))), decided_on("q1", action="reject", reason="No."))
    counts = record_text(AgreementRecord(events="1" * 40, conditions="2" * 24, files="3" * 24))
    inputs = make_scene(agreement=agreement_of(responses_of(events)), counted={AGREEMENT: counts})
    assert "`x`" in body_of(inputs)
    (write,) = [item for item in planned(inputs) if isinstance(item, WriteLedger)]
    assert dict(write.files) == {AGREEMENT: counts}


def test_an_offer_of_admissions_is_told_among_what_is_open() -> None:
    world = Suggesting(offer=OFFER)
    world.opened(OFFER.proposal, 8)
    assert "| #8 |" in body_of(make_scene(world))


def test_where_we_may_open_none_the_link_to_open_it_is_there() -> None:
    world = Suggesting(platform=make_platform(open_evictions=1))
    spare, _ = world.proposals.values()
    world.more["barred"] = frozenset({spare.branch})
    body = body_of(make_scene(world))
    link = f"https://github.example/o/r/compare/main...{spare.branch}?expand=1"
    assert link in body
    assert body.count("/compare/") == 1
    assert "Pull requests may not be opened with this token: `incumbent doctor` names the setting." in body


def test_offers_of_quarantine_are_told_with_their_pull_request_or_the_link_to_open_it() -> None:
    (offer,) = offered({"spare": "+-+-"})
    (ended,) = offered({"best1": "++++"}, {"best1": FLAPS})

    def status(offer: QuarantineOffer, action: Action, number: int | None = None) -> QuarantineStatus:
        planned = PlannedPullRequest(branch=f"{QUARANTINE}{offer.entry.id}-{'0' * 16}", action=action, number=number)
        return QuarantineStatus(offer=offer, planned=planned)

    statuses = (status(offer, "leave", 9), status(ended, "barred"), status(ended, "wait"))
    body = body_of(make_scene(quarantines=statuses))
    found = section(body, "Quarantine, for you to merge or close (3)")
    link = f"https://github.example/o/r/compare/main...{QUARANTINE}best1-{'0' * 16}?expand=1"
    assert rows(found) == [
        ["#9", "`spare`", "flaps: quarantine"],
        [f"[open the pull request]({link})", "`best1`", "stable: end its quarantine"],
        ["waits for room", "`best1`", "stable: end its quarantine"],
    ]
    assert "Pull request 9 has someone's commits, so the bot leaves it unchanged." in body
    assert section(body_of(make_scene()), "Quarantine") == ""


def test_what_was_pushed_without_a_pull_request_is_noted() -> None:
    words = "3 queries were pushed without a pull request, so no one was asked"
    assert words in body_of(make_scene(pushed=3))
    assert words not in body_of(make_scene())


def test_what_holds_somebodys_commits_is_noted() -> None:
    words = "Pull request 5 has someone's commits, so the bot leaves it unchanged."
    world = Suggesting()
    spare = world.proposals["spare"]
    world.opened(spare, 5)
    assert words not in body_of(make_scene(world))
    world.branches[spare.branch] = Branch(commit=commit(99), blobs={}, has_base=True)
    assert words in body_of(make_scene(world))


def test_a_refusal_that_nobody_gave_is_noted() -> None:
    world = Suggesting()
    refusal = Refusal(pull_request=3, branch=world.proposals["spare"].branch)
    world.record = world.record.model_copy(update={"refusals": (refusal,)})
    world.elsewhere[3] = None
    assert "The ledger names pull request 3 as a refusal, which it is not: ignored." in body_of(make_scene(world))


def showing(**codes: str) -> Showing:
    return Showing(
        digest="1" * 24, verdicts={id: DisplayedVerdict(verdict="2" * 24, codes=said) for id, said in codes.items()}
    )


def test_what_needs_a_person_is_told_by_the_pull_request_that_asks() -> None:
    review = "INCLUDE review NOVEL_COMBO"
    shown = showing(asked=review, decided=review, direct="INCLUDE direct NEW_COVERAGE", out="EXCLUDE direct REDUNDANT")
    answer = decided("accept").model_copy(update={"entry": "decided"})
    records = {
        9: make_record(9, seen={}, showing=shown, decisions=(answer,)),
        4: make_record(4, showing=showing(early=review)),
        5: make_record(5, showing=showing(decided=review), decisions=(answer,)),
        6: make_record(6),
    }
    body = body_of(make_scene(records=records))
    assert "#9" in body
    assert "`asked`" in body
    assert body.index("#4") < body.index("#9")
    for hidden in ("`decided`", "`direct`", "`out`", "#5", "#6"):
        assert hidden not in body


# Runs --------------------------------------------------------------------------------------------------------------

PUSHED = PushCommits(
    branch="main",
    parent=commit(1),
    commits=(Commit(files=(), message="Admit 2 queries of #7\n\nmore"), Commit(files=(), message="Pin 1 entry")),
)
OPENED = OpenPullRequest(branch="b", base="main", title="Evict x: redundant", body="")


def test_a_run_is_noted_by_what_people_would_tell_of_it() -> None:
    written = (PUSHED, CreateComment(body="x"), OPENED, ClosePullRequest(body="x"))
    (run,) = runs_in(planned(make_scene(written=written)))
    assert run == Run(
        at=NOW,
        commit=TIP,
        did="Admit 2 queries of #7; Pin 1 entry; suggested: Evict x: redundant; closed a suggestion",
        run=PAGE,
    )
    assert "Admit 2 queries of #7" in body_of(make_scene(written=written))


def test_a_run_that_only_spoke_is_not_noted() -> None:
    assert [type(item) for item in planned(make_scene(written=(CreateComment(body="x"),)))] == [CreateIssue]


def test_a_run_that_is_noted_already_is_not_noted_again() -> None:
    (run,) = runs_in(planned(make_scene(written=(OPENED,))))
    again = planned(make_scene(written=(OPENED,), runs=RunRecord(runs=(run,))))
    assert [type(item) for item in again] == [CreateIssue]


def test_a_run_that_did_more_meanwhile_takes_its_own_place() -> None:
    (run,) = runs_in(planned(make_scene(written=(OPENED,))))
    other = run.model_copy(update={"run": None})
    runs = runs_in(planned(make_scene(written=(OPENED, PUSHED), runs=RunRecord(runs=(other, run)))))
    assert [item.did.count(";") for item in runs] == [2, 0]
    assert runs[1] == other


def test_the_latest_runs_are_kept_and_no_more() -> None:
    old = tuple(Run(at=NOW, commit=TIP, did=f"run {place}", run=None) for place in range(RUNS_KEPT))
    runs = runs_in(planned(make_scene(written=(OPENED,), runs=RunRecord(runs=old))))
    assert [item.did for item in runs] == ["suggested: Evict x: redundant", *(item.did for item in old[:-1])]


def test_a_long_run_is_told_in_so_many_characters() -> None:
    commits = tuple(Commit(files=(), message="Admit a query of a long name") for _ in range(50))
    (run,) = runs_in(planned(make_scene(written=(replace(PUSHED, commits=commits),))))
    assert len(run.did) == 500


def test_the_note_of_the_run_comes_before_the_issue() -> None:
    assert [type(item) for item in planned(make_scene(written=(OPENED,)))] == [WriteLedger, CreateIssue]


# Boxes --------------------------------------------------------------------------------------------------------------


def boxes(inputs: DashboardInputs) -> set[Task]:
    return set(boxes_in(body_of(inputs)))


def test_what_waits_for_room_can_be_opened_or_kept() -> None:
    world = Suggesting(platform=make_platform(*BEST, SPARE, open_evictions=0))
    proposals = world.desired.proposals
    expected = {
        Task(action, item.entries[0], grounds_in(item.branch)) for item in proposals for action in ("suggest", "keep")
    }
    assert expected
    assert boxes(make_scene(world)) == expected
    (branch, *_) = [item.branch for item in proposals]
    world.more["barred"] = frozenset(item.branch for item in proposals)
    world.platform = make_platform(*BEST, SPARE, open_evictions=10)
    assert boxes(make_scene(world)) == set(), f"people open {branch} by its link"


def test_of_a_group_each_entry_has_its_boxes() -> None:
    entries = [make_entry(f"spare{number}", {"a": 0.6, "b": 0.6}) for number in range(3)]
    world = Suggesting(platform=make_platform(*BEST, *entries, group=50, open_evictions=0))
    found = boxes(make_scene(world))
    members = {item.id: item.grounds.digest for each in world.desired.proposals for item in each.members}
    assert members.items() <= {task.entry: task.shown for task in found}.items()
    assert len(found) == 2 * len(world.desired.suggestions.evictions)


def test_a_swap_can_be_opened_by_the_name_of_what_waits() -> None:
    known = make_entry("weak", {"a": 0.6}), make_entry("other", {"b": 0.9})
    better = make_entry("better", {"a": 0.9})
    world = Suggesting(platform=make_platform(*known, waiting=(better,), ceiling=2, open_evictions=0))
    (swap,) = [item for item in world.desired.proposals if item.admits is not None]
    assert boxes(make_scene(world)) == {Task("suggest", "better", grounds_in(swap.branch))}


def test_an_offer_has_no_box() -> None:
    world = Suggesting(platform=make_platform(*BEST[:1]), offer=OFFER)
    waiting = [PlannedPullRequest(branch=OFFER.branch, action="wait")]
    assert boxes(make_scene(world, planned=tuple(waiting))) == set()


def test_what_was_refused_can_be_suggested_again() -> None:
    world = Suggesting()
    branch = close(world, "spare", 5)
    assert Task("suggest", "spare", grounds_in(branch), 5) in boxes(make_scene(world))
    world = Suggesting()
    branch = world.proposals["spare"].branch
    fields: dict[str, Any] = {"by": "cora", "comment": 9, "said": "0" * 24, "grounds": grounds_in(branch)}
    world.keeps = [Request(entry="spare", action="keep", **fields)]
    assert Task("suggest", "spare", grounds_in(branch)) in boxes(make_scene(world, keeps=tuple(world.keeps)))
    assert "| `spare` | in a comment |" in body_of(make_scene(world, keeps=tuple(world.keeps)))


def test_an_entry_of_a_refused_group_can_be_suggested_again() -> None:
    digests = {item.id: item.grounds.digest for item in Suggesting().desired.suggestions.evictions}
    refusal = Refusal(pull_request=5, branch="incumbent/group/mixed-x-0123456789abcdef", entries=digests)
    world = Suggesting()
    world.record = world.record.model_copy(update={"refusals": (refusal,)})
    listing = GroupMembers(suggests=digests).text
    world.elsewhere[5] = make_pull(5, branch=refusal.branch, merge=None, body=listing)
    assert boxes(make_scene(world)) == {Task("suggest", id, digest, 5) for id, digest in digests.items()}


def test_a_query_that_needs_a_person_can_be_accepted_once_it_is_merged_and_where_the_bot_admits() -> None:
    verdicts = {"q1": DisplayedVerdict(verdict="1" * 24, codes="EXCLUDE review TIE")}
    showing = Showing(digest="2" * 24, verdicts=verdicts)
    merged = {4: make_record(4, showing=showing, seen={})}
    accept = Task("accept", "q1", "1" * 24, 4)
    assert accept in boxes(make_scene(records=merged))
    assert accept not in boxes(make_scene(records={4: make_record(4, showing=showing)}))
    assert "#4" in body_of(make_scene(records={4: make_record(4, showing=showing)}))
    by_hand = [item for _, item in plan_dashboard(make_platform(admissions="by-hand"), make_scene(records=merged))]
    (issue,) = [item for item in by_hand if isinstance(item, CreateIssue)]
    assert accept not in boxes_in(issue.body)


def test_what_was_left_out_of_merged_files_is_named_with_its_fix() -> None:
    link = Problem("regression_set/x.yaml", None, "the path is a symbolic link", "commit the file itself in its place")
    found = plan_dashboard(replace(make_platform(), left_out=(link,)), make_scene(unread=("eval_sets/c:/desk",)))
    (issue,) = [item for _, item in found if isinstance(item, CreateIssue)]
    assert "regression_set/x.yaml is left out: the path is a symbolic link. Fix: commit the file itself" in issue.body
    assert "eval_sets/c:/desk is not read" in issue.body

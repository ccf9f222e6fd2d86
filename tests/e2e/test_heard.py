"""Which events do what, and where commands are heard: in reviews, beside lines, on what is merged or closed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.bot import ADMITTED, BRANCH_LINE, WAITING, Bot, customer_files, platform_files
from tests.e2e.harness.merging import MergeMethod
from tests.e2e.harness.messages import error
from tests.e2e.harness.people import CURATOR, CUSTOMER, JOB, OWNER, STRANGER
from tests.e2e.harness.world import World
from tests.e2e.test_review import LEDGER, conclusion, ours, sticky

ACCEPTED = f"Accepted by `{CURATOR}`"


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    world.push("main", platform_files())
    return Bot(world, tmp_path / "runs")


def opened(world: World, bot: Bot) -> int:
    number = world.open_pull_request("quillow", customer_files()).number
    assert bot.on("pull_request_target", number=number).codes == (0, 0)
    return number


def test_a_command_in_an_approval_is_heard(world: World, bot: Bot) -> None:
    number = opened(world, bot)
    review = world.review(CURATOR, number, f"Approved.\n\n/incumbent accept {WAITING[0]} it matters")
    run = bot.on("pull_request_target", number=number, action="synchronize")
    assert run.codes == (0, 0)
    assert ACCEPTED in sticky(world, number)
    (decision,) = run.report["decisions"]
    assert (decision["by"], decision["comment"]) == (CURATOR, f"review:{number}:{review['id']}")
    again = bot.on("pull_request_target", number=number, action="synchronize")
    assert {call.method for call in again.calls} == {"GET", "POST"}
    assert [call.path for call in again.calls if call.method == "POST"] == ["/graphql"]
    assert len(ours(world, number)) == 1
    # After the merge it counts as what is said in a comment does.
    before = world.head("main")
    assert bot.on("push", before=before, after=world.merge(number)).codes == (0, 0)
    assert "Merged as" in sticky(world, number)
    brought = world.hosted.bare.git("ls-tree", "-r", "--name-only", "main").splitlines()
    entries = [name for name in brought if name.startswith("regression_set/") and "branch-line" in name]
    assert len(entries) == 2
    assert any(f"-{WAITING[0]}-" in name for name in entries)


def test_a_review_is_heard_by_the_next_run_of_any_kind_and_ends_with_its_dismissal(world: World, bot: Bot) -> None:
    number = opened(world, bot)
    body = f"/incumbent reject {ADMITTED} not for us"
    review = world.review(CURATOR, number, body, event="REQUEST_CHANGES")
    bot.on("pull_request_target", number=number, action="synchronize")
    assert "None of 12 deserves a slot" in sticky(world, number)
    world.act(OWNER, "PUT", f"/pulls/{number}/reviews/{review['id']}/dismissals", {"message": "settled"})
    bot.on("pull_request_target", number=number, action="synchronize")
    assert "is void" in sticky(world, number)


@pytest.mark.exhaustive
def test_a_command_beside_a_line_is_heard_and_acknowledged_there(world: World, bot: Bot) -> None:
    number = opened(world, bot)
    world.review(CURATOR, number, "See below.", event="COMMENT", beside=f"/incumbent accept {WAITING[0]} it matters")
    bot.on("pull_request_target", number=number, action="synchronize")
    assert ACCEPTED in sticky(world, number)
    (beside,) = world.pages(f"/pulls/{number}/comments")
    assert beside["reactions"]["+1"] == 1
    world.act(CURATOR, "PATCH", f"/pulls/comments/{beside['id']}", {"body": "Never mind."})
    bot.on("pull_request_target", number=number, action="synchronize")
    assert ACCEPTED not in sticky(world, number)


def test_what_somebody_put_into_a_curators_review_is_not_heard(world: World, bot: Bot) -> None:
    number = opened(world, bot)
    review = world.review(CURATOR, number, "/incumbent help")
    forged = {"body": f"/incumbent accept {WAITING[0]} says the author"}
    assert world.act(CUSTOMER, "PUT", f"/pulls/{number}/reviews/{review['id']}", forged).ok
    bot.on("pull_request_target", number=number, action="synchronize")
    assert ACCEPTED not in sticky(world, number)
    (answer,) = [body for body in ours(world, number) if "may have been edited" in body]
    assert f"To `{CURATOR}`, who said it in a review" in answer
    bot.on("pull_request_target", number=number, action="synchronize")
    assert len(ours(world, number)) == 2


@pytest.mark.parametrize("method", ["merge", "squash"])
@pytest.mark.exhaustive
def test_an_edited_title_of_a_merged_pull_request_starts_nothing(world: World, bot: Bot, method: MergeMethod) -> None:
    number = opened(world, bot)
    before = world.head("main")
    after = world.merge(number, method=method)
    assert bot.on("push", before=before, after=after).codes == (0, 0)
    said, labels, ledger = sticky(world, number), world.labels(number), world.head(LEDGER)
    assert f"Merged as `{after[:12]}`" in said
    assert world.act(CUSTOMER, "PATCH", f"/pulls/{number}", {"title": "ENG-7: add queries"}).ok
    for action in ("edited", "labeled", "closed"):
        run = bot.on("pull_request_target", number=number, action=action)
        assert (run.codes, run.calls) == ((0, 0), [])
    assert (sticky(world, number), world.labels(number), world.head(LEDGER)) == (said, labels, ledger)


@pytest.mark.exhaustive
def test_a_review_that_runs_late_leaves_what_is_merged_alone(world: World, bot: Bot) -> None:
    number = opened(world, bot)
    late = bot.start("pull_request_target", number=number, action="synchronize")
    before = world.head("main")
    assert bot.on("push", before=before, after=world.merge(number)).codes == (0, 0)
    said, ledger = sticky(world, number), world.head(LEDGER)
    assert (late.analyse.run(), late.publish.run()) == (0, 0)
    assert (sticky(world, number), world.head(LEDGER)) == (said, ledger)


@pytest.mark.exhaustive
def test_a_title_that_is_edited_starts_nothing(world: World, bot: Bot) -> None:
    number = opened(world, bot)
    run = bot.on("pull_request_target", number=number, action="edited")
    assert (run.codes, run.calls) == ((0, 0), [])


@pytest.mark.exhaustive
def test_labels_leave_a_pull_request_that_is_closed_and_come_back(world: World, bot: Bot) -> None:
    number = opened(world, bot)
    labels = world.labels(number)
    assert len(labels) == 2
    world.close(number)
    assert bot.on("pull_request_target", number=number, action="closed").codes == (0, 0)
    assert world.labels(number) == []
    assert {call.method for call in bot.on("schedule").calls} == {"GET"}
    assert world.act(CUSTOMER, "PATCH", f"/pulls/{number}", {"state": "open"}).ok
    assert bot.on("pull_request_target", number=number, action="reopened").codes == (0, 0)
    assert world.labels(number) == labels


def test_a_verdict_that_fails_the_check_does_not_fail_the_job(world: World, bot: Bot) -> None:
    name = f"{BRANCH_LINE}/evals.yaml"
    faulty = customer_files() | {name: customer_files()[name].replace("- id: b01", "- idd: b01")}
    pull = world.open_pull_request("quillow", faulty)
    run = bot.on("pull_request_target", number=pull.number)
    assert run.codes == (0, 0)
    assert (conclusion(world, pull.head), run.outputs["conclusion"]) == ("failure", "failure")
    # Where the check cannot be written, the job is all there is to say so.
    world.push("quillow", customer_files(), user=CUSTOMER)
    world.gateway.fail(
        lambda request: request.path.endswith("/check-runs") and request.method == "POST", error(403, "Forbidden"), 99
    )
    assert bot.on("pull_request_target", number=pull.number, action="synchronize").codes[1] != 0


@pytest.mark.exhaustive
def test_strangers_cost_one_answer_and_no_commit(world: World, bot: Bot) -> None:
    number = opened(world, bot)
    ledger = world.head(LEDGER)
    for _ in range(3):
        comment = world.comment(STRANGER, number, f"/incumbent accept {WAITING[0]} please")
        assert bot.on("issue_comment", number=number, comment=comment).codes == (0, 0)
    assert world.head(LEDGER) == ledger
    assert len(ours(world, number)) == 2
    comment = world.comment(CURATOR, number, f"/incumbent accept {WAITING[0]} it matters")
    bot.on("issue_comment", number=number, comment=comment)
    assert ACCEPTED in sticky(world, number)
    assert world.head(LEDGER) != ledger


@pytest.mark.exhaustive
def test_a_comment_of_another_workflow_does_not_take_the_place_of_ours(world: World, bot: Bot) -> None:
    number = world.open_pull_request("quillow", customer_files()).number
    token = world.job_token({"pull-requests": "write"})
    forged = "<!-- incumbent:verdicts 000000000000000000000000 -->\nAll is well."
    path = f"/repos/{world.full_name}/issues/{number}/comments"
    bot.on("pull_request_target", number=number)
    body = sticky(world, number)
    assert world.gateway.ask(token, "POST", path, {"body": forged}).ok
    bot.on("pull_request_target", number=number, action="synchronize")
    assert ours(world, number) == [body]
    assert JOB not in body

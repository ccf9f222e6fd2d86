"""What people are told on their pull request once it was merged, and what is remembered while somebody is needed."""

from __future__ import annotations

from incumbent.github.models import AddLabels, EditComment, RemoveLabel
from incumbent.ledger.model import record_path
from incumbent.reconcile.admission_plan import AdmissionWrites
from incumbent.reconcile.admission_pull_request import Refused
from incumbent.reconcile.merge_comment import closing_operations
from tests.factories import make_entry
from tests.github.scenes import QUERIES, Hub, make_platform, make_query
from tests.reconcile.admitting import NEW, OTHER, after, said
from tests.reconcile.merges import BOT, id_of, make_left, make_pull, with_set

LOW = make_query("q04", {"a": 0.7}, line=6)


def labels(plans: list[AdmissionWrites]) -> tuple[set[str], set[str]]:
    """Labels that were put on and taken off."""
    done = [item for plan in plans for _, items in plan.spoken for item in items]
    added = {name for item in done if isinstance(item, AddLabels) for name in item.names}
    return added, {item.name for item in done if isinstance(item, RemoveLabel)}


def outcome(comment: str) -> str:
    """The first notice of our comment."""
    return comment.split("\n")[1].removeprefix("> ")


def test_the_comment_says_by_which_commit_and_how_many_entered() -> None:
    world = after(NEW, OTHER, LOW).seen()
    plans = world.run()
    assert outcome(world.comment) == "Merged as `aaaaaaaaaaaa`: 2 of its queries are in the regression set."
    assert len(world.hub.ours) == 1
    assert labels(plans) == (set(), {"incumbent: admits"})


def test_what_others_made_redundant_since_people_looked_is_named() -> None:
    world = after(NEW, OTHER).seen()
    rivals = (make_entry(f"rival{copy}", {"d": 0.95}) for copy in (1, 2))
    world.hub.platform = with_set(world.platform, *rivals)
    world.run()
    assert outcome(world.comment) == (
        "Merged as `aaaaaaaaaaaa`: 1 of its queries is in the regression set. "
        "Since people looked, what others brought has made `q01` redundant."
    )
    assert world.reconciled is not None
    assert world.reconciled.left == {id_of("q01"): make_left(NEW)}


def test_what_was_excluded_all_along_is_not_said_to_be_redundant_by_now() -> None:
    world = after(NEW, LOW).seen()
    world.run()
    assert "redundant." not in outcome(world.comment)


def test_what_is_offered_enters_once_people_merge_it_and_the_record_stays_until_then() -> None:
    world = after(NEW, LOW).seen()
    world.more["offering"] = True
    world.run()
    assert outcome(world.comment) == (
        "Merged as `aaaaaaaaaaaa`: 0 of its queries are in the regression set. Once people merge the pull request of "
        "the bot's that offers it, `q01` enters as well."
    )
    assert record_path(7) in world.hub.ledger
    assert world.plan().next == ()
    world.more["offering"] = False
    world.run()
    assert outcome(world.comment) == "Merged as `aaaaaaaaaaaa`: 1 of its queries is in the regression set."
    assert record_path(7) not in world.hub.ledger


def test_an_update_that_is_offered_is_not_said_to_be_in_the_set() -> None:
    world = after(NEW, hub=Hub(platform=with_set(make_platform(), make_entry(id_of("q01"), {"d": 0.7})))).seen()
    world.hub.say("cora", "/incumbent accept q01")
    world.more["offering"] = True
    world.run()
    assert "0 of its queries are in the regression set. Once people merge" in outcome(world.comment)


def test_what_people_turned_down_is_named_and_the_record_stays_so_that_they_may_reopen_it() -> None:
    world = after(NEW, OTHER).seen()
    world.more["offering"] = True
    offer = world.plan().offer
    assert offer is not None
    world.more["refused"] = Refused(contents=frozenset(offer.contents))
    world.run()
    assert "People closed the pull request that offered `q01` and `q02`." in outcome(world.comment)
    assert record_path(7) in world.hub.ledger


def test_a_pin_that_is_only_offered_keeps_the_record_and_a_pin_that_is_written_does_not() -> None:
    world = after(NEW).seen()
    world.hub.say("cora", "/incumbent pin q01 an audit")
    world.more["offering"] = True
    world.run()
    assert [item.action for item in world.records[7].decisions] == ["pin"]
    world.more["offering"] = False
    world.run()
    assert world.platform.regression_set.entries[id_of("q01")].pin == "an audit"
    assert record_path(7) not in world.hub.ledger


def test_while_somebody_is_needed_the_record_says_what_is_shown_and_nothing_is_written_twice() -> None:
    world = after(*QUERIES).seen()
    world.run()
    record = world.records[7]
    assert record.showing is not None
    assert record.showing.verdicts[id_of("q02")].codes == "INCLUDE review NOVEL_COMBO"
    assert record.classifications == {}
    assert world.plan().next == ()
    assert world.reconciled is not None
    assert world.reconciled.left == {}


def test_a_rejection_outlasts_the_record() -> None:
    world = after(*QUERIES).seen()
    world.hub.say("cora", "/incumbent reject q02 q03 we do not sell this")
    world.run()
    assert world.records == {}
    assert world.reconciled is not None
    said_of = [(item.pull_request, item.decision.entry) for item in world.reconciled.rejections]
    assert said_of == [(7, id_of("q02")), (7, id_of("q03"))]
    assert set(world.reconciled.left) == {id_of("q04")}


def test_what_was_pushed_is_told_to_nobody() -> None:
    world = after(NEW, LOW)
    world.pull = False
    plans = world.run()
    assert [said(plan) for plan in plans] == [[]]
    assert world.reconciled is not None
    assert {item.pull_request for item in world.reconciled.left.values()} == {None}
    assert set(world.reconciled.left) == {id_of("q01"), id_of("q04")}


def test_where_nothing_is_left_to_decide_the_comment_and_the_labels_say_so() -> None:
    hub = Hub()
    hub.review()
    comments = tuple(hub.comments)
    pull = make_pull(labels=("incumbent: needs a curator", "mine"))
    edit, label = closing_operations(pull, BOT, comments)
    assert isinstance(edit, EditComment)
    assert "was changed or taken out since" in edit.body
    assert label == RemoveLabel(name="incumbent: needs a curator")
    assert closing_operations(make_pull(), BOT, ()) == ()

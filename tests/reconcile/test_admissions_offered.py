"""Where the default branch takes no commits of ours: what is offered instead, and what people turned down of it."""

from __future__ import annotations

import pytest

from incumbent.ledger.model import record_path
from incumbent.reconcile.admission_plan import AdmissionWrites
from incumbent.reconcile.admission_pull_request import Refused, content_of
from incumbent.report.pull_request_bodies import EntryChange
from tests.factories import make_entry
from tests.github.scenes import Hub, make_platform, make_query
from tests.reconcile.admitting import ASKED, GRAVE, NEW, OTHER, after, said
from tests.reconcile.merges import entry_of, id_of, source, with_set


def offered(plan: AdmissionWrites) -> list[tuple[str, EntryChange, int | None]]:
    """Which entries the pull request of ours would change, how, and who brought them."""
    assert plan.offer is not None
    assert plan.commits == ()
    return [(item.entry.id, item.change, item.pull_request) for item in plan.offer.offered]


@pytest.mark.untraced
def test_where_the_branch_takes_no_commits_what_would_be_committed_is_offered() -> None:
    world = after().seen()
    world.hub.say("cora", "/incumbent pin q01 an audit")
    world.more["offering"] = True
    world.run()
    plan = world.plan()
    assert offered(plan) == [(id_of("q01"), EntryChange.ENTERS, 7), (id_of("q01"), EntryChange.PINNED, 7)]
    assert world.platform.regression_set.entries.keys() == make_platform().regression_set.entries.keys()
    assert record_path(7) in world.hub.ledger


def test_everything_that_changes_is_offered_but_not_what_goes_on_waiting() -> None:
    line = [make_entry("w1", {"d": 0.9}), make_entry("w2", {"a": 0.8, "b": 0.8}), make_entry("w3", {"a": 0.4})]
    renamed = make_query("renamed", {"c": 0.7})
    entry = entry_of(renamed, source=source("before"))
    platform = with_set(make_platform(ceiling=9), entry, waiting=line, gone=[GRAVE])
    world = after(renamed, hub=Hub(platform=platform))
    world.more |= {"offering": True, "restores": {"gone": ASKED}}
    assert offered(world.plan()) == [
        ("gone", EntryChange.RETURNS, None),
        ("w1", EntryChange.ENTERS, None),
        ("w3", EntryChange.LEAVES, None),
        (entry.id, EntryChange.MOVES, None),
    ]


def test_what_would_wait_is_offered_as_such() -> None:
    world = after(NEW, hub=Hub(platform=make_platform(ceiling=6))).seen()
    world.more["offering"] = True
    assert offered(world.plan()) == [(id_of("q01"), EntryChange.WAITS, 7)]


def refused(plan: AdmissionWrites) -> Refused:
    """What people turn down who close the pull request that offers ``plan``."""
    assert plan.offer is not None
    return Refused(branches=frozenset({plan.offer.branch}), contents=frozenset(plan.offer.contents))


def test_what_people_turned_down_is_not_offered_again_alone_or_with_something_else() -> None:
    world = after(NEW, OTHER).seen()
    world.more["offering"] = True
    plan = world.plan()
    assert plan.offer is not None
    (first, second) = plan.offer.offered
    world.more["refused"] = Refused(contents=frozenset({content_of(first.entry)}))
    assert offered(world.plan()) == [(second.entry.id, EntryChange.ENTERS, 7)]
    world.more["refused"] = refused(plan)
    assert world.plan().offer is None
    world.run()
    assert record_path(7) in world.hub.ledger


def test_what_the_ledger_forgot_of_a_refused_offer_is_read_off_its_branch() -> None:
    world = after(NEW).seen()
    world.more["offering"] = True
    no = refused(world.plan())
    world.more["refused"] = Refused(branches=no.branches)
    assert world.plan().offer is None
    assert "People closed the pull request that offered `q01`" in said(world.plan())[0]
    world.more["refused"] = Refused(branches=frozenset({"incumbent/admit/set-7-0123456789abcdef"}))
    assert world.plan().offer is not None


def test_the_update_of_an_entry_is_turned_down_with_its_pin() -> None:
    old = make_query("q01", {"d": 0.7}, text="what it said before")
    pinned = entry_of(old, pin="an audit")
    world = after(NEW, hub=Hub(platform=with_set(make_platform(), pinned))).seen()
    world.hub.say("cora", "/incumbent accept q01")
    world.more["offering"] = True
    world.run()
    world.more["refused"] = refused(world.plan())
    assert world.plan().offer is None


@pytest.mark.parametrize("what", ["waiting", "renamed", "pinned", "restored"])
def test_each_kind_of_change_can_be_turned_down(what: str) -> None:
    entry = entry_of(NEW)
    platform, world = make_platform(), after()
    if what == "waiting":
        world.queries, platform = (), with_set(platform, waiting=[make_entry("w", {"e": 0.9})])
    elif what == "renamed":
        world.queries = (make_query("renamed", {"d": 0.9}, text=NEW.query.turns[0]),)
        platform = with_set(platform, entry)
    elif what == "pinned":
        world = after(NEW)
        platform = with_set(platform, entry)
        world.hub.platform = platform
        world.seen()
        world.hub.say("cora", "/incumbent pin q01 an audit")
        world.hub.review()
    else:
        world.queries, platform = (), with_set(platform, gone=[GRAVE])
        world.more["restores"] = {"gone": ASKED}
    world.hub.platform = platform
    world.more["offering"] = True
    plan = world.plan()
    (item,) = offered(plan)
    assert item[0] in ("w", entry.id, "gone")
    world.more["refused"] = refused(plan)
    assert world.plan().offer is None


def test_leaving_the_line_is_turned_down_for_good_as_well() -> None:
    world = after(hub=Hub(platform=with_set(make_platform(ceiling=6), waiting=[make_entry("w", {"e": 0.9})])))
    world.queries = ()
    world.stated["departed"] = {"w": "source-deleted"}
    world.more["offering"] = True
    offer = world.plan().offer
    assert offer is not None
    world.more["refused"] = Refused(branches=frozenset({offer.branch}), contents=frozenset(offer.contents))
    assert world.plan().offer is None

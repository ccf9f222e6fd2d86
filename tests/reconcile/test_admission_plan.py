"""After the merge: what enters, by which commits, and what waits until somebody has looked again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from incumbent.classifier.language_model.abilities import BEST, KeptAbilities
from incumbent.curator.store import RegressionSet
from incumbent.github.decisions import Ended, RecordedCorrections
from incumbent.github.models import PushCommits, React, WriteLedger
from incumbent.intake.expectation import ExpectedTools
from incumbent.intake.query import Setup
from incumbent.ledger.event_files import parsed
from incumbent.ledger.events import SET_EVENTS, Closed, Forgotten, events_path
from incumbent.ledger.model import (
    CORRECTIONS,
    RECONCILED,
    AbilityRecord,
    CorrectionRecord,
    StoredCorrection,
    folder_path,
    record_path,
)
from incumbent.reconcile.admission_plan import AdmissionWrites
from incumbent.reconcile.merged_submissions import judged_again
from incumbent.text.digests import digest
from tests.factories import make_entry
from tests.github.scenes import BOT, QUERIES, Hub, make_analysis, make_platform, make_query, reworded
from tests.reconcile.admitting import ASKED, GRAVE, NEW, after, said
from tests.reconcile.merges import (
    MERGE,
    MERGED_AT,
    TIP,
    commit,
    entry_of,
    facts,
    id_of,
    make_comment,
    make_left,
    make_pull,
    merge_of,
    source,
    with_set,
)


def reactions(plan: AdmissionWrites) -> list[str]:
    return [item.reaction for _, item in plan.next if isinstance(item, React)]


# What enters -------------------------------------------------------------------------------------------------------


def test_what_people_saw_admitted_enters_by_a_commit_once_that_is_noted() -> None:
    world = after().seen()
    first = world.step()
    assert [type(item) for _, item in first.next] == [WriteLedger]
    record = world.records[7]
    assert record.merged is not None
    assert (record.merged.commit, record.merged.at) == (MERGE, MERGED_AT)
    assert record.merged.seen == {id_of("q01"): facts(QUERIES[0]).contents["q01"]}
    second = world.step()
    (push,) = second.commits
    assert isinstance(push, PushCommits)
    assert (push.branch, push.parent) == ("main", TIP)
    assert world.messages == ["Admit 1 query of #7"]
    entry = world.platform.regression_set.entries[id_of("q01")]
    assert (entry.admitted.at, entry.admitted.by) == (MERGED_AT, None)
    assert entry.source == source("q01", eval_set=NEW.query.file, pull_request=7, commit=MERGE)
    assert world.plan().next == ()


def test_what_was_found_out_of_an_endpoint_is_kept() -> None:
    world, kept = after(NEW), KeptAbilities(abilities=BEST, found=1_800_000_000)
    world.stated["abilities"] = {"a" * 24: kept}
    world.run()
    assert world.hub.abilities == AbilityRecord(endpoints={"a" * 24: kept})
    assert not world.plan().next


def test_commits_come_before_words_and_words_before_what_is_remembered() -> None:
    world = after().seen()
    world.step()
    kinds = [type(item).__name__ for _, item in world.plan().next]
    assert kinds[0] == "PushCommits"
    assert kinds[-1] == "WriteLedger"
    assert "EditComment" in kinds


def test_what_nobody_saw_needs_a_person_first_and_enters_once_accepted() -> None:
    world = after(NEW)
    world.run()
    assert (world.messages, world.records[7].merged is not None) == ([], True)
    world.hub.say("cora", "/incumbent accept q01")
    first, *_ = world.run()
    assert reactions(first) == ["+1"]
    assert world.messages == ["Admit 1 query of #7"]
    assert world.platform.regression_set.entries[id_of("q01")].admitted.by == "cora"
    assert world.records == {}


@pytest.mark.parametrize(
    "change",
    [
        {"turns": ("q01 was shown, and asks for something else by now",)},
        {"setup": Setup(attachments=("plan.pdf",))},
        {"expected": {"tool_calls": [{"name": "erase"}]}},
    ],
    ids=["another text", "another attachment", "other calls"],
)
def test_what_replaced_a_seen_query_under_its_name_needs_a_person(change: dict[str, Any]) -> None:
    world = after(NEW).seen()
    stated = {"expected_tools": ExpectedTools(steps=(("erase",),))} if "expected" in change else {}
    world.queries = (reworded(NEW, **change).model_copy(update=stated),)
    world.run()
    assert world.messages == []
    merged = world.records[7].merged
    assert merged is not None
    assert merged.seen == {id_of("q01"): facts(NEW).contents["q01"]}
    showing = world.records[7].showing
    assert showing is not None
    assert "UNSEEN" in showing.verdicts[id_of("q01")].codes


def test_what_was_seen_for_another_agent_needs_a_person() -> None:
    world = after(NEW)
    world.hub.review(make_analysis((NEW,), specification="of yesterday"))
    world.run()
    assert world.messages == []


def test_what_an_earlier_version_recorded_as_seen_by_name_alone_was_not_seen() -> None:
    world = after(NEW).seen()
    world.step()
    (text,) = [text for path, text in world.hub.ledger.items() if path == record_path(7)]
    old = json.loads(text)
    old["merged"]["seen"] = [id_of("q01")]
    world.hub.ledger[record_path(7)] = json.dumps(old)
    world.run()
    assert world.messages == []


def test_nobody_is_heard_twice_by_a_run_that_dies_after_its_note() -> None:
    world = after().seen()
    world.run()
    world.hub.say("eve", "/incumbent accept q02")
    assert reactions(world.step()) == ["confused"]
    assert reactions(world.plan()) == []


def test_what_was_pushed_enters_by_nobody_and_nobody_is_told() -> None:
    world = after(NEW)
    world.pull = False
    (plan,) = world.run()
    assert (plan.note, plan.commits, plan.spoken) == ((), (), ())
    assert world.reconciled is not None
    assert world.reconciled.left == {id_of("q01"): make_left(NEW, None)}


def test_each_merge_is_judged_against_the_set_as_the_one_before_left_it() -> None:
    twin = make_query("q02", {"d": 0.9})
    world = after(NEW, twin)
    world.seen()
    world.merged = (twin,)
    world.before = (merge_of(NEW, by=commit(6), at="2026-11-21T00:00:00Z"),)
    world.found = {commit(6): make_pull(6, merge=commit(6))}
    world.more["comments"] = {6: (), 7: tuple(world.hub.comments)}
    plan = world.plan()
    (ledger,) = [item for _, item in plan.next if isinstance(item, WriteLedger)]
    written = [path for path, _ in ledger.files]
    assert written == [events_path(6), events_path(7), record_path(6), record_path(7)]
    assert [number for number, _ in plan.spoken] == [6, 7]


def test_an_entry_that_waits_for_a_slot_enters_first_where_one_is_free() -> None:
    waiting = make_entry("w", {"e": 0.9})
    world = after(NEW, hub=Hub(platform=with_set(make_platform(ceiling=7), waiting=[waiting]))).seen()
    world.run()
    known = world.platform.regression_set
    assert world.messages == ["Let in what waited for a slot", "Let 1 query wait for a slot of #7"]
    assert known.entries["w"].admitted.at == "2026-11-23T10:00:00Z"
    assert list(known.waiting) == [id_of("q01")]


def test_what_waits_leaves_the_line_with_its_source_unless_a_person_pinned_it() -> None:
    line = [make_entry("w", {"e": 0.9}), make_entry("kept", {"d": 0.9}, pin="an audit")]
    world = after(hub=Hub(platform=with_set(make_platform(ceiling=6), waiting=line)))
    world.queries = ()
    world.stated["departed"] = {"w": "source-deleted", "kept": "customer-left"}
    world.run()
    assert world.messages == ["Take out of the line what left its eval set"]
    assert list(world.platform.regression_set.waiting) == ["kept"]
    assert "w" not in world.platform.regression_set.entries


def test_a_renamed_query_takes_its_entry_along() -> None:
    there = make_query("renamed", {"d": 0.9}, text=NEW.query.turns[0])
    platform = with_set(make_platform(), entry_of(NEW, source=source("q01", commit="b" * 40)))
    world = after(there, hub=Hub(platform=platform))
    world.run()
    assert world.messages == ["Follow renamed queries"]
    path = f"regression_set/{id_of('q01')}.yaml"
    assert (world.files[path] or "").startswith("# kept by hand\n")
    entry = world.platform.regression_set.entries[id_of("q01")]
    assert entry.source == source("renamed", commit=TIP)


def test_a_pin_that_was_said_before_the_merge_is_written_into_the_entry() -> None:
    world = after().seen()
    world.hub.say("cora", "/incumbent pin q01 an audit")
    world.run()
    assert world.messages == ["Admit 1 query of #7", "Pin or unpin 1 entry of #7"]
    assert world.platform.regression_set.entries[id_of("q01")].pin == "an audit"
    assert world.records[7].decisions == ()


def test_a_pin_of_what_waits_is_written_where_it_waits() -> None:
    world = after(NEW, hub=Hub(platform=make_platform(ceiling=6))).seen()
    world.hub.say("cora", "/incumbent pin q01 an audit")
    world.run()
    assert world.platform.regression_set.waiting[id_of("q01")].pin == "an audit"
    assert set(world.files) == {f"regression_set/waiting/{id_of('q01')}.yaml"}


@pytest.mark.untraced
def test_a_pin_on_what_took_over_its_entry_keeps_what_people_wrote_there() -> None:
    old = make_query("q01", {"d": 0.7}, text="what it said before")
    world = after(NEW, hub=Hub(platform=with_set(make_platform(), entry_of(old)))).seen()
    world.hub.say("cora", "/incumbent accept q01")
    world.hub.say("cora", "/incumbent pin q01 an audit")
    world.run()
    entry = world.platform.regression_set.entries[id_of("q01")]
    assert (entry.turns, entry.pin) == (NEW.query.turns, "an audit")
    assert (world.files[f"regression_set/{id_of('q01')}.yaml"] or "").startswith("# kept by hand\n")


@pytest.mark.parametrize(("ceiling", "part"), [(9, "entries"), (6, "waiting")])
def test_what_a_curator_asks_back_returns_or_waits(ceiling: int, part: str) -> None:
    world = after(hub=Hub(platform=with_set(make_platform(ceiling=ceiling), gone=[GRAVE])))
    world.queries = ()
    world.more["restores"] = {"gone": ASKED}
    world.step()
    known = world.platform.regression_set
    assert world.messages == ["Restore gone, as cora asked"]
    assert getattr(known, part)["gone"].restored == "abc"
    assert known.tombstones == {}


# What is remembered ------------------------------------------------------------------------------------------------


def test_what_did_not_enter_is_remembered_once_nobody_is_needed_any_more() -> None:
    low = make_query("q04", {"a": 0.7})
    world = after(NEW, low).seen()
    world.run()
    assert world.records == {}
    assert world.reconciled is not None
    assert world.reconciled.commit == TIP
    assert world.reconciled.left == {id_of("q04"): make_left(low)}
    assert list(world.folders[folder_path("eval_sets/acme/desk")].classifications) == [low.key]


def test_the_records_of_what_ended_otherwise_go() -> None:
    world = after(NEW).seen()
    world.hub.ledger[record_path(3)] = world.hub.ledger[record_path(7)].replace(
        '"pull_request": 7', '"pull_request": 3'
    )
    world.more |= {"ended": (3, 7), "merges": frozenset({7})}
    gone = world.hub.ledger[record_path(3)]
    world.run()
    assert set(world.hub.ledger) == {"README.md", "format.json", RECONCILED, events_path(3), events_path(7)}
    at = world.inventory.at
    assert parsed(world.hub.ledger[events_path(3)]) == (
        Closed(at=at, pull_request=3, commit=None),
        Forgotten(at=at, pull_request=3, record=digest(gone)),
    )


def test_a_rejection_holds_when_its_text_is_looked_at_again_and_its_comment_stands() -> None:
    low = make_query("q04", {"a": 0.7})
    world = after(NEW, low).seen()
    world.hub.say("cora", "/incumbent reject q04 we do not sell this")
    world.run()
    assert world.reconciled is not None
    (rejection,) = world.reconciled.rejections
    assert (rejection.pull_request, rejection.decision.action) == (7, "reject")
    known = world.platform.regression_set
    world.hub.platform = replace(
        world.platform,
        regression_set=RegressionSet({id: item for id, item in known.entries.items() if "ra" not in id}, {}, {}),
    )
    left = {id_of("q04"): make_left(low)}
    ((_, case),) = judged_again(world.inventory, left, ())
    world.again = (replace(case, pull=make_pull()),)
    world.more["rejections"] = (rejection,)
    assert "| **`q04`** | `cora` | `we do not sell this` |" in said(world.plan())[0]
    world.hub.comments = [item for item in world.hub.comments if item.author == BOT]
    assert "1 needs you" in said(world.plan())[0]


def test_what_is_looked_at_again_is_not_heard_again() -> None:
    low = make_query("q04", {"a": 0.7})
    world = after(low)
    ((_, case),) = judged_again(world.inventory, {id_of("q04"): make_left(low)}, ())
    world.again = (replace(case, pull=make_pull()),)
    world.merged = ()
    known = world.platform.regression_set
    world.hub.platform = replace(
        world.platform,
        regression_set=RegressionSet({id: item for id, item in known.entries.items() if "ra" not in id}, {}, {}),
    )
    world.hub.comments = [make_comment(41, "cora", "/incumbent accept q04"), make_comment(40, "eve", "hello")]
    plan = world.step()
    assert reactions(plan) == []
    assert world.records[7].cursor == 41


def test_where_nothing_is_to_do_the_plan_is_empty() -> None:
    world = after()
    world.queries = ()
    world.run()
    plan = world.plan()
    assert (plan.next, plan.rest, plan.offer) == ((), (), None)


def test_what_was_restored_stays_in_line_although_its_source_has_gone() -> None:
    world = after(hub=Hub(platform=with_set(make_platform(ceiling=6), gone=[GRAVE])))
    world.queries = ()
    world.more["restores"] = {"gone": ASKED}
    world.step()
    world.more["restores"] = {}
    world.stated["departed"] = {"gone": "source-deleted"}
    world.run()
    assert list(world.hub.platform.regression_set.waiting) == ["gone"]


def test_what_waits_leaves_the_line_with_its_source() -> None:
    waiting = make_entry("w", {"e": 0.9})
    world = after(hub=Hub(platform=with_set(make_platform(ceiling=6), waiting=[waiting])))
    world.queries = ()
    world.stated["departed"] = {"w": "source-deleted"}
    world.run()
    known = world.hub.platform.regression_set
    assert (list(known.waiting), list(known.tombstones)) == ([], [])
    assert world.messages == ["Take out of the line what left its eval set"]


def test_a_correction_that_ended_goes_from_the_record_with_an_event() -> None:
    said = StoredCorrection(value=True, by="cora", comment=5, said=digest("/incumbent correct q01 +a"))
    text = digest("its text")
    world = after(NEW).seen()
    ended = (Ended(text=text, capability="a", correction=said),)
    world.more |= {"corrections": RecordedCorrections(record=CorrectionRecord(texts={text: {"a": said}}), ended=ended)}
    for _ in range(4):
        world.step()
    assert [event.kind for event in parsed(world.hub.ledger[SET_EVENTS])] == ["correction-ended"]
    assert CORRECTIONS in world.hub.ledger

"""What people are asked to confirm: evictions, swaps, and what became of refusals (semantics, section 7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.curator import file_changes as changes
from incumbent.curator.roles import EvictionKind, Grounds, derive_roles
from incumbent.curator.staging import AuditStamp
from incumbent.curator.store import RegressionSet
from incumbent.curator.suggestions import (
    Swap,
    SwapSuggestion,
    also_safe,
    confirm_swaps,
    evicted_on,
    suggest,
)
from incumbent.intake.query import Setup
from tests.consolidator.test_against_reference import config_of, residents_of
from tests.factories import make_config, make_entry, make_taxonomy, resident
from tests.oracle.strategies import Case, cases

TAXONOMY = make_taxonomy("a", "b")
FLOOR: dict[str, Any] = {"redundancy_floor": 1}
BEST = (make_entry("best1", {"a": 0.9, "b": 0.9}), make_entry("best2", {"a": 0.8, "b": 0.8}))
SPARE = make_entry("spare", {"a": 0.6, "b": 0.6})


def make_set(*entries: Any, waiting: tuple[Any, ...] = ()) -> RegressionSet:
    return RegressionSet({item.id: item for item in entries}, {item.id: item for item in waiting}, {})


def test_what_prune_finds_is_suggested_and_a_refusal_holds_it_back() -> None:
    known = make_set(*BEST, SPARE)
    found = suggest(known, TAXONOMY, make_config(**FLOOR))
    refused = {item.grounds.digest for item in found.evictions}
    assert [item.id for item in found.evictions] == ["spare", "best2"]
    held = suggest(known, TAXONOMY, make_config(**FLOOR), refused=refused)
    assert held.evictions == ()
    assert held.refused == refused
    assert suggest(known, TAXONOMY, make_config(**FLOOR), refused={"of another time"}).refused == frozenset()


def test_what_carried_a_split_capability_stays_while_a_part_is_on_trial() -> None:
    parts = [
        make_taxonomy("x").by_id["x"].model_copy(update={"split": "whole", "trial": trial}) for trial in (True, False)
    ]
    spare = SPARE.model_copy(update={"classified": SPARE.classified.model_copy(update={"wholes": ("whole",)})})
    known = make_set(*BEST, spare)
    on_trial, counting = (
        TAXONOMY.model_copy(update={"capabilities": (*TAXONOMY.capabilities, part)}) for part in parts
    )
    config = make_config(**FLOOR)
    assert "spare" not in [item.id for item in suggest(known, on_trial, config).evictions]
    assert "spare" in [item.id for item in suggest(known, counting, config).evictions]


def test_what_lost_its_source_is_suggested_whatever_would_be_lost_but_for_pins_of_people() -> None:
    pinned = make_entry("kept", {"a": 0.7}, pin="an audit")
    known = make_set(*BEST, pinned)
    left = {
        "best1": EvictionKind.CUSTOMER_LEFT,
        "kept": EvictionKind.SOURCE_DELETED,
        "gone": EvictionKind.CUSTOMER_LEFT,
    }
    found = suggest(known, TAXONOMY, make_config(redundancy_floor=2), left)
    assert [(item.id, item.grounds.kind) for item in found.evictions] == [("best1", EvictionKind.CUSTOMER_LEFT)]
    assert found.evictions[0].grounds.taxonomy_major == TAXONOMY.major
    assert found.evictions[0].remaining == {"a": 2, "b": 1}


def test_what_was_refused_for_its_source_does_not_come_back_in_another_guise() -> None:
    known = make_set(*BEST, SPARE)
    left = {"spare": EvictionKind.SOURCE_DELETED}
    (first, *_) = suggest(known, TAXONOMY, make_config(**FLOOR), left).evictions
    assert first.id == "spare"
    found = suggest(known, TAXONOMY, make_config(**FLOOR), left, (), {first.grounds.digest})
    assert "spare" not in [item.id for item in found.evictions]
    assert found.refused == {first.grounds.digest}


def test_at_the_ceiling_a_waiting_replacement_becomes_a_swap_until_it_is_refused() -> None:
    weak, other = make_entry("weak", {"a": 0.6}), make_entry("other", {"b": 0.9})
    known = make_set(weak, other, waiting=(make_entry("better", {"a": 0.9}),))
    config = make_config(ceiling=2, **FLOOR)
    (swap,) = suggest(known, TAXONOMY, config).swaps
    assert isinstance(swap, SwapSuggestion)
    assert (swap.swap.admit, swap.swap.remove) == ("better", ("weak",))
    assert swap.evictions[0].grounds.freed_by == "better"
    held = suggest(known, TAXONOMY, config, refused={swap.digest})
    assert held.swaps == ()
    assert held.refused == {swap.digest}
    assert suggest(known, TAXONOMY, make_config(ceiling=3, **FLOOR)).swaps == ()


def test_a_swap_that_is_open_stays_whoever_comes_to_the_waitlist() -> None:
    weak, other = make_entry("weak", {"a": 0.6}), make_entry("other", {"b": 0.9})
    line = (make_entry("first", {"a": 0.8, "c": 0.9}), make_entry("later", {"a": 0.9, "d": 0.9}))
    known, config = make_set(weak, other, waiting=line), make_config(ceiling=2, **FLOOR)
    taxonomy = make_taxonomy("a", "b", "c", "d")
    admits = [
        [item.swap.admit for item in suggest(known, taxonomy, config, open_suggestions=busy).swaps]
        for busy in ((), ("first",))
    ]
    assert admits == [["later"], ["first"]]


def test_what_waits_itself_is_displaced_by_no_swap() -> None:
    entries = (
        make_entry("r0", {"b": 0.95, "c": 0.95}),
        make_entry("r1", {"a": 0.6, "b": 0.8, "c": 0.75}),
        make_entry("r2", {"b": 0.95, "c": 0.85}),
    )
    waiting = (
        make_entry("w0", {"a": 0.85, "b": 0.9, "c": 0.7}),
        make_entry("w1", {"a": 0.75, "b": 0.9, "c": 0.85}),
    )
    found = suggest(make_set(*entries, waiting=waiting), make_taxonomy("a", "b", "c"), make_config(ceiling=3, **FLOOR))
    assert all(set(swap.swap.remove) <= {"r0", "r1", "r2"} for swap in found.swaps)


def test_a_refused_swap_stands_in_the_way_of_no_other() -> None:
    weak, other = make_entry("weak", {"a": 0.6}), make_entry("other", {"b": 0.9})
    config, taxonomy = make_config(ceiling=2, **FLOOR), make_taxonomy("a", "b", "c", "d")
    line = (make_entry("better1", {"a": 0.9, "c": 0.9}), make_entry("better2", {"a": 0.8, "d": 0.9}))
    (first,) = suggest(make_set(weak, other, waiting=line), taxonomy, config).swaps
    left = suggest(make_set(weak, other, waiting=line), taxonomy, config, refused={first.digest})
    assert first.digest in left.refused
    assert (first.swap.admit, [swap.swap.admit for swap in left.swaps]) == ("better1", ["better2"])


def test_what_people_refused_to_evict_is_in_no_swap() -> None:
    bests = (make_entry("best-a", {"a": 0.95}), make_entry("best-b", {"b": 0.95}))
    twins = (make_entry("p", {"a": 0.6, "b": 0.6}), make_entry("r", {"a": 0.6, "b": 0.6}))
    config, taxonomy = make_config(ceiling=4, **FLOOR), make_taxonomy("a", "b", "c", "d")
    known = make_set(*bests, *twins, waiting=(make_entry("q", {"c": 0.9}),))
    refused: set[str] = set()
    for id in ("p", "r"):
        (suggested,) = suggest(known, taxonomy, config, refused=refused).evictions
        assert suggested.id == id
        refused.add(suggested.grounds.digest)
    # Both stay only because people want them.
    found = suggest(known, taxonomy, config, refused=refused)
    assert (found.swaps, found.evictions) == ((), ())
    assert found.refused == refused


def test_what_left_in_a_swap_and_was_restored_is_not_suggested_on_the_same_grounds() -> None:
    config, taxonomy = make_config(ceiling=3, **FLOOR), make_taxonomy("a", "b", "d")
    entries = (
        make_entry("best-a", {"a": 0.95}),
        make_entry("best-b", {"b": 0.95}),
        make_entry("r", {"a": 0.6, "b": 0.6}),
    )
    known = make_set(*entries, waiting=(make_entry("q", {"a": 0.7, "b": 0.7, "d": 0.9}),))
    (swap,) = suggest(known, taxonomy, config).swaps
    (left,) = swap.evictions
    assert (left.id, left.grounds.freed_by, left.grounds.yields_to) == ("r", "q", ())
    assert evicted_on(left.grounds).reason == "redundant: others cover all that it covers, with q"
    back = entries[2].model_copy(update={"restored": left.grounds.digest})
    assert suggest(make_set(*entries[:2], back, swap.entering), taxonomy, config).evictions == ()


def test_a_stale_entry_of_the_waitlist_takes_nobodys_place() -> None:
    weak, other = make_entry("weak", {"a": 0.6}), make_entry("other", {"b": 0.9})
    better = make_entry("better", {"a": 0.9})
    stale = better.model_copy(update={"classified": better.classified.model_copy(update={"model": "m0"})})
    config = make_config(ceiling=2, **FLOOR)
    assert suggest(make_set(weak, other, waiting=(better,)), TAXONOMY, config).swaps
    assert suggest(make_set(weak, other, waiting=(stale,)), TAXONOMY, config).swaps == ()


def test_a_refusal_of_a_swap_holds_whatever_the_order_of_what_it_frees() -> None:
    bests = tuple(make_entry(f"best-{name}", {name: 0.95}) for name in "abc")
    line = (make_entry("q", {"a": 0.7, "b": 0.7, "c": 0.7, "d": 0.9}),)
    config, taxonomy = make_config(ceiling=5, **FLOOR), make_taxonomy("a", "b", "c", "d")
    digests = set()
    for score in (0.55, 0.65):
        other = make_entry("r2", {"b": score, "c": score})
        known = make_set(*bests, make_entry("r1", {"a": 0.6, "b": 0.6}), other, waiting=line)
        (swap,) = suggest(known, taxonomy, config).swaps
        assert set(swap.swap.remove) == {"r1", "r2"}
        digests.add((swap.swap.remove[0], swap.digest))
    assert {first for first, _ in digests} == {"r1", "r2"}
    assert len({digest for _, digest in digests}) == 1


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (EvictionKind.DISPLACED, "displaced by y, z"),
        (EvictionKind.REDUNDANT, "redundant: others cover all that it covers"),
        (EvictionKind.SOURCE_DELETED, "its query is in no eval set any more"),
        (EvictionKind.CUSTOMER_LEFT, "its customer has no eval set any more"),
        (EvictionKind.UNDONE, "its admission was taken back"),
    ],
)
def test_a_tombstone_says_why_and_leaves_open_who_confirmed_it(kind: EvictionKind, reason: str) -> None:
    grounds = Grounds.on(resident("x", {"a": 0.9}), kind, ("y", "z"), TAXONOMY.major)
    evicted = evicted_on(grounds)
    assert (evicted.at, evicted.by, evicted.reason) == (None, None, reason)
    assert evicted.grounds == {"kind": kind.value, "yields_to": ["y", "z"], "digest": grounds.digest}
    assert evicted_on(grounds, "mixed-1").grounds == {**evicted.grounds, "group": "mixed-1"}


def test_what_people_want_undone_comes_first_and_then_what_is_open() -> None:
    known = make_set(*BEST, *(make_entry(id, {"a": 0.6, "b": 0.6}, pin=None) for id in ("one", "two", "three")))
    left = dict.fromkeys(("one", "two", "three"), EvictionKind.SOURCE_DELETED)
    found = suggest(known, TAXONOMY, make_config(**FLOOR), left, {"two", "best2"}, undone={"three": 7})
    assert [(item.id, item.grounds.kind.value, item.grounds.asked) for item in found.evictions] == [
        ("three", "undone", 7),
        ("two", "source-deleted", None),
        ("one", "source-deleted", None),
        ("best2", "redundant", None),
    ]


def test_of_what_is_suggested_only_what_another_set_suggests_too_is_also_safe() -> None:
    config = make_config(**ROOM | {"ceiling": 7})
    wanted = make_entry("wanted", {"a": 0.97}).model_copy(update={"restored": "on no grounds"})
    known = make_set(*CHAMPIONS, *PAIRS, make_entry("spare", {"a": 0.6}), waiting=(wanted,))
    found = suggest(known, ABC, config, archived={"abc": LOOKED_BACK})
    assert [len(part) for part in (found.swaps, found.repacks, found.evictions)] == [1, 1, 1]
    assert also_safe(found, found) == found
    nothing = suggest(make_set(), ABC, config)
    assert also_safe(found, nothing) == replace(found, swaps=(), repacks=(), evictions=())
    # What was a repack may be a swap by now.
    turned = replace(nothing, swaps=found.repacks, repacks=found.swaps)
    assert also_safe(found, turned) == replace(found, evictions=())
    assert also_safe(found, replace(nothing, evictions=found.evictions)) == replace(found, swaps=(), repacks=())


@given(cases(most=8), st.randoms(use_true_random=False))
def test_any_subset_in_any_order_keeps_the_floors_of_what_stays(case: Case, draw: Any) -> None:
    config = config_of(case)
    residents = [item for item in residents_of(case) if item.scores]
    names = sorted({name for item in residents for name in item.scores})
    taxonomy = make_taxonomy(*names)
    known = make_set(*(make_entry(item.id, item.scores, pin=item.pin) for item in residents))
    left = {item.id: EvictionKind.SOURCE_DELETED for item in residents if draw.random() < 0.2}
    found = suggest(known, taxonomy, config, left)
    safe = [item.id for item in found.evictions if item.grounds.kind is not EvictionKind.SOURCE_DELETED]
    assert set(safe).isdisjoint(left)
    staying, _ = known.residents(taxonomy)
    for id in draw.sample(safe, draw.randint(0, len(safe))):
        staying = tuple(item for item in staying if item.id != id)
    after = derive_roles(staying, config).coverers
    for name, coverers in found.roles.coverers.items():
        assert len(after.get(name, ())) >= min(config.redundancy_floor(name), len(coverers))


@given(cases(most=8), st.randoms(use_true_random=False))
def test_quarantine_changes_no_role_and_no_suggestion(case: Case, draw: Any) -> None:
    config = config_of(case)
    residents = [item for item in residents_of(case) if item.scores]
    taxonomy = make_taxonomy(*sorted({name for item in residents for name in item.scores}))
    entries = [make_entry(item.id, item.scores, pin=item.pin) for item in residents]
    hidden = [item.model_copy(update={"quarantined": draw.choice([None, "it flaps"])}) for item in entries]
    before, after = make_set(*entries[1:], waiting=(*entries[:1],)), make_set(*hidden[1:], waiting=(*hidden[:1],))
    assert after.residents(taxonomy) == before.residents(taxonomy)
    now, then = (suggest(known, taxonomy, config) for known in (before, after))
    assert (then.evictions, then.roles, then.refused) == (now.evictions, now.roles, now.refused)
    assert [(item.swap, item.digest) for item in then.swaps] == [(item.swap, item.digest) for item in now.swaps]


ROOM: dict[str, Any] = {"ceiling": 9, "redundancy_floor": 1, "novelty": 2}
CHAMPIONS = [make_entry(f"best-{name}", {name: 0.95}) for name in "abc"]
PAIRS = [make_entry(f"{one}{other}", {one: 0.7, other: 0.7}) for one, other in ("ab", "bc", "ac")]
LOOKED_BACK = make_entry("abc", {"a": 0.75, "b": 0.75, "c": 0.75})
ABC = make_taxonomy("a", "b", "c")


def test_an_archived_query_becomes_a_repack_on_the_verdict_of_then_until_it_is_refused() -> None:
    known, config, archive = make_set(*CHAMPIONS, *PAIRS), make_config(**ROOM), {"abc": LOOKED_BACK}
    (repack,) = suggest(known, ABC, config, archived=archive).repacks
    assert (repack.swap.admit, repack.swap.remove) == ("abc", ("ab", "ac", "bc"))
    assert repack.entering.admitted.reasons == ("NOVEL_COMBO",)
    assert {item.grounds.freed_by for item in repack.evictions} == {"abc"}
    held = suggest(known, ABC, config, refused={repack.digest}, archived=archive)
    assert held.repacks == ()
    assert held.refused == {repack.digest}
    assert suggest(known, ABC, config).repacks == ()
    assert suggest(known, ABC, make_config(config, limits=limits_of(config, 0)), archived=archive).repacks == ()


FILLED: dict[str, Any] = {"ceiling": 10, "fill_to": 0.5, "redundancy_floor": 1, "novelty": 2}


def test_without_those_on_which_it_rests_an_exchange_is_derived_again() -> None:
    entries = [make_entry("lone", {"a": 0.6}), *(make_entry(f"e{x}", {"x": 0.6, x: 0.7}) for x in "bcd")]
    line = (make_entry("q1", {"a": 0.9, "x": 0.58}), make_entry("q2", {"x": 0.9, "b": 0.9, "c": 0.9, "d": 0.9}))
    known, taxonomy = make_set(*entries, waiting=line), make_taxonomy("a", "b", "c", "d", "x")
    config = make_config(ceiling=4, redundancy_floor=1, per_capability={"x": {"redundancy_floor": 2}})
    found = suggest(known, taxonomy, config)
    assert [item.swap for item in found.swaps] == [
        Swap(admit="q2", remove=("eb", "ec")),
        Swap(admit="q1", remove=("lone", "ed"), rests_on=("q2",)),
    ]
    (alone,) = suggest(known, taxonomy, config, within={"q1"}).swaps
    assert alone.swap == Swap(admit="q1", remove=("lone",))
    # One that is not safe for another set takes along what rests on it.
    assert also_safe(found, replace(found, swaps=found.swaps[1:])).swaps == ()


def test_a_top_up_rests_on_what_makes_room_for_it() -> None:
    known = make_set(*CHAMPIONS, *PAIRS, *(make_entry(f"d{n}", {"d": 0.9 - n / 100}, pin="audit") for n in range(2)))
    archive = {"abc": LOOKED_BACK, "d": make_entry("d", {"d": 0.9})}
    config = make_config(**FILLED | {"fill_to": 0.7})
    found = suggest(known, make_taxonomy("a", "b", "c", "d"), config, archived=archive)
    assert [item.swap.admit for item in found.repacks] == ["abc"]
    assert [(item.swap.admit, item.rests_on) for item in found.top_ups] == [("d", ("abc",))]


def test_free_slots_are_topped_up_by_what_adds_most_until_it_is_refused() -> None:
    known, config = make_set(*CHAMPIONS), make_config(**FILLED)
    other = make_entry("ab", {"a": 0.8, "b": 0.8})
    archive = {"abc": LOOKED_BACK, "ab": other, "nothing": make_entry("nothing", {"a": 0.4})}
    found = suggest(known, ABC, config, archived=archive)
    assert [item.swap.admit for item in found.top_ups] == ["abc", "ab"]
    assert [item.gain > 0 for item in found.top_ups] == [True, True]
    assert (found.swaps, found.repacks, found.top_ups[0].evictions) == ((), (), ())
    first = found.top_ups[0]
    held = suggest(known, ABC, config, refused={first.digest}, archived=archive)
    assert [item.swap.admit for item in held.top_ups] == ["ab"]
    assert held.refused == {first.digest}
    still = suggest(known, ABC, config, open_suggestions={"ab"}, archived=archive)
    assert [item.swap.admit for item in still.top_ups] == ["ab", "abc"]
    for more in ({"fill_to": None}, {"fill_to": 0.3}, {"limits": {"open_top_ups": 0}}):
        assert suggest(known, ABC, make_config(**FILLED | more), archived=archive).top_ups == ()
    one = make_config(**FILLED | {"limits": {"open_top_ups": 1}})
    assert [item.swap.admit for item in suggest(known, ABC, one, archived=archive).top_ups] == ["abc"]


def test_a_top_up_says_why_it_enters_and_no_clone_does() -> None:
    known, config = make_set(*CHAMPIONS), make_config(**FILLED)
    alike = LOOKED_BACK.model_copy(update={"id": "alike", "scores": {"a": 0.6, "b": 0.6}})
    found = suggest(known, ABC, config, archived={"abc": LOOKED_BACK, "alike": alike})
    (top_up,) = found.top_ups
    assert top_up.entering.admitted.override == "it raises expected detection"
    clone = LOOKED_BACK.model_copy(update={"turns": CHAMPIONS[0].turns})
    assert suggest(known, ABC, config, archived={"abc": clone}).top_ups == ()
    stamp = AuditStamp(at="2026-11-21T10:00:00Z", commit=None, by="cora")
    staging = confirm_swaps(found.top_ups, known, stamp)
    assert [item.path for item in staging.file_changes] == ["regression_set/abc.yaml"]


def test_a_set_that_is_being_filled_is_neither_repacked_nor_pruned_of_what_is_redundant() -> None:
    known = make_set(*CHAMPIONS, *PAIRS, make_entry("spare", {"a": 0.6}))
    archive = {"abc": LOOKED_BACK}

    def kinds(fill_to: float | None) -> tuple[list[str], list[str], list[str]]:
        config = make_config(**FILLED | {"fill_to": fill_to})
        found = suggest(known, ABC, config, archived=archive)
        repacks, top_ups = ([each.swap.admit for each in kind] for kind in (found.repacks, found.top_ups))
        return [item.id for item in found.evictions], repacks, top_ups

    assert kinds(None) == (["spare"], ["abc"], [])
    assert kinds(0.6) == (["spare"], ["abc"], [])
    # Redundant ones stay from here on, and what a newcomer frees does not depend on that.
    assert kinds(0.65) == ([], ["abc"], [])
    assert kinds(0.7) == ([], [], [])
    assert kinds(0.8) == ([], [], ["abc"])


def limits_of(config: Any, repacks: int) -> Any:
    return config.limits.model_dump() | {"open_repacks": repacks}


def test_what_resembles_an_entry_that_stays_or_is_stale_is_no_repack() -> None:
    known, config = make_set(*CHAMPIONS, *PAIRS), make_config(**ROOM)
    clone = make_entry("abc", {"a": 0.75, "b": 0.75, "c": 0.75}, CHAMPIONS[0].turns[0])
    assert suggest(known, ABC, config, archived={"abc": clone}).repacks == ()
    other = LOOKED_BACK.classified.model_copy(update={"model": "m0"})
    stale = LOOKED_BACK.model_copy(update={"classified": other})
    assert suggest(known, ABC, config, archived={"abc": stale}).repacks == ()


def test_a_repack_that_is_open_stays_whatever_would_save_more() -> None:
    known, config = make_set(*CHAMPIONS, *PAIRS), make_config(**ROOM)
    cheaper = LOOKED_BACK.model_copy(update={"id": "cheap", "setup": Setup(cost=0.1)})
    archive = {"abc": LOOKED_BACK, "cheap": cheaper}
    assert [item.swap.admit for item in suggest(known, ABC, config, archived=archive).repacks] == ["cheap"]
    found = suggest(known, ABC, config, open_suggestions={"abc"}, archived=archive)
    assert [item.swap.admit for item in found.repacks] == ["abc"]


def test_a_swap_that_is_open_stays_where_its_newcomer_is_no_champion() -> None:
    wanted = LOOKED_BACK.model_copy(update={"admitted": LOOKED_BACK.admitted.model_copy(update={"by": "cora"})})
    known, config = make_set(*CHAMPIONS, *PAIRS, waiting=(wanted,)), make_config(**ROOM | {"ceiling": 6})
    (swap,) = suggest(known, ABC, config).swaps
    assert suggest(known, ABC, config, open_suggestions={"abc"}).swaps == (swap,)


def test_a_confirmed_swap_and_a_confirmed_repack_are_one_change() -> None:
    weak, other = make_entry("weak", {"a": 0.6}), make_entry("other", {"b": 0.9})
    known = make_set(weak, other, waiting=(make_entry("better", {"a": 0.9}),))
    swaps = suggest(known, TAXONOMY, make_config(ceiling=2, **FLOOR)).swaps
    stamp = AuditStamp(at="2026-11-21T10:00:00Z", commit=None, by="cora")
    staging = confirm_swaps(swaps, known, stamp)
    assert [(entry.id, entry.admitted.at) for entry in staging.admitted] == [("better", stamp.at)]
    paths = ["better", "waiting/better", "evicted/weak", "weak"]
    assert sorted(item.path for item in staging.file_changes) == sorted(f"regression_set/{name}.yaml" for name in paths)
    written = {item.path: item.content for item in staging.file_changes if item.content is not None}
    (eviction,) = swaps[0].evictions
    evicted = evicted_on(eviction.grounds).model_copy(update={"at": stamp.at, "by": "cora"})
    (grave, _) = changes.evict(weak, evicted)
    assert written == {
        "regression_set/better.yaml": changes.render(staging.admitted[0]),
        grave.path: grave.content,
    }
    assert (staging.waiting, staging.leaving) == ((), ())
    # What an excluded query frees is the same, without a place in the line.
    full = make_set(*CHAMPIONS, *PAIRS)
    repacks = suggest(full, ABC, make_config(**ROOM), archived={"abc": LOOKED_BACK}).repacks
    paths = ["abc", *(f"{name}{id}" for id in ("ab", "bc", "ac") for name in ("", "evicted/"))]
    changed = confirm_swaps(repacks, full, stamp).file_changes
    assert sorted(item.path for item in changed) == sorted(f"regression_set/{name}.yaml" for name in paths)
    # What enters at the moment of others comes after them.
    at = full.entries["ab"].admitted.at
    (entry,) = confirm_swaps(repacks, full, AuditStamp(at=at, commit=None, by="cora")).admitted
    assert (entry.admitted.at, entry.admitted.order) == (at, 1)

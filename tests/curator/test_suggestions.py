"""What people are asked to confirm: evictions, swaps, and what became of refusals (semantics, section 7)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.curator.grounds import EvictionKind, Grounds
from bot.curator.roles import derive_roles
from bot.curator.store import RegressionSet
from bot.curator.suggestions import SwapSuggestion, evicted_on, suggest
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
    assert swap.evictions[0].grounds.yields_to == ("better",)
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
    config = make_config(ceiling=2, **FLOOR)
    line = (make_entry("better1", {"a": 0.9}), make_entry("better2", {"a": 0.8}))
    (first,) = suggest(make_set(weak, other, waiting=line), TAXONOMY, config).swaps
    left = suggest(make_set(weak, other, waiting=line), TAXONOMY, config, refused={first.digest})
    assert first.digest in left.refused
    assert first.swap.admit not in [swap.swap.admit for swap in left.swaps]


@pytest.mark.parametrize("kind", list(EvictionKind))
def test_a_tombstone_says_why_and_leaves_open_who_confirmed_it(kind: EvictionKind) -> None:
    grounds = Grounds.on(resident("x", {"a": 0.9}), kind, ("y",), TAXONOMY.major)
    evicted = evicted_on(grounds)
    assert (evicted.at, evicted.by) == (None, None)
    assert evicted.reason
    assert evicted.grounds == {"kind": kind.value, "yields_to": ["y"], "digest": grounds.digest}


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

"""What a newcomer frees, by hand and against the reference (semantics, section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given, settings

from bot.config import Curation
from bot.curator.grounds import EvictionKind
from bot.curator.safe_removals import SafeRemovals
from bot.curator.swaps import Freed
from bot.rater.model import RatedEntry
from tests.consolidator.test_against_reference import config_of, residents_of
from tests.factories import make_config, resident
from tests.oracle import reference
from tests.oracle.strategies import Case, cases

FLOOR: dict[str, Any] = {"redundancy_floor": 1}


def removals(residents: Sequence[RatedEntry], waiting: Sequence[RatedEntry], **more: Any) -> SafeRemovals:
    lagging = more.pop("lagging", ())
    names = {name for query in waiting for name in query.scores}
    found = SafeRemovals(residents, make_config(**FLOOR | more), 1, (), lagging, names)
    found.choose()
    return found


def freed(query: RatedEntry, residents: Sequence[RatedEntry], **more: Any) -> Freed:
    found = removals(residents, [query], **more)
    return found.freed(found.arriving(query))


def test_a_better_test_frees_the_champion_that_it_beats() -> None:
    rivals = [resident("weak", {"a": 0.6}), resident("other", {"b": 0.9})]
    (grounds,) = freed(resident("q", {"a": 0.9}), rivals).values()
    assert (grounds.kind, grounds.yields_to, grounds.freed_by) == (EvictionKind.REDUNDANT, (), "q")
    (grounds,) = freed(resident("q", {"a": 0.9}, displaces=("weak",)), rivals).values()
    assert (grounds.kind, grounds.yields_to, grounds.freed_by) == (EvictionKind.DISPLACED, ("q",), "q")


def test_one_that_beats_nobody_frees_what_only_combinations_kept() -> None:
    rivals = [
        *(resident(f"best-{name}", {name: 0.95}) for name in "abc"),
        resident("r1", {"a": 0.6, "b": 0.6}),
        resident("r2", {"b": 0.6, "c": 0.6}),
    ]
    assert [*freed(resident("q", {"a": 0.7, "b": 0.7, "c": 0.7}), rivals)] == ["r1", "r2"]
    assert [*freed(resident("q", {"a": 0.7, "b": 0.7}, setup_cost=0.5), rivals)] == ["r1"]


def test_what_could_leave_without_the_newcomer_is_not_freed_by_it() -> None:
    rivals = [resident("best", {"a": 0.9}), resident("spare", {"a": 0.6})]
    assert freed(resident("q", {"b": 0.9}), rivals) == {}
    assert freed(resident("q", {"a": 0.95}), rivals).keys() == {"best"}


def test_a_newcomer_that_would_be_suggested_itself_frees_nothing() -> None:
    rivals = [resident("best", {"b": 0.9}), resident("pair", {"b": 0.6, "c": 0.6}), resident("c", {"c": 0.9})]
    twin = resident("q", {"b": 0.6, "c": 0.6}, setup_cost=2.0)
    assert freed(twin, rivals) == {}
    assert freed(replace(twin, setup_cost=0.5), rivals).keys() == {"pair"}
    assert freed(replace(twin, pin="audit"), rivals).keys() == {"pair"}


def test_pins_and_stale_entries_are_never_freed() -> None:
    weak = resident("weak", {"a": 0.6})
    assert freed(resident("q", {"a": 0.9}), [replace(weak, pin="audit")]) == {}
    assert freed(resident("q", {"a": 0.9}), [weak], lagging={"weak"}) == {}


def test_a_floor_holds_with_the_newcomer_in() -> None:
    rivals = [resident(f"r{place}", {"a": 0.6 + place / 10}) for place in range(2)]
    assert freed(resident("q", {"a": 0.9}), rivals, redundancy_floor=2).keys() == {"r0"}
    assert freed(resident("q", {"a": 0.9}), rivals, redundancy_floor=3) == {}


def newcomers_of(case: Case) -> list[RatedEntry]:
    """The queries of a case as they wait; every second displaces residents, as far as it covers them."""
    return [
        RatedEntry(
            id=f"new-{item.id}",
            turns=item.turns,
            scores=item.scores,
            admitted_at="~",
            pin=item.pin,
            displaces=tuple(sorted(resident.id for resident in case.residents)) if place % 2 else (),
            setup_cost=item.setup_cost,
            customer=item.customer,
        )
        for place, item in enumerate(case.queries)
    ]


def of(case: Case, config: Curation, newcomers: Sequence[RatedEntry]) -> SafeRemovals:
    names = {name for query in newcomers for name in query.scores}
    found = SafeRemovals(residents_of(case), config, 1, case.open, (), names)
    found.choose()
    return found


@settings(max_examples=settings().max_examples * 2)
@given(cases(most=8))
def test_freed_is_what_the_definition_says(case: Case) -> None:
    newcomers = newcomers_of(case)
    found = of(case, config_of(case), newcomers)
    for query, like in zip(newcomers, case.queries, strict=True):
        item = replace(like, id=query.id, admitted_at="~", displaces=query.displaces)
        expected = reference.freed(item, case.residents, case.open, case.knobs, case.options)
        assert [*found.freed(found.arriving(query))] == expected

"""What a newcomer frees, swaps and least loss: by hand, against the reference, and as properties (semantics, 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.config import Curation
from bot.curator.grounds import EvictionKind
from bot.curator.losses import Loss, least_loss
from bot.curator.roles import derive_roles
from bot.curator.safe_removals import SafeRemovals
from bot.curator.swaps import Freed, choose_swaps
from bot.rater.contextualizer import LiveSet
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


def swaps(
    waiting: Sequence[RatedEntry], residents: Sequence[RatedEntry], excess: int = 0, **more: Any
) -> list[tuple[str, tuple[str, ...]]]:
    found = removals(residents, waiting, **more)
    return [(id, tuple(gone)) for id, gone in choose_swaps(waiting, found, excess)]


def test_a_better_test_frees_the_champion_that_it_beats() -> None:
    rivals = [resident("weak", {"a": 0.6}), resident("other", {"b": 0.9})]
    (grounds,) = freed(resident("q", {"a": 0.9}), rivals).values()
    assert (grounds.kind, grounds.yields_to) == (EvictionKind.REDUNDANT, ("q",))
    (grounds,) = freed(resident("q", {"a": 0.9}, displaces=("weak",)), rivals).values()
    assert (grounds.kind, grounds.yields_to) == (EvictionKind.DISPLACED, ("q",))


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


def test_swaps_are_made_in_order_and_share_no_entry() -> None:
    rivals = [resident("weak", {"a": 0.6})]
    line = [resident("q1", {"a": 0.8}), resident("q2", {"a": 0.9})]
    assert swaps(line, rivals) == [("q1", ("weak",))]


def test_no_swap_leaves_the_set_above_its_ceiling() -> None:
    rivals = [resident("weak", {"a": 0.6}), resident("other", {"b": 0.9})]
    assert swaps([resident("q", {"a": 0.9})], rivals, excess=1) == []
    assert swaps([resident("q", {"a": 0.9, "b": 0.95})], rivals, excess=1) == [("q", ("weak", "other"))]


def test_no_floor_rests_on_what_another_swap_would_bring() -> None:
    rivals = [resident("lone", {"a": 0.6}), *(resident(f"e{name}", {"x": 0.6, name: 0.7}) for name in "bcd")]
    first = resident("q1", {"a": 0.9, "x": 0.58})
    second = resident("q2", {"x": 0.9, "b": 0.9, "c": 0.9, "d": 0.9})
    floor: dict[str, Any] = {"per_capability": {"x": {"redundancy_floor": 2}}}
    assert swaps([first, second], rivals, **floor) == [("q1", ("lone",)), ("q2", ("eb", "ec"))]


def test_a_combination_rests_on_a_swap_only_where_its_newcomer_replaces_a_carrier() -> None:
    rivals = [
        *(resident(f"best-{name}", {name: 0.95}) for name in "abcd"),
        resident("ab", {"a": 0.6, "b": 0.6}),
        resident("cd", {"c": 0.6, "d": 0.6}),
    ]
    first = resident("q1", {"a": 0.7, "b": 0.7, "c": 0.7, "d": 0.7}, setup_cost=0.5)
    second = resident("q2", {"a": 0.7, "b": 0.7, "c": 0.7}, setup_cost=0.5)
    assert swaps([second], rivals) == [("q2", ("ab",))]
    # Both would free "ab", and the first takes it.
    assert swaps([first, second], rivals) == [("q1", ("ab", "cd"))]


def test_least_loss_counts_what_the_newcomer_brings() -> None:
    residents = [
        resident("wide", {"a": 0.9, "b": 0.9}),
        resident("lone", {"c": 0.9}),
        resident("kept", {"a": 0.5}, pin="audit"),
    ]
    config = make_config(**FLOOR)
    query = resident("q", {"d": 0.9})
    lone = Loss(admit="q", id="lone", capabilities=("c",), combinations=(("c",),))
    assert least_loss([query], residents, config, 1) == (lone,)
    query = resident("q", {"a": 0.95, "b": 0.95})
    wide = Loss(admit="q", id="wide", capabilities=(), combinations=())
    assert least_loss([query], residents, config, 1) == (wide,)
    assert least_loss([query], [residents[2]], config, 1) == ()


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


@settings(max_examples=settings().max_examples * 2)
@given(cases(most=8), st.randoms(use_true_random=False))
def test_any_part_of_evictions_and_swaps_in_any_order_loses_nothing(case: Case, draw: Any) -> None:
    config, residents = config_of(case), residents_of(case)
    newcomers = {query.id: query for query in newcomers_of(case)}
    found = of(case, config, [*newcomers.values()])
    swapped = dict(choose_swaps([*newcomers.values()], found, 0))
    steps = [(None, {id: grounds}) for id, grounds in found.chosen.items()] + [*swapped.items()]
    grounds = {id: each for _, gone in steps for id, each in gone.items()}
    assert len(grounds) == sum(len(gone) for _, gone in steps)
    displaced = {id for id, each in grounds.items() if each.kind is EvictionKind.DISPLACED}
    needed = carried([item for item in residents if item.id not in displaced], config)
    before = derive_roles(residents, config)
    present = {item.id: item for item in residents}
    for admit, gone in draw.sample(steps, draw.randint(0, len(steps))):
        for id in gone:
            del present[id]
        if admit is not None:
            present[admit] = newcomers[admit]
        now = derive_roles([*present.values()], config)
        for name, coverers in before.coverers.items():
            assert len(now.coverers.get(name, ())) >= min(config.redundancy_floor(name), len(coverers))
        assert needed <= carried([*present.values()], config, smaller=True)
        for id, reasons in before.pinned.items():
            assert id in present or not any(reason.startswith("person:") for reason in reasons)
        for name, champion in before.champions.items():
            # A champion at or above the bar leaves only for a better one.
            assert (
                f"champion:{name}" not in before.pinned.get(champion, ())
                or champion in present
                or (now.champions[name] in newcomers)
            )


def carried(entries: Sequence[RatedEntry], config: Curation, smaller: bool = False) -> frozenset[tuple[str, ...]]:
    """The combinations of ``entries``, and the ``smaller`` ones that they carry."""
    live = LiveSet(entries, (), config)
    masks = [live.capabilities.carried(member) if smaller else member.combinations for member in live.members]
    return frozenset(map(live.capabilities.named, frozenset().union(*masks)))

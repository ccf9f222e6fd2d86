"""Swaps and repacks by hand, and as a property together with evictions (semantics, section 7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.config import Curation
from bot.curator.grounds import EvictionKind
from bot.curator.roles import derive_roles
from bot.curator.swaps import choose_repacks, choose_swaps
from bot.rater.contextualizer import LiveSet
from bot.rater.model import RatedEntry
from tests.consolidator.test_against_reference import config_of, residents_of
from tests.curator.test_safe_removals import newcomers_of, of, removals
from tests.factories import resident
from tests.oracle import reference
from tests.oracle.strategies import Case, cases


def swaps(
    waiting: Sequence[RatedEntry], residents: Sequence[RatedEntry], excess: int = 0, **more: Any
) -> list[tuple[str, tuple[str, ...]]]:
    found = removals(residents, waiting, **more)
    return [(query.id, tuple(gone)) for query, gone in choose_swaps(waiting, found, excess)]


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


def repacks(
    archived: Sequence[RatedEntry],
    residents: Sequence[RatedEntry],
    most: int = 9,
    refused: Sequence[str] = (),
    **more: Any,
) -> list[tuple[str, tuple[str, ...]]]:
    found = removals(residents, archived, **more)
    chosen = choose_repacks(archived, found, most, lambda admit, freed: admit not in refused)
    return [(query.id, tuple(gone)) for query, gone in chosen]


PAIRS = [
    resident("ab", {"a": 0.6, "b": 0.6}),
    resident("bc", {"b": 0.6, "c": 0.6}),
    resident("ac", {"a": 0.6, "c": 0.6}),
]
BEST = [resident(f"best-{name}", {name: 0.95}) for name in "abc"]


def test_a_repack_needs_two_entries_or_a_lower_cost() -> None:
    three = resident("three", {"a": 0.7, "b": 0.7, "c": 0.7})
    assert repacks([three], [*BEST, *PAIRS]) == [("three", ("ab", "ac", "bc"))]
    assert repacks([three], [*BEST, PAIRS[0]]) == []
    assert repacks([replace(three, setup_cost=0.5)], [*BEST, PAIRS[0]]) == [("three", ("ab",))]
    assert repacks([replace(three, setup_cost=2.0)], [*BEST, PAIRS[0]]) == []
    # It costs more than each of them, so it would be the first to be suggested for eviction.
    assert repacks([replace(three, setup_cost=5.0)], [*BEST, *PAIRS]) == []


def test_what_saves_most_comes_first_and_each_is_derived_with_the_earlier_ones_applied() -> None:
    dear = replace(PAIRS[2], setup_cost=4.0)
    rivals = [*BEST, *PAIRS[:2], dear]
    one = resident("one", {"a": 0.7, "c": 0.7})
    many = resident("x-many", {"a": 0.7, "b": 0.7, "c": 0.7}, setup_cost=3.0)
    twin = replace(many, id="y-many")
    assert repacks([one], rivals) == [("one", ("ac",))]
    # Each saves 3, the many frees more entries.
    assert repacks([twin, one, many], rivals) == [("x-many", ("ac", "ab", "bc"))]
    # Now the one saves more, and what is left is not worth the cost of the many.
    cheaper = replace(one, setup_cost=0.5)
    assert repacks([cheaper, many, twin], rivals) == [("one", ("ac",))]
    assert repacks([cheaper, many, twin], rivals, refused=["one", "x-many"]) == [("y-many", ("ac", "ab", "bc"))]


def test_what_people_refused_does_not_come_back_with_less_once_others_are_applied() -> None:
    known = [
        *(resident(f"best-{name}", {name: 0.95}) for name in "abcd"),
        *(resident(pair, dict.fromkeys(pair, 0.6)) for pair in ("ab", "ac", "bc", "ad", "bd")),
    ]
    archived = [resident(id, dict.fromkeys(id, 0.7), setup_cost=cost) for id, cost in (("abc", 1.0), ("abd", 0.5))]
    assert dict(repacks(archived, known)) == {"abd": ("ab", "ad", "bd"), "abc": ("ac", "bc")}

    def made(refused: set[str]) -> list[str]:
        found = removals(known, archived)
        chosen = choose_repacks(archived, found, 9, refused=lambda admit, freed: set(freed) == refused)
        return [query.id for query, _ in chosen]

    assert made(set()) == ["abd", "abc"]
    # Alone it frees all of these, whatever others would leave of them.
    assert made({"ab", "ac", "bc"}) == ["abd"]
    assert made({"ab", "ad", "bd"}) == ["abc"]


def test_no_more_repacks_are_made_than_asked_for() -> None:
    rivals = [*BEST, resident("best-d", {"d": 0.95}), *PAIRS, resident("ad", {"a": 0.6, "d": 0.6}, setup_cost=9.0)]
    archived = [resident("abc", {"a": 0.7, "b": 0.7, "c": 0.7}), resident("a-d", {"a": 0.7, "d": 0.7})]
    assert repacks(archived, rivals) == [("a-d", ("ad",)), ("abc", ("ab", "ac", "bc"))]
    assert repacks(archived, rivals, most=1) == [("a-d", ("ad",))]
    assert repacks(archived, rivals, most=0) == []


@settings(max_examples=settings().max_examples * 2)
@given(cases(most=8))
def test_the_first_repack_is_the_one_of_the_definition(case: Case) -> None:
    archived = [replace(query, displaces=()) for query in newcomers_of(case)]
    found = of(case, config_of(case), archived)
    items = [replace(item, id=query.id, admitted_at="~") for item, query in zip(case.queries, archived, strict=True)]
    expected = reference.repack(items, case.residents, case.open, case.knobs, case.options)
    chosen = [(query.id, tuple(gone)) for query, gone in choose_repacks(archived, found, 1)]
    assert chosen == ([] if expected is None else [expected])


@given(cases(most=8))
def test_each_repack_is_the_best_of_what_is_left_in_any_order_of_the_archive(case: Case) -> None:
    archived, config = newcomers_of(case), config_of(case)
    most = len(archived)
    chosen = [(query.id, [*gone]) for query, gone in choose_repacks(archived, of(case, config, archived), most)]
    again = choose_repacks([*reversed(archived)], of(case, config, archived), most)
    assert [(query.id, [*gone]) for query, gone in again] == chosen
    left = of(case, config, archived)
    newcomers = {query.id: left.arriving(query) for query in archived}
    costs = {item.id: item.setup_cost for item in case.residents}
    for step in [*chosen, None]:
        ranked = []
        for id, newcomer in newcomers.items():
            gone = [*left.freed(newcomer)]
            saving = reference.rounded(math.fsum(costs[each] for each in gone) - newcomer.entry.setup_cost)
            if len(gone) > 1 or (gone and saving > 0):
                ranked.append((-saving, -len(gone), id, gone))
        assert (min(ranked)[2:] if ranked else None) == step
        if step is not None:
            left.swap(newcomers.pop(step[0]), step[1])


@settings(max_examples=settings().max_examples * 2)
@given(cases(most=8), st.randoms(use_true_random=False))
def test_any_part_of_evictions_swaps_and_repacks_in_any_order_loses_nothing(case: Case, draw: Any) -> None:
    config, residents = config_of(case), residents_of(case)
    newcomers = {query.id: query for query in newcomers_of(case)}
    found = of(case, config, [*newcomers.values()])
    waiting, archived = [*newcomers.values()][::2], [*newcomers.values()][1::2]
    swapped = {query.id: gone for query, gone in choose_swaps(waiting, found, 0)}
    swapped |= {query.id: gone for query, gone in choose_repacks(archived, found, 3)}
    steps = [(None, {id: grounds}) for id, grounds in found.chosen.items()] + [*swapped.items()]
    grounds = {id: each for _, gone in steps for id, each in gone.items()}
    assert len(grounds) == sum(len(gone) for _, gone in steps)
    needed = carried(residents, config)
    if config.options.novelty == "signature":
        # A signature may go with an entry that is displaced; all t-combinations of that are the displacer's too.
        displaced = {id for id, each in grounds.items() if each.kind is EvictionKind.DISPLACED}
        needed -= carried([item for item in residents if item.id in displaced], config)
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
            # A champion at or above the bar leaves only for a newcomer that beats it; where old scores fade, the title
            # may pass on once the newest entry is another one.
            assert (
                config.options.recency is not None
                or f"champion:{name}" not in before.pinned.get(champion, ())
                or champion in present
                or (now.champions[name] in newcomers)
            )


def carried(entries: Sequence[RatedEntry], config: Curation, smaller: bool = False) -> frozenset[tuple[str, ...]]:
    """The combinations of ``entries``, and the ``smaller`` ones that they carry."""
    live = LiveSet(entries, (), config)
    masks = [live.capabilities.carried(member) if smaller else member.combinations for member in live.members]
    return frozenset(map(live.capabilities.named, frozenset().union(*masks)))

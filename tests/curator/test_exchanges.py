"""Exchanges: by hand, against the reference, and what any part of them keeps (semantics, section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent.curator.exchanges import Exchanges, Freed
from incumbent.curator.roles import EvictionKind, derive_roles
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import RatedEntry
from incumbent.taxonomy.config import Curation
from tests.consolidator.test_against_reference import config_of, residents_of
from tests.curator.test_properties import titles_of
from tests.curator.test_prune import newcomers_of, of, removals
from tests.factories import resident
from tests.oracle import reference
from tests.oracle.strategies import Case, cases

FLOOR: dict[str, Any] = {"redundancy_floor": 1}


def swaps(
    waiting: Sequence[RatedEntry], residents: Sequence[RatedEntry], excess: int = 0, **more: Any
) -> list[tuple[str, tuple[str, ...]]]:
    found = removals(residents, waiting, **more)
    return [(item.query.id, tuple(item.freed)) for item in Exchanges(found).swaps(waiting, excess)]


def test_the_swap_that_adds_most_comes_first_and_none_share_an_entry() -> None:
    rivals = [resident("weak", {"a": 0.6})]
    line = [resident("q1", {"a": 0.8}), resident("q2", {"a": 0.9}), resident("q3", {"a": 0.9})]
    assert swaps(line, rivals) == [("q2", ("weak",))]
    assert swaps([line[2], *line[:2]], rivals) == [("q3", ("weak",))]


def test_no_swap_leaves_the_set_above_its_ceiling() -> None:
    rivals = [resident("weak", {"a": 0.6}), resident("other", {"b": 0.9})]
    assert swaps([resident("q", {"a": 0.9})], rivals, excess=1) == []
    assert swaps([resident("q", {"a": 0.9, "b": 0.95})], rivals, excess=1) == [("q", ("weak", "other"))]


def test_a_swap_names_those_whose_queries_share_what_its_entries_have() -> None:
    rivals = [resident("lone", {"a": 0.6}), *(resident(f"e{name}", {"x": 0.6, name: 0.7}) for name in "bcd")]
    first = resident("q1", {"a": 0.9, "x": 0.58})
    second = resident("q2", {"x": 0.9, "b": 0.9, "c": 0.9, "d": 0.9})
    floor: dict[str, Any] = {"per_capability": {"x": {"redundancy_floor": 2}}}
    assert swaps([first], rivals, **floor) == [("q1", ("lone",))]
    # "ed" can go since "q2" covers "x", too.
    found = [*Exchanges(removals(rivals, [first, second], **floor)).swaps([first, second], 0)]
    assert [(item.query.id, tuple(item.freed), item.rests_on) for item in found] == [
        ("q2", ("eb", "ec"), ()),
        ("q1", ("lone", "ed"), ("q2",)),
    ]
    others = [resident("p", {"p": 0.6}), resident("lone", {"a": 0.6})]
    apart = [resident("q1", {"a": 0.9}), resident("q2", {"p": 0.9})]
    assert [item.rests_on for item in Exchanges(removals(others, apart)).swaps(apart, 0)] == [(), ()]


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


def test_the_last_displacer_of_an_entry_may_follow_once_that_has_gone() -> None:
    rivals = [resident("old", {"a": 0.9}), resident("heir", {"a": 0.8, "b": 0.8}, displaces=("old",))]
    first, second = resident("q1", {"a": 0.95}), resident("q2", {"a": 0.6, "b": 0.95})
    exact: dict[str, Any] = {"novelty": "signature"}
    assert swaps([second], rivals, **exact) == [("q2", ("heir",))]
    found = [*Exchanges(removals(rivals, [first, second], **exact)).swaps([first, second], 0)]
    assert [(item.query.id, tuple(item.freed), item.rests_on) for item in found] == [
        ("q1", ("old",), ()),
        ("q2", ("heir",), ("q1",)),
    ]


def test_a_newcomer_displaces_in_the_place_of_the_one_that_it_swaps_with() -> None:
    rivals = [
        resident("old", {"a": 0.6}),
        resident("heir1", {"a": 0.9}, displaces=("old",)),
        resident("heir2", {"a": 0.7, "b": 0.8}, displaces=("old",)),
    ]
    first, second = resident("q1", {"a": 0.95}), resident("q2", {"a": 0.6, "b": 0.95})
    exact: dict[str, Any] = {"novelty": "signature"}
    assert swaps([first, second], rivals, **exact) == [("q2", ("heir2",))]
    also = replace(first, displaces=("old",))
    assert swaps([also, second], rivals, **exact) == [("q2", ("heir2",)), ("q1", ("heir1",))]


def repacks(
    archived: Sequence[RatedEntry],
    residents: Sequence[RatedEntry],
    most: int = 9,
    refused: Sequence[str] = (),
    **more: Any,
) -> list[tuple[str, tuple[str, ...]]]:
    found = removals(residents, archived, **more)
    chosen = Exchanges(found).repacks(archived, most, lambda admit, freed: admit not in refused)
    return [(item.query.id, tuple(item.freed)) for item in chosen]


RATED_PAIRS = [
    resident("ab", {"a": 0.6, "b": 0.6}),
    resident("bc", {"b": 0.6, "c": 0.6}),
    resident("ac", {"a": 0.6, "c": 0.6}),
]
STRONG = [resident(f"best-{name}", {name: 0.95}) for name in "abc"]


def test_a_repack_needs_two_entries_whatever_they_cost() -> None:
    three = resident("three", {"a": 0.7, "b": 0.7, "c": 0.7})
    assert repacks([three], [*STRONG, *RATED_PAIRS]) == [("three", ("ab", "ac", "bc"))]
    for cost in (0.1, 9.0):
        query = replace(three, setup_cost=cost)
        assert repacks([query], [*STRONG, *RATED_PAIRS[:2]]) == [("three", ("ab", "bc"))]
        assert repacks([query], [*STRONG, RATED_PAIRS[0]]) == []


def test_most_entries_come_first_then_expected_detection_then_cost_then_id() -> None:
    rivals = [*STRONG, resident("best-d", {"d": 0.95}), *RATED_PAIRS, resident("ad", {"a": 0.6, "d": 0.6})]
    four = resident("four", {"a": 0.7, "b": 0.7, "c": 0.7, "d": 0.7}, setup_cost=9.0)
    three = resident("three", {"a": 0.75, "b": 0.75, "c": 0.75})
    assert repacks([three, four], rivals) == [("four", ("ab", "ac", "bc", "ad"))]
    gone = ("ab", "ac", "bc")
    weaker = replace(three, id="a", scores={"a": 0.75, "b": 0.75, "c": 0.7})
    assert repacks([weaker, three], rivals) == [("three", gone)]
    dearer = replace(three, id="a", setup_cost=2.0)
    assert repacks([dearer, three], rivals) == [("three", gone)]
    twin = replace(three, id="a")
    assert repacks([twin, three], rivals) == [("a", gone)]
    assert repacks([twin, dearer, three], rivals, refused=["a"]) == [("three", gone)]


def test_what_people_refused_does_not_come_back_with_less_once_others_are_applied() -> None:
    known = [
        *(resident(f"best-{name}", {name: 0.95}) for name in "abcd"),
        *(resident(pair, dict.fromkeys(pair, 0.6)) for pair in ("ab", "ac", "bc", "ad", "bd")),
    ]
    archived = [resident(id, dict.fromkeys(id, 0.7), setup_cost=cost) for id, cost in (("abc", 1.0), ("abd", 0.5))]
    assert dict(repacks(archived, known)) == {"abd": ("ab", "ad", "bd"), "abc": ("ac", "bc")}

    def made(refused: set[str]) -> list[str]:
        found = removals(known, archived)
        chosen = Exchanges(found).repacks(archived, 9, refused=lambda admit, freed: set(freed) == refused)
        return [item.query.id for item in chosen]

    assert made(set()) == ["abd", "abc"]
    # Alone it frees all of these, whatever others would leave of them.
    assert made({"ab", "ac", "bc"}) == ["abd"]
    assert made({"ab", "ad", "bd"}) == ["abc"]


def test_no_more_repacks_are_made_than_asked_for() -> None:
    pairs = [resident(pair, dict.fromkeys(pair, 0.6)) for pair in ("ab", "ac", "bc", "de", "df")]
    rivals = [*(resident(f"best-{name}", {name: 0.95}) for name in "abcdef"), *pairs]
    archived = [resident(id, dict.fromkeys(id, 0.7)) for id in ("abc", "def")]
    assert repacks(archived, rivals) == [("abc", ("ab", "ac", "bc")), ("def", ("de", "df"))]
    assert repacks(archived, rivals, most=1) == [("abc", ("ab", "ac", "bc"))]
    assert repacks(archived, rivals, most=0) == []


@settings(max_examples=settings().max_examples * 2)
@given(cases(most=8))
def test_the_first_repack_is_the_one_of_the_definition(case: Case) -> None:
    archived = [replace(query, displaces=()) for query in newcomers_of(case)]
    found = of(case, config_of(case), archived)
    items = [replace(item, id=query.id, admitted_at="~") for item, query in zip(case.queries, archived, strict=True)]
    expected = reference.repack(items, case.residents, case.open, case.knobs, case.options)
    chosen = [(item.query.id, tuple(item.freed)) for item in Exchanges(found).repacks(archived, 1)]
    assert chosen == ([] if expected is None else [expected])


@settings(max_examples=settings().max_examples * 2)
@given(cases(most=8))
def test_top_ups_are_those_of_the_definition(case: Case) -> None:
    archived, config = [replace(query, displaces=()) for query in newcomers_of(case)], config_of(case)
    items = [replace(item, id=query.id, admitted_at="~") for item, query in zip(case.queries, archived, strict=True)]
    found = of(case, config, archived)
    chosen = Exchanges(found, config.filled).top_ups([*reversed(archived)], 3)
    expected = reference.top_ups(items, case.residents, 3, case.knobs, case.options)
    assert [item.query.id for item in chosen] == expected


@settings(max_examples=settings().max_examples * 2)
@given(cases(most=8))
def test_exchanges_are_those_of_the_definition(case: Case) -> None:
    newcomers, config = newcomers_of(case), config_of(case)
    found = of(case, config, newcomers)
    items = [
        replace(item, id=query.id, admitted_at="~", displaces=query.displaces)
        for item, query in zip(case.queries, newcomers, strict=True)
    ]
    expected = reference.exchanges(items[::2], items[1::2], case.residents, case.open, 9, case.knobs, case.options)
    exchanges = Exchanges(found, config.filled)
    for _ in exchanges.swaps(newcomers[::2], 0):
        pass
    for _ in exchanges.repacks([*reversed(newcomers[1::2])], 9):
        pass
    left = [query for query in newcomers[1::2] if query.id not in {item.query.id for item in exchanges.made}]
    for _ in exchanges.top_ups(left, 9):
        pass
    assert [(item.query.id, tuple(item.freed), item.rests_on) for item in exchanges.made] == expected


@settings(max_examples=settings().max_examples * 2)
@given(cases(most=8), st.randoms(use_true_random=False))
def test_any_part_of_evictions_swaps_and_repacks_in_any_order_loses_nothing(case: Case, draw: Any) -> None:
    config, residents = config_of(case), residents_of(case)
    newcomers = {query.id: query for query in newcomers_of(case)}
    found = of(case, config, [*newcomers.values()], residents)
    waiting, archived = [*newcomers.values()][::2], [*newcomers.values()][1::2]
    exchanges = Exchanges(found, config.filled)
    for _ in exchanges.swaps(waiting, 0):
        pass
    for _ in exchanges.repacks(archived, 3):
        pass
    for _ in exchanges.top_ups([query for query in archived if query.id not in {q.id for q, *_ in exchanges.made}], 3):
        pass
    steps: list[tuple[str | None, Freed, tuple[str, ...]]] = [
        (None, {id: grounds}, ()) for id, grounds in found.chosen.items()
    ]
    steps += [(item.query.id, item.freed, item.rests_on) for item in exchanges.made]
    grounds = {id: each for _, gone, _ in steps for id, each in gone.items()}
    assert len(grounds) == sum(len(gone) for _, gone, _ in steps)
    needed = carried(residents, config)
    if config.options.novelty == "signature":
        # A signature may go with an entry that is displaced; all t-combinations of that are the displacer's too.
        displaced = {id for id, each in grounds.items() if each.kind is EvictionKind.DISPLACED}
        needed -= carried([item for item in residents if item.id in displaced], config)
    before = derive_roles(residents, config)
    present = {item.id: item for item in residents}
    for admit, gone, rests_on in draw.sample(steps, draw.randint(0, len(steps))):
        if not present.keys() >= set(rests_on):
            # Without those it is derived again.
            continue
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
        kept_now = titles_of([*present.values()], config)
        for name, champion in titles_of(residents, config).items():
            # A champion at or above the bar leaves only for a newcomer that beats it; where old scores fade, the title
            # may pass on once the newest entry is another one.
            assert (
                config.options.recency is not None
                or f"champion:{name}" not in before.pinned.get(champion, ())
                or champion in present
                or (kept_now[name] in newcomers)
            )


def carried(entries: Sequence[RatedEntry], config: Curation, smaller: bool = False) -> frozenset[tuple[str, ...]]:
    """The combinations of ``entries``, and the ``smaller`` ones that they carry."""
    live = LiveSet(entries, (), config)
    masks = [live.capabilities.carried(member) if smaller else member.combinations for member in live.members]
    return frozenset(map(live.capabilities.named, frozenset().union(*masks)))

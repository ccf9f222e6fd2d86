"""What a newcomer frees, by hand and against the reference (semantics, section 7)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent.curator.exchanges import Freed
from incumbent.curator.losses import losses
from incumbent.curator.prune import SafeRemovals, dispensable, prune
from incumbent.curator.roles import EvictionKind
from incumbent.rater.model import RatedEntry, ReleaseResults
from incumbent.taxonomy.config import Curation
from tests.consolidator.test_against_reference import config_of, residents_of
from tests.factories import make_config, resident
from tests.oracle import reference
from tests.oracle.strategies import Case, cases

FLOOR: dict[str, Any] = {"redundancy_floor": 1}


def removals(residents: Sequence[RatedEntry], waiting: Sequence[RatedEntry], **more: Any) -> SafeRemovals:
    stale, refused = more.pop("stale", ()), more.pop("refused", ())
    names = {name for query in waiting for name in query.scores}
    found = SafeRemovals(residents, make_config(**FLOOR | more), 1, (), stale, names)
    found.choose(refused)
    return found


def freed(query: RatedEntry, residents: Sequence[RatedEntry], **more: Any) -> Freed:
    found = removals(residents, [query], **more)
    return found.freed(found.arriving(query))


def test_a_better_test_frees_the_champion_that_it_beats() -> None:
    rivals = [resident("weak", {"a": 0.6}), resident("other", {"b": 0.9})]
    (grounds,) = freed(resident("q", {"a": 0.9}), rivals).values()
    assert (grounds.kind, grounds.yields_to, grounds.freed_by) == (EvictionKind.REDUNDANT, (), "q")
    winner = resident("q", {"a": 0.9}, displaces=("weak",))
    assert [item.kind for item in freed(winner, rivals).values()] == [EvictionKind.REDUNDANT]
    (grounds,) = freed(winner, rivals, novelty="signature").values()
    assert (grounds.kind, grounds.yields_to, grounds.freed_by) == (EvictionKind.DISPLACED, ("q",), "q")
    # Where a combination is a whole signature, only what is displaced may take its own along.
    wide = resident("q", {"a": 0.9, "c": 0.9})
    assert freed(wide, rivals, novelty="signature") == {}
    assert freed(replace(wide, displaces=("weak",)), rivals, novelty="signature").keys() == {"weak"}


def test_one_that_beats_nobody_frees_what_only_combinations_kept() -> None:
    rivals = [
        *(resident(f"best-{name}", {name: 0.95}) for name in "abc"),
        resident("r1", {"a": 0.6, "b": 0.6}),
        resident("r2", {"b": 0.6, "c": 0.6}),
    ]
    assert [*freed(resident("q", {"a": 0.7, "b": 0.7, "c": 0.7}), rivals)] == ["r1", "r2"]
    assert [*freed(resident("q", {"a": 0.7, "b": 0.7}, setup_cost=0.5), rivals)] == ["r1"]


def test_what_people_refused_to_evict_is_not_freed() -> None:
    rivals, query = [resident("weak", {"a": 0.6}), resident("other", {"b": 0.9})], resident("q", {"a": 0.9})
    (grounds,) = freed(query, rivals).values()
    assert freed(query, rivals, refused={grounds.digest}) == {}


def test_what_could_leave_without_the_newcomer_is_not_freed_by_it() -> None:
    rivals = [resident("best", {"a": 0.9}), resident("spare", {"a": 0.6})]
    assert freed(resident("q", {"b": 0.9}), rivals) == {}
    assert freed(resident("q", {"a": 0.95}), rivals).keys() == {"best"}


def test_a_newcomer_that_would_be_suggested_itself_frees_nothing() -> None:
    rivals = [resident("best", {"b": 0.9}), resident("pair", {"b": 0.6, "c": 0.6}), resident("c", {"c": 0.9})]
    twin = resident("q", {"b": 0.6, "c": 0.6})
    # It would add less than is lost with the other now, whatever their set-ups cost.
    for cost in (0.5, 2.0):
        assert freed(replace(twin, setup_cost=cost), rivals) == {}
    assert freed(replace(twin, scores={"b": 0.8, "c": 0.8}), rivals).keys() == {"pair"}
    assert freed(replace(twin, pin="audit"), rivals).keys() == {"pair"}


def test_pins_and_stale_entries_are_never_freed() -> None:
    weak = resident("weak", {"a": 0.6})
    assert freed(resident("q", {"a": 0.9}), [replace(weak, pin="audit")]) == {}
    assert freed(resident("q", {"a": 0.9}), [weak], stale={"weak"}) == {}


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
            by_rule=item.by_rule,
            admitted_at="~",
            pin=item.pin,
            displaces=tuple(sorted(resident.id for resident in case.residents)) if place % 2 else (),
            setup_cost=item.setup_cost,
            customer=item.customer,
        )
        for place, item in enumerate(case.queries)
    ]


def of(
    case: Case, config: Curation, newcomers: Sequence[RatedEntry], residents: Sequence[RatedEntry] | None = None
) -> SafeRemovals:
    names = {name for query in newcomers for name in query.scores}
    found = SafeRemovals(residents_of(case) if residents is None else residents, config, 1, case.open, (), names)
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


BEST = [resident("best1", {"a": 0.9, "b": 0.9}), resident("best2", {"a": 0.8, "b": 0.8})]


def suggested(residents: list[RatedEntry], **more: object) -> list[str]:
    config = {key: more.pop(key) for key in list(more) if key in ("redundancy_floor", "novelty", "competence_bar")}
    return [item.id for item in prune(residents, make_config(**config), 1, **more)]  # type: ignore[arg-type]


def test_a_redundant_entry_is_suggested_with_its_grounds() -> None:
    (suggestion,) = prune([*BEST, resident("spare", {"a": 0.6, "b": 0.6})], make_config(), 1)
    assert suggestion.id == "spare"
    assert suggestion.grounds.kind is EvictionKind.REDUNDANT
    assert suggestion.grounds.yields_to == ()
    assert suggestion.remaining == {"a": 2, "b": 2}


def test_the_floor_holds_over_all_suggestions_together() -> None:
    spares = [resident(f"spare{n}", {"a": 0.6}) for n in range(3)]
    assert suggested([*BEST, *spares], redundancy_floor=3) == ["spare0", "spare1"]
    assert suggested([*BEST, *spares], redundancy_floor=5) == []


def test_a_combination_that_nobody_else_carries_protects_unless_displaced() -> None:
    rare = resident("rare", {"a": 0.6, "c": 0.6})
    others = [*BEST, resident("c1", {"c": 0.9}), resident("c2", {"c": 0.8})]
    assert "rare" not in suggested([*others, rare], novelty="signature")
    winner = resident("winner", {"a": 0.95, "b": 0.95, "c": 0.95})
    assert "rare" not in suggested([*others, rare, winner], novelty="signature")
    displacer = replace(winner, displaces=("rare",))
    assert "rare" in suggested([*others, rare, displacer], novelty="signature")


def test_a_refusal_holds_while_what_displaces_the_entry_is_only_suggested() -> None:
    residents = [*BEST, resident("weak", {"a": 0.6}), resident("winner", {"a": 0.7}, displaces=("weak",))]
    (grounds,) = [item.grounds for item in prune(residents, make_config(novelty="signature"), 1)]
    assert (grounds.kind, grounds.yields_to) == (EvictionKind.DISPLACED, ("winner",))
    refused = {grounds.digest}
    for open in ([], ["winner"], ["weak"], ["weak", "winner"]):
        found = suggested(residents, refused=refused, open_suggestions=open, novelty="signature")
        assert found == ["winner"]
    # Once another of its signature displaces it instead, the grounds are others.
    heir = resident("heir", {"a": 0.7}, displaces=("weak",))
    assert "weak" in suggested([*residents[:-1], heir], refused=refused, novelty="signature")


def test_a_combination_protects_one_of_its_last_two_carriers() -> None:
    twins = [resident("t1", {"a": 0.6, "c": 0.6}), resident("t2", {"a": 0.6, "c": 0.6})]
    others = [*BEST, resident("c1", {"c": 0.9}), resident("c2", {"c": 0.8})]
    assert suggested([*others, *twins]) == ["c2", "t1"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"scores": {"a": 0.55}}, {}),
        ({"scores": {"a": 0.65, "c": 0.1}}, {"scores": {"a": 0.66}}),
        ({}, {"setup_cost": 2.0}),
        ({"admitted_at": "2025-01-01T00:00:00Z"}, {}),
        ({}, {}),
    ],
    ids=["smaller ΔD", "smaller ΔD of higher scores", "smaller id, whatever the set-up costs", "earlier", "smaller id"],
)
def test_the_order_of_candidates(first: dict[str, object], second: dict[str, object]) -> None:
    defaults: dict[str, object] = {"scores": {"a": 0.6}}
    one = resident("s1", **defaults | first)  # type: ignore[arg-type]
    two = resident("s2", **defaults | second)  # type: ignore[arg-type]
    assert suggested([*BEST, two, one], redundancy_floor=3) == ["s1"]


def test_open_suggestions_and_displaced_entries_come_first() -> None:
    spares = [resident("s1", {"a": 0.5}), resident("s2", {"a": 0.6}), resident("s3", {"a": 0.6})]
    displacer = resident("best3", {"a": 0.7}, displaces=("s2",))
    everyone = [*BEST, displacer, *spares]
    assert suggested(everyone, redundancy_floor=5, novelty="signature") == ["s2"]
    assert suggested(everyone, redundancy_floor=5, novelty="signature", open_suggestions={"s3"}) == ["s3"]
    assert suggested(everyone, redundancy_floor=5) == ["s1"]


def test_what_release_runs_showed_comes_before_what_would_be_lost() -> None:
    results = {
        "both": ReleaseResults.BOTH,
        "failed": ReleaseResults.FAILED,
        "unknown": ReleaseResults.UNKNOWN,
        "passed": ReleaseResults.PASSED,
    }
    # The later one is let go, the more is lost with it.
    spares = [
        resident(id, {"a": 0.5 + place / 100}, results=shown) for place, (id, shown) in enumerate(results.items())
    ]
    order = ["passed", "unknown", "failed", "both"]
    assert suggested([*BEST, *spares]) == order
    assert suggested([*BEST, *spares], open_suggestions={"both"}) == ["both", *order[:-1]]
    best = resident("best3", {"a": 0.7}, displaces=("both",), pin="audit")
    assert suggested([*BEST, best, *spares], novelty="signature")[:2] == ["both", "passed"]


def test_up_to_the_share_to_fill_redundant_ones_stay_and_count_as_coverers() -> None:
    spares = [resident(f"s{n}", {"a": 0.6 + n / 100}) for n in range(3)]
    config = make_config(redundancy_floor=1, ceiling=8, fill_to=0.5)
    (only,) = prune([*BEST, *spares], config, 1)
    assert (only.id, only.remaining) == ("s0", {"a": 4})
    # What is displaced goes all the same.
    heir = resident("heir", {"a": 0.7}, displaces=("s2",), pin="audit")
    signature = make_config(config, novelty="signature", fill_to=1.0)
    assert [item.id for item in prune([*BEST, *spares, heir], signature, 1)] == ["s2"]


def test_a_newcomer_frees_in_the_same_order_and_has_no_results() -> None:
    best = [resident(f"best-{name}", {name: 0.95}) for name in "bc"]
    twins = [resident("t1", {"b": 0.6, "c": 0.6}), resident("t2", {"b": 0.7, "c": 0.7})]
    query = resident("q", {"b": 0.65, "c": 0.65})
    found = freed(query, [*best, twins[1]])
    assert found.keys() == set()
    failed = replace(twins[1], results=ReleaseResults.PASSED)
    assert freed(query, [*best, failed]).keys() == {"t2"}


def test_an_entry_that_covers_nothing_competently_could_go() -> None:
    assert suggested([*BEST, resident("shallow", {"c": 0.2})]) == ["shallow"]


def test_nothing_is_suggested_for_an_empty_set() -> None:
    assert suggested([]) == []


def test_an_entry_that_lags_behind_is_never_suggested() -> None:
    assert suggested([*BEST, resident("stale", {})], stale={"stale"}) == []


STRONG = resident("best", {"a": 0.9})
SECOND = resident("second", {"a": 0.8})
WEAK = resident("weak", {"a": 0.6})


@pytest.mark.parametrize(
    ("residents", "newcomers", "more", "gone"),
    [
        ([STRONG, SECOND, WEAK], {"best", "second", "weak"}, {}, ("weak",)),
        ([STRONG, SECOND, WEAK], {"second"}, {}, ("second",)),
        ([STRONG, SECOND, WEAK], {"best"}, {}, ()),
        ([STRONG, SECOND, WEAK], set(), {}, ()),
        ([STRONG, SECOND, resident("weak", {"a": 0.6}, pin="audit")], {"best", "weak"}, {}, ()),
        ([STRONG, SECOND, WEAK], {"best", "second", "weak"}, {"stale": {"weak"}}, ("second",)),
        ([STRONG, SECOND, resident("pair", {"a": 0.6, "b": 0.4})], {"pair"}, {}, ("pair",)),
        ([STRONG, SECOND, resident("pair", {"a": 0.6, "b": 0.6})], {"pair"}, {}, ()),
    ],
    ids=[
        "down to the floor",
        "others are not touched",
        "a champion stays",
        "no newcomer",
        "a pinned newcomer stays",
        "a stale newcomer stays",
        "a tag below the bar is no coverage",
        "the only coverer stays",
    ],
)
def test_what_the_set_can_do_without(
    residents: list[RatedEntry], newcomers: set[str], more: Mapping[str, Collection[str]], gone: tuple[str, ...]
) -> None:
    assert dispensable(residents, newcomers, make_config(redundancy_floor=2), 1, **more) == gone


def test_what_becomes_free_with_others_goes_too() -> None:
    """`first` needs `second` while `third` leaves on its account."""
    third = resident("third", {"a": 0.6, "b": 0.6})
    first = resident("first", {"a": 0.7, "b": 0.7}, displaces=("third",), admitted_at="2026-01-02T00:00:00Z")
    covering = [resident(f"{name}{place}", {name: 0.9}) for name in "ab" for place in range(2)]
    everyone = [*covering, resident("twin", {"a": 0.65, "b": 0.65}, pin="audit"), third, first]
    assert set(dispensable(everyone, {"first", "third"}, make_config(redundancy_floor=2), 1)) == {"first", "third"}


@settings(max_examples=settings().max_examples * 2)
@given(cases(most=9), st.data())
def test_nothing_is_lost_and_nothing_is_left_to_suggest(case: Case, data: st.DataObject) -> None:
    config, residents = config_of(case), residents_of(case)
    residents = [item for item in residents if not item.displaces]
    newcomers = {item.id for item in residents if data.draw(st.booleans())}
    gone = dispensable(residents, newcomers, config, 1)
    left = [item for item in residents if item.id not in gone]
    assert set(gone) <= newcomers
    assert not any(item.pin for item in residents if item.id in gone)
    lost = losses(gone, residents, config)
    # A capability that had fewer coverers than its floor has all of them still.
    assert not lost.shortages
    assert not lost.combinations
    assert not lost.best_of
    assert dispensable(left, newcomers, config, 1) == ()


@given(cases(most=9))
def test_a_whole_set_is_reduced_until_prune_suggests_nothing(case: Case) -> None:
    config, residents = config_of(case), residents_of(case)
    gone = dispensable(residents, {item.id for item in residents}, config, 1)
    left = [item for item in residents if item.id not in gone]
    assert not prune(left, config, 1)


@given(cases(most=9))
def test_a_second_import_of_what_went_finds_the_same(case: Case) -> None:
    """Imported again, the archived queries are judged against the set that is left: they go again."""
    config, residents = config_of(case), [item for item in residents_of(case) if not item.displaces]
    gone = dispensable(residents, {item.id for item in residents}, config, 1)
    assert set(dispensable(residents, set(gone), config, 1)) == set(gone)

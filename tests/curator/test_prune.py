"""Prune on sets small enough to work out by hand (semantics, section 7)."""

from __future__ import annotations

import pytest

from bot.curator.grounds import EvictionKind
from bot.curator.prune import prune
from bot.rater.model import RatedEntry
from tests.factories import make_config, resident

BEST = [resident("best1", {"a": 0.9, "b": 0.9}), resident("best2", {"a": 0.8, "b": 0.8})]


def suggested(residents: list[RatedEntry], **more: object) -> list[str]:
    config = {key: more.pop(key) for key in list(more) if key in ("redundancy_floor", "novelty", "competence_bar")}
    return [item.id for item in prune(residents, make_config(**config), 1, **more).suggestions]  # type: ignore[arg-type]


def test_a_redundant_entry_is_suggested_with_its_grounds() -> None:
    pruning = prune([*BEST, resident("spare", {"a": 0.6, "b": 0.6})], make_config(), 1)
    (suggestion,) = pruning.suggestions
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
    assert "rare" not in suggested([*others, rare])
    winner = resident("winner", {"a": 0.95, "c": 0.95}, displaces=("rare",))
    assert "rare" in suggested([*others, rare, winner])


def test_a_refusal_holds_while_what_displaces_the_entry_is_only_suggested() -> None:
    residents = [*BEST, resident("weak", {"a": 0.6}), resident("winner", {"a": 0.7}, displaces=("weak",))]
    (grounds,) = [item.grounds for item in prune(residents, make_config(), 1).suggestions]
    assert (grounds.kind, grounds.yields_to) == (EvictionKind.DISPLACED, ("winner",))
    refused = {grounds.digest}
    for open in ([], ["winner"], ["weak"], ["weak", "winner"]):
        assert suggested(residents, refused=refused, open_suggestions=open) == ["winner"]
    # Once the other has left, the grounds are others.
    assert suggested(residents[:-1], refused=refused) == ["weak"]


def test_a_combination_protects_one_of_its_last_two_carriers() -> None:
    twins = [resident("t1", {"a": 0.6, "c": 0.6}), resident("t2", {"a": 0.6, "c": 0.6})]
    others = [*BEST, resident("c1", {"c": 0.9}), resident("c2", {"c": 0.8})]
    assert suggested([*others, *twins]) == ["c2", "t1"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"setup_cost": 2.0}, {}),
        ({"scores": {"a": 0.55}}, {}),
        ({"admitted_at": "2025-01-01T00:00:00Z"}, {}),
        ({}, {}),
    ],
    ids=["costlier set-up", "lower scores", "earlier", "smaller id"],
)
def test_the_order_of_candidates(first: dict[str, object], second: dict[str, object]) -> None:
    defaults: dict[str, object] = {"scores": {"a": 0.6}}
    one = resident("s1", **defaults | first)  # type: ignore[arg-type]
    two = resident("s2", **defaults | second)  # type: ignore[arg-type]
    assert suggested([*BEST, two, one], redundancy_floor=3) == ["s1"]


def test_open_suggestions_and_displaced_entries_come_first() -> None:
    spares = [resident("s1", {"a": 0.6}, setup_cost=9.0), resident("s2", {"a": 0.6}), resident("s3", {"a": 0.6})]
    displacer = resident("best3", {"a": 0.7}, displaces=("s2",))
    everyone = [*BEST, displacer, *spares]
    assert suggested(everyone, redundancy_floor=5) == ["s2"]
    assert suggested(everyone, redundancy_floor=5, open_suggestions={"s3"}) == ["s3"]


def test_an_entry_that_covers_nothing_competently_could_go() -> None:
    assert suggested([*BEST, resident("shallow", {"c": 0.2})]) == ["shallow"]


def test_nothing_is_suggested_for_an_empty_set() -> None:
    assert suggested([]) == []


def test_an_entry_that_lags_behind_is_never_suggested() -> None:
    assert suggested([*BEST, resident("stale", {})], lagging={"stale"}) == []

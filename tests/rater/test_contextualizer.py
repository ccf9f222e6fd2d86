"""The live set by hand: keys, carriers and doubts; and who of those that wait offers what."""

from __future__ import annotations

import pytest

from incumbent.rater.contextualizer import LiveSet
from tests.factories import make_config, query, resident

CONFIG = make_config(
    competence_bar=0.5, winning_margin=0.05, redundancy_floor=2, fill_floor=True, novelty=2, recency=10.0
)
RESIDENTS = [
    resident("r1", {"a": 0.9, "b": 0.6}, customer="acme"),
    resident("r2", {"c": 0.9}, customer="acme"),
    resident("r3", {"c": 0.8}, customer="acme"),
]


def test_a_key_counts_what_is_new_fills_is_contested_and_combines_and_falls_as_the_set_grows() -> None:
    item = query("q", {"a": 0.96, "b": 0.7, "c": 0.5, "d": 0.6, "e": 0.1}, customer="globex")
    offer = query("w", {"a": 0.5, "c": 0.5})
    live = LiveSet(RESIDENTS, [item, offer], CONFIG)
    profile = live.profile(item)
    # a and b are won, d has no champion; e has none either, and too low a score.
    assert live.key(profile) == (1, 2, 3, 5, 2.86)
    # However large the margin.
    assert live.under(make_config(CONFIG, winning_margin=0.3)).key(profile) == (1, 2, 1, 5, 2.86)
    anyhow = make_config(CONFIG, win_needs_bar=False)
    assert LiveSet(RESIDENTS, [item], anyhow).key(profile._replace(contested=profile.signature)) == (1, 2, 4, 5, 2.86)
    live.await_review(live.profile(offer), familiar=True)
    assert live.key(profile) == (1, 2, 3, 4, 2.86)
    live.admit(profile._replace(id="twin"))
    assert live.key(profile) == (0, 0, 0, 0, 2.86)


def test_merit_is_a_win_and_no_mere_lack_of_a_champion() -> None:
    ruled = [resident(f"r{place}", {"a": 0.9}, by_rule=frozenset("a")) for place in range(2)]
    item = query("q", {"a": 0.95})
    for residents, contested, has_merit in (
        (ruled, 1, False),
        (RESIDENTS[:1] * 2, 0, False),
        ([RESIDENTS[0]], 0, True),
    ):
        live = LiveSet(residents, [item], make_config(CONFIG, winning_margin=0.2))
        assert live.key(live.profile(item))[2] == contested
        assert live.has_merit(live.profile(item)) is has_merit
    live = LiveSet(RESIDENTS[:1] * 2, [item], make_config(CONFIG, winning_margin=0.01))
    assert live.has_merit(live.profile(item))


def test_of_one_customer_nothing_fills_a_floor_that_the_customer_covers() -> None:
    items = [query(customer, {"a": 0.6}, customer=customer) for customer in ("acme", "globex")]
    live = LiveSet(RESIDENTS, items, CONFIG)
    assert [live.key(live.profile(item))[1] for item in items] == [0, 1]


@pytest.mark.parametrize(
    ("open_to_any", "floor", "fills"),
    [("", 2, [0, 1]), ("b", 2, [0, 1]), ("a", 2, [1, 1]), ("a", 1, [0, 0])],
)
def test_where_any_customer_may_fill_a_floor_its_own_coverer_does_as_well(
    open_to_any: str, floor: int, fills: list[int]
) -> None:
    config = make_config(CONFIG, redundancy_floor=floor).under(fill_from_any=frozenset(open_to_any))
    items = [query(customer, {"a": 0.6}, customer=customer) for customer in ("acme", "globex")]
    for live in (LiveSet(RESIDENTS, items, config), LiveSet(RESIDENTS, items, CONFIG).under(config)):
        assert [live.key(live.profile(item))[1] for item in items] == fills


def test_carriers_are_named_in_the_order_in_which_they_entered() -> None:
    late = resident("r0", {"c": 0.6, "a": 0.7}, admitted_at="2026-02-01T00:00:00Z")
    live = LiveSet([late, *RESIDENTS], (), CONFIG)
    assert {live.capabilities.named(mask): ids for mask, ids in live.carriers().items()} == {
        ("a",): ["r1", "r0"],
        ("b",): ["r1"],
        ("a", "b"): ["r1"],
        ("c",): ["r2", "r3", "r0"],
        ("a", "c"): ["r0"],
    }

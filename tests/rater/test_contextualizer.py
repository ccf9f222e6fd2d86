"""The live set by hand: keys, carriers and doubts; and who of those that wait offers what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rater.contextualizer import LiveSet, Offers
from bot.rater.model import Doubt
from tests.factories import make_config, query, resident

MASKS = st.sets(st.integers(1, 6), max_size=4)


@given(st.lists(st.tuples(MASKS, MASKS), max_size=20))
def test_it_names_those_who_offer_any_of_it_in_the_order_they_came(steps: list[tuple[set[int], set[int]]]) -> None:
    """Asked between those who come, too."""
    offers = Offers()
    plain: list[tuple[str, set[int]]] = []
    for number, (offered, asked) in enumerate(steps):
        offers.add(f"q{number}", offered)
        plain.append((f"q{number}", offered))
        assert offers.of(asked) == tuple(id for id, masks in plain if masks & asked)


def test_all_who_ask_the_same_are_told_the_same_tuple() -> None:
    """However many wait, they are gone through once."""
    offers = Offers()
    for number in range(1_000):
        offers.add(f"q{number}", [1, 2 + number % 2])
    same = offers.of([1])
    assert len(same) == 1_000
    assert offers.of([2, 3]) is same


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
    # d and e have no champion, so that any score wins them; e is not covered competently, and combines with nothing.
    assert live.key(profile) == (1, 2, 4, 5, 2.86)
    # However large the margin.
    assert live.under(make_config(CONFIG, winning_margin=0.3)).key(profile) == (1, 2, 2, 5, 2.86)
    live.await_review(live.profile(offer))
    assert live.key(profile) == (1, 2, 4, 4, 2.86)
    live.admit(profile._replace(id="twin"))
    assert live.key(profile) == (0, 0, 0, 0, 2.86)


def test_of_one_customer_nothing_fills_a_floor_that_the_customer_covers() -> None:
    items = [query(customer, {"a": 0.6}, customer=customer) for customer in ("acme", "globex")]
    live = LiveSet(RESIDENTS, items, CONFIG)
    assert [live.key(live.profile(item))[1] for item in items] == [0, 1]


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


def test_nothing_is_in_doubt_that_a_score_at_the_bar_would_not_change() -> None:
    item = query("q", {"a": 0.4, "b": 0.4})
    old = resident("old", {"a": 0.8, "b": 0.8}, inferred=frozenset("b"))
    # Ten days later a score of b counts half, and one at the bar beats it.
    for newest, doubts in (("2026-01-01", []), ("2026-01-11", [Doubt(capability="b", probability=0.4)])):
        residents = [old, resident("new", {"c": 0.9}, admitted_at=newest)]
        config = make_config(CONFIG, redundancy_floor=1)
        live = LiveSet(residents, [item], config)
        assert live.doubts(item, live.profile(item), 0.3) == doubts
        assert live.doubts(item, live.profile(item), 0.41) == []
        wider = LiveSet(residents, [item], make_config(config, winning_margin=0.3))
        assert wider.under(config).doubts(item, live.profile(item), 0.3) == doubts


@pytest.mark.parametrize("novelty", [2, "signature"])
def test_what_it_may_exercise_instead_is_in_doubt_only_if_that_is_new(novelty: object) -> None:
    residents = [resident("r", {"a": 0.8}), resident("s", {"b": 0.8})]
    known, new = (Doubt(capability=name, probability=0.4, instead_of=("b",)) for name in "ad")
    item = query("q", {"b": 0.6}, doubts=(known, new))
    live = LiveSet(residents, [item], make_config(CONFIG, redundancy_floor=1, novelty=novelty))
    assert live.doubts(item, live.profile(item), 0.3) == [new]

"""Who of those that wait offers what: the long way beside the short one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.rater.contextualizer import Offers

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

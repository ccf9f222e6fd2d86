"""When a triage stops looking."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import ScoredQuery
from incumbent.triage.stopping import StoppingRule
from tests.factories import make_config, query


def rule(most: int | None) -> StoppingRule:
    config = make_config()
    return StoppingRule(LiveSet.knowing("abcdefgh", (), config), config, most)


def bringing(*brought: tuple[int, str]) -> list[tuple[int, ScoredQuery]]:
    """Queries at these positions, each with one capability."""
    return [(place, query(f"q{place}", {name: 0.95}, f"text {place} of {name * 20}")) for place, name in brought]


@pytest.mark.parametrize(
    ("most", "ends", "brought", "looked"),
    [
        # All are looked at: nothing ends it, or too few came without merit.
        (None, [4, 9], [(0, "a"), (8, "b")], None),
        (4, [3], [], None),
        (4, [4, 7], [(3, "a")], None),
        # The fourth in a row without merit is the last one that counts, wherever shards end.
        (4, [4], [], 4),
        (4, [9], [], 4),
        (4, [2, 4, 9], [(1, "a")], 6),
        (4, [9], [(1, "a"), (5, "b")], 10),
        # What an earlier one brought is no merit, and what comes after the end does not count.
        (4, [9], [(0, "a"), (3, "a")], 5),
        (4, [9], [(0, "a"), (5, "b")], 5),
    ],
)
def test_so_many_in_a_row_without_merit_are_the_last(
    most: int | None, ends: Sequence[int], brought: Sequence[tuple[int, str]], looked: int | None
) -> None:
    followed = rule(most)
    begin, over = 0, False
    for end in ends:
        assert not over
        over = followed.follow([item for item in bringing(*brought) if begin <= item[0] < end], end)
        begin = end
    assert over == (looked is not None and looked <= ends[-1])
    assert followed.looked == (min(looked, ends[-1]) if looked is not None else ends[-1])


def test_one_that_waits_for_a_person_counts_and_what_it_offers_is_no_merit_again() -> None:
    followed = rule(3)
    doubtful = [(place, query(f"q{place}", {"a": 0.82}, f"{place} doubtful {place}")) for place in range(6)]
    assert followed.follow(doubtful, 6)
    assert followed.looked == 4


def test_one_without_a_classification_does_not_count_as_without_merit() -> None:
    followed = rule(3)
    assert not followed.follow([(0, None), (2, None)], 4)
    assert not followed.follow([(4, query("q4", {"a": 0.95}, "it brings something")), (5, None)], 8)
    assert followed.follow([], 12)
    assert followed.looked == 9


def test_what_is_wanted_is_what_a_query_of_that_alone_would_bring() -> None:
    followed = rule(None)
    assert followed.wants(["a"], 0.3)
    assert followed.brings(query("q1", {"a": 0.8, "b": 0.8}, "one of both"))
    assert not followed.wants(["a"], 0.3)
    assert not followed.wants(["a", "b"], 0.8)
    assert followed.wants(["a"], 0.95)
    assert followed.wants(["a", "c"], 0.3)
    # It is wanted no more where one that waits for a person offers it.
    assert followed.brings(query("q2", {"c": 0.55}, "a doubtful one"))
    assert not followed.wants(["c"], 0.52)

"""maxSim of the queries of a cycle: which entry is the most similar, also as R grows."""

from __future__ import annotations

from bot.consolidator.nearest import NearestResidents, nearest_of
from bot.rater.contextualizer import LiveSet, Similarity
from bot.rater.profile import Profile
from tests.factories import make_config, query


def profiles(**texts: str) -> list[Profile]:
    """Id → text, as the rater sees queries."""
    queries = [query(id, {"a": 0.9}, text) for id, text in texts.items()]
    live = LiveSet([], queries, make_config())
    return [live.profile(item) for item in queries]


def test_without_members_nothing_is_similar() -> None:
    (asked,) = profiles(q="Show my orders")
    assert nearest_of(asked, []) == Similarity(0.0, None)
    nearest = NearestResidents(["show my orders"], ["q"])
    nearest.compare_all([])
    assert nearest.of(0) == Similarity(0.0, None)


def test_of_equally_similar_members_the_smaller_id_counts() -> None:
    asked, last, first = profiles(q="Show my orders", r2="show my orders", r1="Show  my orders")
    assert nearest_of(asked, [last, first]) == Similarity(1.0, "r1")
    nearest = NearestResidents([asked.text], [asked.id])
    nearest.compare_all([first, last])
    assert nearest.of(0) == Similarity(1.0, "r1")


def test_a_new_member_counts_where_it_is_more_similar_or_as_similar_with_a_smaller_id() -> None:
    asked, far, near, same = profiles(q="Show my orders", r3="Cancel it", r2="Show my order", r1="show my order")
    nearest = NearestResidents([asked.text], [asked.id])
    nearest.compare_all([far])
    assert nearest.of(0).resident == "r3"
    for member, expected in ((near, "r2"), (far, "r2"), (same, "r1")):
        nearest.compare_one(member)
        assert nearest.of(0).resident == expected


def test_a_query_that_was_judged_is_not_compared_any_more() -> None:
    asked, other, member = profiles(q="Show my orders", p="Cancel it", r="Show my orders")
    nearest = NearestResidents([asked.text, other.text], [asked.id, other.id])
    nearest.settle(0)
    nearest.compare_one(member)
    assert (nearest.of(0).resident, nearest.of(1).resident) == (None, "r")
    nearest.settle(1)
    nearest.compare_one(member)
    assert nearest.of(0).resident is None

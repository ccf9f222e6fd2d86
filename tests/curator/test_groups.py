"""Groups of suggested evictions: each in exactly one, none too large, and stable for those who review them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.curator.groups import OpenGroup, SuggestionGroup, group, shared_by
from incumbent.curator.prune import Suggestion
from incumbent.curator.roles import EvictionKind, Grounds
from tests.factories import resident

pytestmark = pytest.mark.untraced

CUSTOMERS = {f"e{number}": ("acme", "Contoso Ltd.", "globex")[number % 3] for number in range(0, 400, 2)}


def suggestion(number: int, displacer: str | None = None, covers: str | None = None, **more: Any) -> Suggestion:
    kind = EvictionKind.REDUNDANT if displacer is None else EvictionKind.DISPLACED
    id, yields_to = f"e{number}", () if displacer is None else (displacer,)
    grounds = Grounds.on(resident(id, {"a": 0.6}), more.get("kind", kind), yields_to, 1)
    return Suggestion(id=id, grounds=grounds, remaining={} if covers is None else {covers: 3})


def ids(found: tuple[SuggestionGroup, ...]) -> list[list[str]]:
    return [[item.id for item in each.members] for each in found]


def names(found: tuple[SuggestionGroup, ...]) -> list[str | None]:
    return [None if each.name is None else each.name.rpartition("-")[0] for each in found]


def opened(found: tuple[SuggestionGroup, ...], joinable: bool = True) -> list[OpenGroup]:
    """The groups of ``found`` as they are once they are open."""
    return [
        OpenGroup(name=each.name, members=frozenset(item.grounds.digest for item in each.members), joinable=joinable)
        for each in found
        if each.name is not None
    ]


# What entries share -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "shared"),
    [
        (suggestion(0, "best", "a.b"), ["displacer-best", "customer-acme", "capability-a.b", "mixed"]),
        (suggestion(1, covers="a"), ["capability-a", "mixed"]),
        (suggestion(1), ["mixed"]),
        (suggestion(2, covers="a", kind=EvictionKind.CUSTOMER_LEFT), ["left-globex", "departed"]),
        (suggestion(0, kind=EvictionKind.SOURCE_DELETED), ["deleted-acme", "departed"]),
        (suggestion(1, kind=EvictionKind.SOURCE_DELETED), ["departed"]),
    ],
)
def test_what_a_suggestion_may_share_closest_first(item: Suggestion, shared: list[str]) -> None:
    assert [str(each) for each in shared_by(item, CUSTOMERS)] == shared


@pytest.mark.parametrize(
    ("customer", "named"),
    [
        ("acme", "acme"),
        ("a.b", "a.b"),
        ("Acme", "acme"),
        ("Contoso Ltd.", "contoso-ltd-HASH"),
        ("a..b", "a.b-HASH"),
        ("-x.", "x-HASH"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 60 + "-HASH"),
        ("x" * 59 + "/y", "x" * 59 + "-HASH"),
        ("東京", "HASH"),
    ],
)
def test_a_name_is_part_of_a_branchs_name(customer: str, named: str) -> None:
    shared = str(shared_by(suggestion(1), {"e1": customer})[0])
    assert re.fullmatch(f"customer-{re.escape(named)}".replace("HASH", "[0-9a-f]{8}"), shared)


def test_names_differ_where_people_would_confuse_them() -> None:
    one, other = ({"e1": name} for name in ("Contoso Ltd.", "contoso/ltd"))
    first, second = (str(shared_by(suggestion(1), customers)[0]) for customers in (one, other))
    assert first != second


# Grouping -----------------------------------------------------------------------------------------------------------


def test_as_long_as_each_can_have_its_own_pull_request_each_has() -> None:
    found = group([suggestion(number, "best") for number in range(3)], CUSTOMERS, 50, 3)
    assert (names(found), ids(found)) == ([None] * 3, [["e0"], ["e1"], ["e2"]])


def test_a_size_of_one_groups_nothing() -> None:
    assert names(group([suggestion(number, "best") for number in range(3)], CUSTOMERS, 1, 1)) == [None] * 3


def test_beyond_that_entries_share_what_is_closest() -> None:
    items = [
        *(suggestion(number, "best", "a") for number in (1, 3, 5)),
        *(suggestion(number, None, "a") for number in (0, 6, 12)),
        *(suggestion(number, None, "b") for number in (7, 9)),
        *(suggestion(number) for number in (11, 13)),
    ]
    found = group(items, CUSTOMERS, 50, 5)
    assert names(found) == ["displacer-best", "customer-acme", "capability-b", "mixed"]
    assert ids(found) == [["e1", "e3", "e5"], ["e0", "e6", "e12"], ["e7", "e9"], ["e11", "e13"]]


def test_what_is_left_alone_has_no_group() -> None:
    found = group([suggestion(1, "best"), suggestion(3, "best"), suggestion(5, "other")], {}, 50, 2)
    assert names(found) == ["displacer-best", None]


def test_what_somebody_asked_for_or_is_not_safe_is_never_among_the_rest() -> None:
    items = [
        suggestion(1, kind=EvictionKind.UNDONE),
        *(suggestion(number, kind=EvictionKind.SOURCE_DELETED) for number in (3, 5)),
        *(suggestion(number) for number in (7, 9)),
    ]
    found = group(items, {}, 50, 1)
    assert names(found) == [None, "departed", "mixed"]


def test_a_newcomer_joins_an_open_group_only_where_it_must_and_may() -> None:
    first = group([suggestion(number, "best") for number in (1, 3, 5)], {}, 4, 2)
    items = [suggestion(number, "best") for number in (1, 3, 5, 7)]
    assert names(group(items, {}, 4, 2, opened(first))) == ["displacer-best", None]
    (joined,) = group(items, {}, 4, 1, opened(first))
    assert [item.id for item in joined.members] == ["e1", "e3", "e5", "e7"]
    assert joined.name == first[0].name
    assert ids(group(items, {}, 4, 1, opened(first, joinable=False))) == [["e1", "e3", "e5"], ["e7"]]
    more = [*items, suggestion(9, "best")]
    assert ids(group(more, {}, 4, 1, opened(first))) == [["e1", "e3", "e5", "e7"], ["e9"]]
    assert ids(group([*items[:3], suggestion(9, "other")], {}, 4, 1, opened(first))) == [["e1", "e3", "e5"], ["e9"]]


def test_what_is_open_alone_stays_alone() -> None:
    items = [suggestion(number, "best") for number in (1, 3, 5)]
    found = group(items, {}, 4, 1, alone={items[1].grounds.digest, "0" * 16})
    assert ids(found) == [["e1", "e5"], ["e3"]]


# Properties ---------------------------------------------------------------------------------------------------------

DISPLACERS = st.sampled_from([None, "best", "better"])
SUGGESTIONS = st.lists(
    st.builds(
        lambda number, displacer, covers, kind: suggestion(number, displacer, covers, **kind),
        st.integers(0, 399),
        DISPLACERS,
        st.sampled_from([None, "a", "b", "c"]),
        st.sampled_from([{}, {}, {}, {"kind": EvictionKind.SOURCE_DELETED}, {"kind": EvictionKind.UNDONE}]),
    ),
    unique_by=lambda item: item.id,
    max_size=80,
)
SIZES, MOST = st.integers(1, 20), st.integers(0, 12)


@given(items=SUGGESTIONS, before=SUGGESTIONS, size=SIZES, most=MOST, joinable=st.booleans())
def test_each_is_in_exactly_one_group_and_no_group_is_too_large(
    items: list[Suggestion], before: list[Suggestion], size: int, most: int, joinable: bool
) -> None:
    known = opened(group(before, CUSTOMERS, size, most), joinable)
    alone = {item.grounds.digest for item in before[::3]}
    found = group(items, CUSTOMERS, size, most, known, alone)
    assert sorted(id for each in ids(found) for id in each) == sorted(item.id for item in items)
    assert all(1 <= len(each.members) <= size for each in found)
    assert len({each.name for each in found if each.name}) == sum(1 for each in found if each.name)
    assert found == group(items, CUSTOMERS, size, most, known, alone)
    firsts = [items.index(each.members[0]) for each in found]
    assert firsts == sorted(firsts)


@given(items=SUGGESTIONS, size=SIZES, most=MOST, place=st.integers(0, 79))
def test_one_more_or_one_less_moves_nobody_else(items: list[Suggestion], size: int, most: int, place: int) -> None:
    found = group(items, CUSTOMERS, size, most)
    known, alone = opened(found), {each.members[0].grounds.digest for each in found if each.name is None}
    home = {item.id: each.name for each in found for item in each.members}
    fewer = items[:place] + items[place + 1 :]
    more = [*items[:place], suggestion(999, "best", "a"), *items[place:]]
    for changed in (fewer, more):
        again = {
            item.id: each.name for each in group(changed, CUSTOMERS, size, most, known, alone) for item in each.members
        }
        assert {id: name for id, name in again.items() if id in home} == {
            id: name for id, name in home.items() if id in again
        }


@given(items=SUGGESTIONS, size=st.integers(2, 20), most=st.integers(1, 12))
def test_where_each_group_is_full_or_shares_enough_few_pull_requests_do(
    items: list[Suggestion], size: int, most: int
) -> None:
    found = group([item for item in items if item.grounds.kind is not EvictionKind.UNDONE], CUSTOMERS, size, most)
    number = sum(len(each.members) for each in found)
    assert len(found) <= max(most, -(-number // size)) + 2


def test_a_thousand_suggestions_take_few_pull_requests_in_all() -> None:
    """As people merge one after another; what cannot be open yet waits."""
    items = [suggestion(number, ("x", "y", None)[number % 3], "abc"[number % 3]) for number in range(1077)]
    customers = {item.id: f"customer {place % 40}" for place, item in enumerate(items)}
    known: list[OpenGroup] = []
    seen: set[str | None] = set()
    while items:
        found = group(items, customers, 50, 10, known)[:10]
        seen |= {each.name or each.members[0].id for each in found}
        known = opened(found)
        gone = {item.id for item in found[0].members}
        items = [item for item in items if item.id not in gone]
    assert len(seen) <= 25

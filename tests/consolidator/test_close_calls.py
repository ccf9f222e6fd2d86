"""Close calls by hand: which pieces are new, whose is shown, and what is left out (semantics, section 5)."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent.consolidator.close_calls import close_calls
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import Doubt, RatedEntry, ScoredQuery
from incumbent.taxonomy.config import Curation
from tests.factories import make_config, query, resident

CONFIG = make_config(competence_bar=0.5, redundancy_floor=2, fill_floor=True, novelty=2)
# All of it is covered twice, and each pair of these is carried.
COVERED = [resident(f"r{copy}", {"a": 0.9, "b": 0.9, "c": 0.9}) for copy in (1, 2)]


def found(
    queries: list[ScoredQuery],
    residents: list[RatedEntry],
    waiting: list[ScoredQuery],
    config: Curation = CONFIG,
    least: float = 0.4,
) -> dict[str, tuple[str, float]]:
    live = LiveSet(residents, [*queries, *waiting], config)
    for item in waiting:
        live.await_review(live.profile(item), familiar=item.familiar)
    calls = close_calls(live, [(item, live.profile(item)) for item in queries], least)
    return {id: ("+".join(call.capabilities), call.likelihood) for id, call in calls.items()}


def doubting(id: str, scores: dict[str, float], excludes: tuple[str, ...] = (), **doubts: float) -> ScoredQuery:
    """A query with doubts, each of which ``excludes`` others."""
    said = tuple(Doubt(capability=name, probability=value, excludes=excludes) for name, value in doubts.items())
    return query(id, scores, doubts=said)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (doubting("q", {"a": 0.9}, d=0.6), ("d", 0.6)),  # new
        (doubting("q", {"a": 0.9}, e=0.6), ("e", 0.6)),  # it would fill a floor
        (query("q", {"a": 0.9, "d": 0.45}), ("d", 0.45)),  # below the bar
        (doubting("q", {"a": 0.9}, b=0.6), None),  # covered, and so is the pair
        (doubting("q", {"a": 0.9}, f=0.6), ("a+f", 0.6)),  # covered twice, but not together with a
        (doubting("q", {}, ("f",), d=0.39, e=0.39), None),
        (doubting("q", {"f": 0.9}, ("f",), a=0.6), None),  # in the place of f
        (doubting("q", {}, f=0.7, a=0.7), ("a+f", 0.49)),  # both are in doubt
        (doubting("q", {}, ("a", "f"), f=0.7, a=0.7), None),  # a query exercises at most one of them
        (doubting("q", {"a": 0.9}, d=0.6, e=0.6), ("d", 0.6)),  # of equals by name
        (doubting("q", {"a": 0.9}, d=0.4), ("d", 0.4)),
        (doubting("q", {"a": 0.9}, d=0.4 - 1e-6), None),
    ],
)
def test_the_likeliest_new_piece_is_shown(item: ScoredQuery, expected: tuple[str, float] | None) -> None:
    others = [resident("e", {"e": 0.9}, customer="other"), *(resident(f"f{copy}", {"f": 0.9}) for copy in (1, 2))]
    calls = found([item], [*COVERED, *others], [])
    assert calls.get("q") == expected


def test_a_piece_that_a_waiting_query_offers_is_not_new() -> None:
    item = doubting("q", {"a": 0.9}, d=0.6)
    assert found([item], COVERED, [query("w", {"d": 0.9})]) == {"q": ("a+d", 0.6)}
    assert found([item], COVERED, [query("w", {"a": 0.9, "d": 0.9})]) == {}
    assert found([item], COVERED, [query("w", {"d": 0.9}, familiar=False)]) == {"q": ("d", 0.6)}


def test_each_piece_is_shown_once_with_the_likeliest_query() -> None:
    queries = [
        doubting("q3", {"b": 0.9}, d=0.5),
        doubting("q2", {"b": 0.9}, d=0.7),
        doubting("q1", {}, d=0.6),
        doubting("q4", {"b": 0.9}, d=0.25, e=0.7),
        doubting("q5", {"a": 0.9}, d=0.6),
    ]
    # q1 and q3 bring no more than q2 does; q5 brings d together with a, which nobody before it does.
    assert found(queries, COVERED, []) == {"q2": ("d", 0.7), "q4": ("e", 0.7), "q5": ("a+d", 0.6)}


@pytest.mark.parametrize(
    ("novelty", "expected"),
    [("signature", None), (1, None), (2, "a+f"), (3, "a+b+f")],
)
def test_combinations_are_those_of_the_set(novelty: Any, expected: str | None) -> None:
    others = [resident("f1", {"f": 0.9, "a": 0.9}), resident("f2", {"f": 0.9, "b": 0.9})]
    others = others if novelty == 3 else [resident(f"f{copy}", {"f": 0.9}) for copy in (1, 2)]
    config = make_config(CONFIG, novelty=novelty)
    calls = found([doubting("q", {"a": 0.9, "b": 0.9}, f=0.6)], [*COVERED, *others], [], config)
    assert calls == ({} if expected is None else {"q": (expected, 0.6)})


def test_what_is_on_trial_is_no_piece() -> None:
    config = CONFIG.under(trial=frozenset("d"))
    assert found([doubting("q", {"a": 0.9}, d=0.9)], COVERED, [], config) == {}

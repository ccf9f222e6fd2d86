"""Clauses of a query: where they end, how they begin, how alike they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.classifier.embedded.structure import CLAUSE_FEATURES, clause_features
from bot.classifier.embedded.text import read_text


def counted(name: str, *turns: str) -> float:
    return clause_features(read_text(turns))[CLAUSE_FEATURES.index(name)]


@pytest.mark.parametrize(
    ("name", "query", "count"),
    [
        ("clauses", "", 0),
        ("clauses", "show my orders", 1),
        ("clauses", "show my orders, close ticket 5 and then call Ann", 3),
        ("clauses", "... , and; !", 0),
        ("clauses that begin with an action", "please show my orders, close ticket 5", 2),
        ("clauses that begin with an action", "my orders show nothing", 0),
        ("clauses that begin with a question word", "what's new? could you tell me where Ann is", 1),
        ("clauses that begin with a question word", "Wer ist da und wann kommt Eva?", 2),
        ("later clauses that begin with either", "orders, close ticket 5, when is lunch", 2),
        ("later clauses that begin with either", "close ticket 5", 0),
        ("conjunctions before an action", "lock the door and call Ann, open the gate", 1),
        ("conjunctions before a question word", "who is in and what’s for lunch", 1),
        ("clauses that begin alike", "stock of nuts, stock of bolts, list of screws", 1),
        ("shared words of neighbouring clauses", "what did tin close at and what did zinc close at", 4),
        ("repeated words", "tin and zinc and tin", 1),
        ("repeated pairs of words", "the red door, the red gate", 1),
        ("words with digits", "bay 4, van7 and dock", 2),
        ("words per clause", "one two three, four", 2),
        ("parallel items", "cpu on a1, cpu on b2, disk", 1),
        ("parallel items", "ticket 4, order 5, call Ann", 1),
    ],
)
def test_clauses_are_counted(name: str, query: str, count: float) -> None:
    assert counted(name, query) == count


@given(st.lists(st.text(max_size=60), max_size=4))
def test_whatever_is_read_gives_finite_counts(turns: list[str]) -> None:
    features = clause_features(read_text(turns))
    assert len(features) == len(CLAUSE_FEATURES)
    assert all(0 <= value < float("inf") for value in features)


def test_longer_is_not_slower_than_linear_by_far() -> None:
    read = read_text(["call Ann and what is up, " * 100_000])
    assert len(clause_features(read)) == len(CLAUSE_FEATURES)

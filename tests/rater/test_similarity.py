"""Text similarity: what the clone gate relies on (semantics, section 4)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz.process import cdist

from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import Similarity
from incumbent.rater.profile import Profile
from incumbent.rater.similarity import (
    SCORER,
    NearestResidents,
    clones_among,
    most_similar_few,
    nearest_of,
    similarity,
    similarity_matrix,
)
from incumbent.text.compare import normalise
from tests.factories import make_config, query

RECOMMENDED_CUTOFF = 0.90  # docs/similarity.md

few_letters = st.text(alphabet="ab \n", max_size=12)  # near and equal texts turn up often
some_text = st.one_of(st.text(max_size=40), few_letters)
several_texts = st.lists(some_text, max_size=6)


@given(some_text, some_text)
def test_similarity_is_symmetric_and_between_zero_and_one(a: str, b: str) -> None:
    assert similarity(a, b) == similarity(b, a)
    assert 0.0 <= similarity(a, b) <= 1.0


@given(some_text, some_text)
@example("", "")
@example("", "a")
@example("list buses and trains", "list trains and buses")
def test_similarity_is_one_exactly_for_equal_texts(a: str, b: str) -> None:
    assert similarity(a, a) == 1.0
    assert (similarity(a, b) == 1.0) is (a == b)


def test_one_changed_letter_in_a_very_long_text_is_no_equality() -> None:
    text = "a" * 100_000
    assert similarity(text, text + "b") < 1.0


@given(st.lists(st.text(max_size=40), min_size=1, max_size=4), st.lists(st.text(max_size=40), min_size=1, max_size=4))
def test_queries_are_equal_exactly_if_their_normalised_texts_are(a: list[str], b: list[str]) -> None:
    assert (similarity(normalise(a), normalise(b)) == 1.0) is (normalise(a) == normalise(b))


@given(some_text, st.text(min_size=1, max_size=40))
def test_similarity_never_exceeds_the_ratio_of_the_lengths(text: str, addition: str) -> None:
    whole = text + addition
    assert similarity(text, whole) == pytest.approx(len(text) / len(whole), abs=1e-12)
    assert similarity(text, addition) <= min(len(text), len(addition)) / max(len(text), len(addition)) + 1e-12


@given(several_texts, several_texts)
def test_the_matrix_holds_the_pairwise_similarities(queries: list[str], choices: list[str]) -> None:
    matrix = similarity_matrix(queries, choices)
    assert matrix.dtype == np.float64
    assert matrix.shape == (len(queries), len(choices))
    assert matrix.tolist() == [[similarity(query, choice) for choice in choices] for query in queries]


@given(several_texts, several_texts)
def test_the_matrix_is_a_bare_cdist_of_the_scorer(queries: list[str], choices: list[str]) -> None:
    assert np.array_equal(similarity_matrix(queries, choices), cdist(queries, choices, scorer=SCORER, dtype=np.float64))


@given(several_texts, st.lists(some_text, max_size=8), st.lists(some_text, max_size=8), st.integers(1, 40))
def test_the_most_similar_are_those_of_the_matrix(
    queries: list[str], beginnings: list[str], ends: list[str], count: int
) -> None:
    # More than are compared in any case.
    choices = [beginning + end for beginning in beginnings for end in ends]
    matrix = similarity_matrix(queries, choices)
    expected = [
        sorted(((place, value) for place, value in enumerate(row)), key=lambda pair: -pair[1]) for row in matrix
    ]
    assert list(most_similar_few(queries, choices, count)) == [row[:count] for row in expected]


@pytest.mark.parametrize(
    ("choices", "expected"),
    [([], []), (["b"], [(0, 0.5)]), (["b", "ab", "ba"], [(1, 1.0), (0, 0.5)]), (["c", ""], [(0, 0.0), (1, 0.0)])],
    ids=["none", "fewer", "the first of equals", "unlike all"],
)
def test_the_most_similar_of_few(choices: list[str], expected: list[tuple[int, float]]) -> None:
    assert list(most_similar_few(["ab"], choices, 2)) == [expected]


@pytest.mark.parametrize("longest", [200, 300, 70_000], ids=["a byte counts it", "two bytes", "four bytes"])
def test_the_most_similar_of_texts_of_any_length(longest: int) -> None:
    texts = ["é\u2014ab" * share for share in range(60)] + ["a" * longest, "a" * longest + "b"]
    queries = [texts[10], *texts[-2:]]
    expected = [np.argsort(-row, kind="stable")[:4].tolist() for row in similarity_matrix(queries, texts)]
    assert [[place for place, _ in row] for row in most_similar_few(queries, texts, 4)] == expected


@given(st.lists(st.text(max_size=40), max_size=4))
@example(["ß\u0301"])  # folding gives "ss", whose second letter takes the accent: NFKC again
@example(["\u0345\u0301 \u01f0"])
@example(["İ \u1fb7 ﬃ ẞ"])
@example([" \u0301a", "\u00b4", "\ud800"])
def test_normalising_twice_changes_nothing(turns: list[str]) -> None:
    text = normalise(turns)
    assert normalise(text.split("\n")) == text


@given(st.lists(st.text(max_size=40), min_size=1, max_size=4))
def test_a_normalised_text_keeps_its_turns_and_no_other_line(turns: list[str]) -> None:
    lines = normalise(turns).split("\n")
    assert len(lines) == len(turns)
    assert all(line == " ".join(line.split()) for line in lines)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param("SHOW My Orders", "show my orders", id="case"),
        pytest.param("Wie heißt die Straße?", "WIE HEISST DIE STRASSE?", id="case folding, not lower case"),
        pytest.param("  show\t my\n\n orders ", "show my orders", id="white space"),
        pytest.param("show\u00a0my\u2003orders", "show my orders", id="other spaces"),
        pytest.param("\uff33\uff28\uff2f\uff37\u3000\uff30\uff34\uff2f", "show pto", id="full width"),
        pytest.param("ｶﾀｶﾅ", "カタカナ", id="half width"),
        pytest.param("cafe\u0301", "café", id="composed accents"),
        pytest.param("ﬁnd ﬂights", "find flights", id="ligatures"),
    ],
)
def test_spelling_that_nobody_means_makes_no_difference(a: str, b: str) -> None:
    assert similarity(normalise([a]), normalise([b])) == 1.0


def test_the_borders_and_the_order_of_turns_count() -> None:
    assert normalise(["show my tasks", "only today's"]) == "show my tasks\nonly today's"
    assert similarity(normalise(["show my tasks only"]), normalise(["show my tasks", "only"])) < 1.0
    assert similarity(normalise(["yes", "no"]), normalise(["no", "yes"])) < 1.0


@pytest.mark.parametrize(
    ("query", "longer"),
    [
        ("Show my orders", "Show my orders and email me a summary as a table"),
        ("Show the orders that Rosa placed", "Show the orders that Rosa placed as a table"),
        ("Which vans are free on Monday?", "Which vans are free on Monday? Book the largest one."),
        ("Restart the mail server", "Restart the mail server unless somebody is logged in"),
        ("List the suppliers in Porto and Faro", "List the suppliers in Porto and Faro as JSON"),
        (
            "Find every contract with Alder Timber that ends before the first of April next year",
            "Find every contract with Alder Timber that ends before the first of April next year and draft a renewal",
        ),
        ("Rent", "Show rents of all flats and the date of each payment"),
    ],
)
def test_a_query_is_no_clone_of_one_that_contains_it_and_asks_for_more(query: str, longer: str) -> None:
    assert similarity(normalise([query]), normalise([longer])) < RECOMMENDED_CUTOFF


def test_a_query_is_no_clone_of_a_conversation_that_goes_on() -> None:
    first = ["Show my open tasks", "Only those of this week"]
    assert similarity(normalise(first), normalise([*first, "Move them to Friday"])) < RECOMMENDED_CUTOFF


@given(st.text(min_size=1, max_size=60), st.text(min_size=1, max_size=60))
def test_a_text_longer_by_more_than_the_cutoff_allows_is_no_clone(text: str, filler: str) -> None:
    allowed = int(len(text) * (1 / RECOMMENDED_CUTOFF - 1))
    addition = (filler * (allowed + 1))[: allowed + 1]
    assert similarity(text, text + addition) < RECOMMENDED_CUTOFF
    assert similarity(text, addition + text) < RECOMMENDED_CUTOFF


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param("Where is parcel 12?", "where is parcel 12", id="punctuation"),
        pytest.param("Show the latest maintenance reports", "Show the latset maintenance reports", id="typo"),
        pytest.param("Find consultants with Rust skills", "Find consultant with Rust skills", id="number"),
        pytest.param("Who is on call in the Bergen plant?", "Who is on call at the Bergen plant?", id="function word"),
        pytest.param("Show the orders of the last 7 days", "Show the orders of the last 14 days", id="value"),
    ],
)
def test_a_query_is_a_clone_of_its_near_duplicate(a: str, b: str) -> None:
    assert similarity(normalise([a]), normalise([b])) >= RECOMMENDED_CUTOFF


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
    asked, far, near, same, late = profiles(
        q="Show my orders", r3="Cancel it", r2="Show my order", r1="show my order", r4="SHOW my order"
    )
    nearest = NearestResidents([asked.text], [asked.id])
    nearest.compare_all([far])
    assert nearest.of(0).resident == "r3"
    for member, expected in ((near, "r2"), (far, "r2"), (same, "r1"), (late, "r1")):
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


TEXT = "a" * 1_000


@pytest.mark.parametrize(
    ("others", "places"),
    [
        ([TEXT, "b" * 1_000], [0]),
        # Just below the cutoff, at it, and above it.
        ([f"{TEXT[:n]}{'b' * (1_000 - n)}" for n in (899, 900, 901)], [1, 2]),
        (["aaaac"], []),
        ([], []),
    ],
)
def test_clones_are_those_that_reach_the_cutoff(others: list[str], places: list[int]) -> None:
    assert clones_among([TEXT], others, 0.9) == [places]


def test_a_clone_is_seen_where_the_scorers_own_cutoff_misses_it() -> None:
    """The scorer rounds a cutoff to whole characters, and gives 0 for these at 0.8."""
    assert clones_among(["   c"], ["c   c"], 0.8) == [[0]]
    assert clones_among(["   c", "x"], ["c   c", "x"], 0.0) == [[0, 1], [0, 1]]

"""Which exemplars a prompt shows: few, that together show every capability, and some that exercise none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.classifier.language_model.examples import worked_examples
from bot.taxonomy.model import Exemplars, Taxonomy
from tests.classifier.factories import intent, taxonomy

NAMES = ("call", "image", "table")


def of(positive: Mapping[str, Sequence[str]], negative: Mapping[str, Sequence[str]] | None = None) -> Taxonomy:
    """The capabilities of :data:`NAMES` with exemplars by text: which of them it exercises, and seems to."""
    said = negative or {}
    return taxonomy(
        *(
            intent(
                name,
                exemplars=Exemplars(
                    positive=tuple(text for text, names in positive.items() if name in names),
                    negative=tuple(text for text, names in said.items() if name in names),
                ),
            )
            for name in NAMES
        )
    )


def shown(found: Taxonomy, rounds: int = 1, names: Sequence[str] = NAMES) -> list[str]:
    return ["|".join(example.turns) for example in worked_examples(found, names, rounds)]


LONG = "a table " * 30


@pytest.mark.parametrize(
    ("positive", "negative", "rounds", "expected"),
    [
        pytest.param({"a": ["call"], "b": ["image"], "c": ["table"]}, {}, 1, ["a", "b", "c"], id="each its own"),
        pytest.param({"a": ["call"], "b": ["image"], "abc": NAMES}, {}, 1, ["abc"], id="one for all"),
        pytest.param({"a": ["call"], "bcd": ["call", "image"]}, {}, 1, ["bcd"], id="two at once before a short one"),
        pytest.param({"longer": ["call"], "a": ["call"]}, {}, 1, ["a"], id="short before long"),
        pytest.param({"a": ["call"], "b": ["call"]}, {}, 2, ["a", "b"], id="as often as it shall be"),
        pytest.param({"a": ["call"]}, {}, 3, ["a"], id="no more often than there are exemplars"),
        pytest.param({"a": ["call"]}, {}, 0, [], id="none"),
        pytest.param({}, {"x": ["call"]}, 1, [], id="no exemplars"),
        pytest.param(
            {LONG: ["table"], LONG + "!": NAMES, "x" * 200: ["table"]},
            {},
            1,
            ["x" * 200, LONG + "!"],
            id="long ones for what has no other",
        ),
        pytest.param(
            {"a": ["call"]}, {"x": ["image"], "yy": ["call", "table"]}, 1, ["yy", "a"], id="the hardest negative first"
        ),
        pytest.param(
            {"a": ["call"]}, {"a": ["table"]}, 1, ["a"], id="what exercises something is no example of nothing"
        ),
        pytest.param(
            {text: ["call"] for text in "abcdef"},
            {text: ["call"] for text in "uvw"},
            6,
            ["u", "a", "b", "c", "v", "d", "e", "f"],
            id="negatives stand between",
        ),
    ],
)
def test_what_is_shown(
    positive: Mapping[str, Sequence[str]], negative: Mapping[str, Sequence[str]], rounds: int, expected: list[str]
) -> None:
    assert shown(of(positive, negative), rounds) == expected


def test_only_what_is_asked_about_counts() -> None:
    found = of({"a": ["call", "table"], "b": ["image"]}, {"x": ["table"]})
    assert [(e.turns, set(e.exercised)) for e in worked_examples(found, ["image"], 1)] == [(("b",), {"image"})]
    assert shown(found, names=["table"]) == ["x", "a"]


def test_a_conversation_is_shown_as_one() -> None:
    found = taxonomy(intent("call", exemplars=Exemplars(positive=(("my bill", "the last"),))))
    assert [example.turns for example in worked_examples(found, ["call"], 1)] == [("my bill", "the last")]


def test_exemplars_that_leave_an_exactly_one_group_open_are_shown_where_there_is_no_other() -> None:
    sizes = (
        intent("small", group="one.size", exemplars=Exemplars(positive=("a small one",))),
        intent("large", group="one.size", exemplars=Exemplars(positive=("all of them",))),
    )
    names = ("small", "large", "call")
    open_ones = taxonomy(*sizes, intent("call", exemplars=Exemplars(positive=("x",), negative=("hi",))))
    assert shown(open_ones, names=names) == ["a small one", "all of them", "x"]
    assert shown(open_ones, names=("small", "call")) == ["hi", "x", "a small one"], "the group is not asked as a whole"
    whole = taxonomy(*sizes, intent("call", exemplars=Exemplars(positive=("x", "a small one"))))
    assert shown(whole, names=names) == ["a small one", "all of them"]


texts = st.text(alphabet="abc", min_size=1, max_size=3)


@given(
    positive=st.dictionaries(texts, st.sets(st.sampled_from(NAMES), min_size=1), max_size=12),
    rounds=st.integers(0, 3),
    seed=st.integers(0, 9),
)
def test_every_capability_is_shown_as_often_as_it_can_be_and_order_is_of_no_account(
    positive: dict[str, set[str]], rounds: int, seed: int
) -> None:
    given_ = {text: sorted(names) for text, names in positive.items()}
    found = worked_examples(of(given_), NAMES, rounds)
    for name in NAMES:
        there_are = sum(name in names for names in positive.values())
        assert sum(name in example.exercised for example in found) >= min(rounds, there_are)
    assert len(found) <= rounds * len(NAMES)
    shuffled = sorted(given_.items())
    Random(seed).shuffle(shuffled)
    assert worked_examples(of(dict(shuffled)), NAMES, rounds) == found
    for names in permutations(NAMES):
        assert worked_examples(of(given_), names, rounds) == found

"""Which queries people are asked about first: a table of cases, and properties of the order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.consolidator.questions import by_gain, expected_gain
from bot.consolidator.verdict import Verdict
from bot.consolidator.verdict_engine import decide
from tests.factories import make_config, make_facts

CONFIG = make_config(honesty_floor=0.6, first_floor=0.9)


def verdict(id: str, **facts: Any) -> Verdict:
    found = make_facts(**facts)
    return Verdict(
        id=id, ruling=decide(found, CONFIG.knobs, CONFIG.options), displaces=(), alternate_of=(), facts=found
    )


def new(id: str, **scores: float) -> Verdict:
    """A query whose scores are all for new capabilities."""
    return verdict(id, scores=scores, new_capabilities=tuple(sorted(scores)), evidence_score=max(scores.values()))


def combining(id: str, **scores: float) -> Verdict:
    """A query whose only merit is the combination of its capabilities."""
    return verdict(id, scores=scores, new_combinations=(tuple(sorted(scores)),), evidence_score=0.0)


@pytest.mark.parametrize(
    ("waiting", "expected"),
    [
        ([new("q1", a=0.6), new("q2", a=0.6, b=0.6)], ["q2", "q1"]),
        ([new("q1", a=0.6), new("q2", a=0.8)], ["q2", "q1"]),
        ([combining("q1", a=1.0, b=1.0), new("q2", a=0.5)], ["q2", "q1"]),
        ([combining("q1", a=0.6, b=0.6), combining("q2", a=0.7, b=0.6)], ["q2", "q1"]),
        (
            [
                verdict("q1", scores={"a": 0.5}, fills={"a": 1}, evidence_score=0.1),
                verdict("q2", scores={"a": 0.5}, fills={"a": 1}, evidence_score=0.58),
                verdict("q3", scores={"a": 0.5}, fills={"a": 1}, evidence_score=0.65),
            ],
            ["q2", "q3", "q1"],
        ),
        ([new("q2", a=0.6), new("q1", a=0.6)], ["q1", "q2"]),
        ([combining("q2", a=0.1, b=0.2), combining("q1", a=0.2, b=0.1)], ["q1", "q2"]),
        ([], []),
    ],
    ids=[
        "more capabilities",
        "a surer capability",
        "a capability before a combination",
        "a surer combination",
        "nearest to the threshold",
        "smaller id",
        "gains are compared rounded",
        "nobody",
    ],
)
def test_the_order_of_questions(waiting: list[Verdict], expected: list[str]) -> None:
    assert [item.id for item in by_gain(waiting, CONFIG)] == expected


def test_a_capability_that_is_new_and_fills_counts_once() -> None:
    facts = make_facts(scores={"a": 0.5, "b": 0.25}, new_capabilities=("a",), fills={"a": 1, "b": 1})
    assert expected_gain(facts) == (0.75, 0)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=6), st.randoms(use_true_random=False))
def test_the_order_depends_on_no_other_order_and_loses_nobody(scores: list[tuple[float, float]], draw: Any) -> None:
    waiting = [new(f"q{place}", a=one, b=two) for place, (one, two) in enumerate(scores)]
    ordered = by_gain(waiting, CONFIG)
    assert sorted(item.id for item in ordered) == sorted(item.id for item in waiting)
    draw.shuffle(waiting)
    assert by_gain(waiting, CONFIG) == ordered
    gains = [expected_gain(item.facts) for item in ordered]
    assert gains == sorted(gains, reverse=True)

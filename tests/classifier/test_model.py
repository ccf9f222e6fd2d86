"""Self-consistency over samples (semantics, section 2.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.classifier.model import Classification, Consensus, Judgement, Sample, agree, consensus_of


def votes(*pairs: tuple[bool, float]) -> list[Sample]:
    return [Sample(votes={"c": vote}, probabilities={"c": probability}) for vote, probability in pairs]


YES = (True, 0.9)
NO = (False, 0.2)


@pytest.mark.parametrize(
    ("samples", "value"),
    [
        ([YES], True),
        ([NO], False),
        ([YES, YES, NO], True),
        ([YES, NO, NO], False),
        ([YES, NO], False),
        ([YES, YES, NO, NO], False),
        ([YES, YES, YES, NO], True),
    ],
)
def test_the_majority_decides_and_an_even_split_is_false(samples: list[tuple[bool, float]], value: bool) -> None:
    consensus = agree(votes(*samples), ["c"], len(samples))
    assert consensus is not None
    assert consensus["c"].value is value


def test_kappa_is_the_mean_probability_of_the_valid_samples_whatever_they_voted() -> None:
    assert agree(votes((True, 0.9), (False, 0.6), (True, 0.75)), ["c"], 5) == {"c": Consensus(True, 0.75)}


@pytest.mark.parametrize(
    ("valid", "asked_for", "classified"),
    [
        (1, 1, True),
        (0, 1, False),
        (2, 3, True),
        (1, 3, False),
        (3, 5, True),
        (2, 5, False),
        (3, 4, True),
        (2, 4, False),
    ],
)
def test_fewer_valid_samples_than_a_majority_leave_a_query_unclassified(
    valid: int, asked_for: int, classified: bool
) -> None:
    assert (agree(votes(*[YES] * valid), ["c"], asked_for) is not None) is classified


def test_only_the_capabilities_asked_for_are_judged() -> None:
    assert agree(votes(YES), [], 1) == {}


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=9), st.data())
def test_the_order_of_the_samples_does_not_matter_and_kappa_is_a_probability(
    samples: list[tuple[bool, float]], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(samples))
    one, other = (agree(votes(*order), ["c"], len(samples)) for order in (samples, shuffled))
    assert one == other
    assert one is not None
    assert 0.0 <= one["c"].confidence <= 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_calibrated_probabilities_vote_by_themselves(probabilities: list[float]) -> None:
    samples = votes(*[(probability >= 0.5, probability) for probability in probabilities])
    assert {"c": consensus_of(probabilities)} == agree(samples, ["c"], len(samples))


def test_what_a_rule_or_a_curator_decides_is_certain() -> None:
    judgements = {
        "ruled": Judgement(value=True, confidence=1.0, path="specification"),
        "corrected": Judgement(value=False, confidence=0.0, path="corrected"),
        "inferred": Judgement(value=True, confidence=1.0, path="inference"),
    }
    assert Classification(judgements=judgements).certain == {"ruled", "corrected"}

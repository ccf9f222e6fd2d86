"""Predictions: which probability counts, and that a file gives back what was saved."""

from __future__ import annotations

import json

import pytest

from bot.classifier.model import Classification, Judgement
from bot.config import REVIEWED_FILES
from bot.evaluation.predictions import Predictions, predict, unpredicted
from bot.files.documents import parse_json
from bot.files.validation import validate
from tests.evaluation.factories import labelled, predictions


@pytest.mark.parametrize(
    ("judgement", "expected"),
    [
        (Judgement(True, 0.8, "inference"), 0.8),
        (Judgement(False, 0.3, "inference"), 0.3),  # κ is the mean probability of TRUE, whatever the value
        (Judgement(False, 0.6, "arbitration"), 0.6),
        (Judgement(True, 0.2, "arbitration"), 0.2),
        (Judgement(True, 0.7, "specification"), 1.0),
        (Judgement(False, 1.0, "specification"), 0.0),
        (Judgement(False, 0.0, "undeclared"), 0.0),
        (Judgement(True, 0.7, "tool"), 0.7),
        (Judgement(False, 0.2, "tool"), 0.2),
        (Judgement(True, 1.0, "structure"), 1.0),
        (Judgement(False, 1.0, "structure"), 0.0),
        (Judgement(True, 1.0, "expected"), 1.0),
        (Judgement(False, 1.0, "expected"), 0.0),
        (Judgement(False, 0.2, "expected"), 0.2),
    ],
)
def test_the_probability_of_true_by_path(judgement: Judgement, expected: float) -> None:
    assert judgement.probability == expected


def test_what_is_saved_is_what_is_read() -> None:
    queries = [labelled("one"), labelled("two")]
    made = predictions(queries, a=[0.1 + 0.2, 1.0], b=[0.0, 1 / 3])
    again = validate(Predictions, parse_json(made.text.encode(), "p.json", REVIEWED_FILES))
    assert again == made
    assert again.text == made.text
    assert "one" not in json.loads(made.text)["queries"]


def test_only_what_can_be_labelled_is_kept() -> None:
    item = Classification(
        query_id="q",
        judgements={"a": Judgement(True, 0.9, "inference"), "s": Judgement(True, 1.0, "specification")},
    )
    found = predict(item, ["a"])
    assert (found.true, found.probabilities) == (("a",), {"a": 0.9})


def test_queries_without_a_prediction_are_found() -> None:
    one, two = labelled("one"), labelled("two")
    assert unpredicted([one, two], predictions([one], a=[0.5])) == (two,)

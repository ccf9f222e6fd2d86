"""A classifier's answers on labelled queries. Kept in a file, they can be compared later without asking it again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from bot.classifier.model import Classification, Identity
from bot.evaluation.labels import LabelledQuery
from bot.files.validation import Checked, FileModel, Score, Text, Tuple
from bot.ledger.model import Digest


class Prediction(FileModel):
    """The prediction for one query."""

    true: Tuple[Text] = Field(description="the capabilities with the value TRUE")
    probabilities: dict[str, Score] = Field(description="capability: the probability that it is TRUE")


class Predictions(FileModel):
    """Predictions by the digest of the query's text; without texts."""

    format: Literal[1] = 1
    classifier: Checked[Identity]
    taxonomy: Text = Field(description="version of the taxonomy")
    specification: Text = Field(description="digest of the agent specification that they were made under")
    queries: dict[Digest, Prediction]

    @property
    def text(self) -> str:
        """The file; equal predictions give equal bytes."""
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def predict(classification: Classification, capabilities: Sequence[str]) -> Prediction:
    """The prediction of ``capabilities`` by ``classification``."""
    judgements = classification.judgements
    return Prediction(
        true=tuple(name for name in capabilities if judgements[name].value),
        probabilities={name: judgements[name].probability for name in capabilities},
    )


def unpredicted(queries: Iterable[LabelledQuery], predictions: Predictions) -> tuple[LabelledQuery, ...]:
    """The ``queries`` without ``predictions``."""
    return tuple(query for query in queries if query.key not in predictions.queries)

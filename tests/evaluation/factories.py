"""Labels and predictions for tests, from rows of letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from incumbent.classifier.evaluation.labels import LabelledQuery, LabelVocabulary
from incumbent.classifier.evaluation.measures import LabelArrays, Prediction, Predictions
from incumbent.classifier.model import Identity
from incumbent.taxonomy.model import Capability, Group, Taxonomy

TRUE, FALSE, UNKNOWN = "T", "F", "?"


def vocabulary(*intent: str, spec: Sequence[str] = (), with_agent: bool = False, **meanings: str) -> LabelVocabulary:
    """A vocabulary of these capabilities, and names with other meanings."""
    found = [Capability(id=name, name=name, group="all", description=name, source="intent") for name in intent] + [
        Capability(id=name, name=name, group="all", description=name, source="spec", when="`true`") for name in spec
    ]
    taxonomy = Taxonomy(version="1.0.0", groups=(Group(id="all", name="All"),), capabilities=tuple(found))
    return LabelVocabulary(taxonomy=taxonomy, meanings=meanings, with_agent=with_agent)


def labelled(text: str, file: str = "labels.tsv", line: int | None = 1, **values: bool) -> LabelledQuery:
    """A query of one turn with these labels."""
    return LabelledQuery(turns=(text,), values=values, file=file, line=line)


def cells(
    labels: Mapping[str, str], predicted: Mapping[str, str], probability: Mapping[str, Any] | None = None
) -> LabelArrays:
    """A column of letters for each capability: T and F, and ? for unknown; probabilities are 1 and 0 unless given."""
    values = {name: [letter == TRUE for letter in column] for name, column in predicted.items()}
    chances = values if probability is None else probability
    return LabelArrays(
        capabilities=tuple(labels),
        labelled=np.array([[letter != UNKNOWN for letter in column] for column in labels.values()]).T,
        actual=np.array([[letter == TRUE for letter in column] for column in labels.values()]).T,
        predicted=np.array([values[name] for name in labels]).T,
        probability=np.array([chances[name] for name in labels], np.float64).T,
    )


def predictions(queries: Sequence[LabelledQuery], **probabilities: Sequence[float]) -> Predictions:
    """Predictions for ``queries``: of each capability the probabilities in their order; TRUE above one half."""
    return Predictions(
        classifier=Identity(backend="embedded", model="m1", prompt="p1", samples=5),
        taxonomy="1.0.0",
        specification="none",
        queries={
            query.key: Prediction(
                true=tuple(name for name, column in probabilities.items() if column[place] > 0.5),
                probabilities={name: column[place] for name, column in probabilities.items()},
            )
            for place, query in enumerate(queries)
        },
    )

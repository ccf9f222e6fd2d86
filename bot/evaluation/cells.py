"""Labels beside predictions, as arrays: one row for each query, one column for each capability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bot.errors import UsageError
from bot.evaluation.labels import LabelledQuery
from bot.evaluation.predictions import Predictions

Booleans: TypeAlias = npt.NDArray[np.bool_]
Numbers: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Arrays of shape (queries, capabilities).

    ``labelled`` says where a label is known; elsewhere ``actual`` is False and means nothing.  ``probability`` is that
    of TRUE, in [0, 1].
    """

    capabilities: tuple[str, ...]
    labelled: Booleans
    actual: Booleans
    predicted: Booleans
    probability: Numbers


def lay_out(queries: Sequence[LabelledQuery], predictions: Predictions, capabilities: Sequence[str]) -> Cells:
    """``queries``, all of which must be predicted, beside ``predictions``.

    Of ``capabilities`` those are kept that are labelled at all.  Raises :class:`UsageError` where the predictions,
    made under another taxonomy, say nothing of one that is.
    """
    labelled = {name for query in queries for name in query.values}
    kept = tuple(name for name in capabilities if name in labelled)
    found = [predictions.queries[query.key] for query in queries]
    unknown = sorted(
        {
            name
            for query, item in zip(queries, found, strict=True)
            for name in query.values.keys() - item.probabilities.keys()
        }
    )
    if unknown:
        raise UsageError(
            f"the predictions of {predictions.classifier.model} say nothing of {', '.join(unknown)}: "
            "predict again, or leave these labels out with --name NAME=-"
        )
    shape = (len(queries), len(kept))
    return Cells(
        capabilities=kept,
        labelled=np.array([[name in query.values for name in kept] for query in queries], bool).reshape(shape),
        actual=np.array([[query.values.get(name, False) for name in kept] for query in queries], bool).reshape(shape),
        predicted=np.array([[name in item.true for name in kept] for item in found], bool).reshape(shape),
        probability=np.array(
            [[item.probabilities.get(name, 0.0) for name in kept] for item in found], np.float64
        ).reshape(shape),
    )

"""The taxonomy's exemplars as training data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from bot.taxonomy.model import Taxonomy
from bot.text import normalise


class Label(IntEnum):
    """What the taxonomy says of an exemplar and a capability."""

    UNLISTED = 0
    """It stands under other capabilities only: most likely a negative."""
    NEGATIVE = 1
    """It is a hard negative, or positive for another member of the same exactly-one group."""
    POSITIVE = 2


@dataclass(frozen=True)
class TrainingData:
    """Exemplars, each text once, and their labels: one row per exemplar, one column per capability."""

    capabilities: tuple[str, ...]
    exemplars: tuple[tuple[str, ...], ...]
    labels: tuple[tuple[Label, ...], ...]


def model_capabilities(taxonomy: Taxonomy) -> tuple[str, ...]:
    """The capabilities that can be inferred at all: those with positive exemplars, in the taxonomy's order."""
    return tuple(item.id for item in taxonomy.capabilities if item.exemplars.positive)


def training_data(taxonomy: Taxonomy) -> TrainingData:
    """The exemplars of :func:`model_capabilities`, in the taxonomy's order; equal normalised texts are one exemplar."""
    capabilities = model_capabilities(taxonomy)
    turns: dict[str, tuple[str, ...]] = {}
    labels: dict[str, dict[str, Label]] = {}
    for name in capabilities:
        own = taxonomy.by_id[name].exemplars
        for label, exemplars in ((Label.POSITIVE, own.positive), (Label.NEGATIVE, own.negative)):
            for exemplar in exemplars:
                text = (exemplar,) if isinstance(exemplar, str) else tuple(exemplar)
                key = normalise(text)
                turns.setdefault(key, text)
                known = labels.setdefault(key, {})
                known[name] = max(label, known.get(name, label))
    for members in taxonomy.exactly_one.values():
        names = [member.id for member in members if member.id in capabilities]
        for known in labels.values():
            if any(known.get(name) is Label.POSITIVE for name in names):
                for name in names:
                    known.setdefault(name, Label.NEGATIVE)
    return TrainingData(
        capabilities=capabilities,
        exemplars=tuple(turns.values()),
        labels=tuple(tuple(labels[key].get(name, Label.UNLISTED) for name in capabilities) for key in turns),
    )

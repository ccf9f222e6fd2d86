"""The taxonomy's exemplars as training data, and what a backend makes of those held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from incumbent.taxonomy.model import Exemplar, Taxonomy
from incumbent.text.compare import normalise


class ExemplarLabel(IntEnum):
    """The taxonomy's label for an exemplar and a capability."""

    UNLISTED = 0
    """It is listed under other capabilities only: most likely a negative."""
    UNKNOWN = 1
    """It is unknown whether the exemplar exercises the capability."""
    NEGATIVE = 2
    """It is a hard negative, or positive for another member of the same exactly-one group."""
    POSITIVE = 3


@dataclass(frozen=True)
class TrainingData:
    """Exemplars, each text once, and their labels: one row per exemplar, one column per capability.

    ``ids`` are the same for an exemplar and its translations; ``hands`` are authors; ``languages`` is that of a
    translation, ``None`` for an original.
    """

    capabilities: tuple[str, ...]
    exemplars: tuple[tuple[str, ...], ...]
    labels: tuple[tuple[ExemplarLabel, ...], ...]
    ids: tuple[str, ...]
    hands: tuple[str, ...]
    languages: tuple[str | None, ...]


def model_capabilities(taxonomy: Taxonomy) -> tuple[str, ...]:
    """The capabilities that can be inferred: those with positive exemplars, in the taxonomy's order."""
    return tuple(item.id for item in taxonomy.capabilities if item.exemplars.positive)


def training_data(taxonomy: Taxonomy) -> TrainingData:
    """The exemplars of :func:`model_capabilities`, in the taxonomy's order; equal normalised texts are one exemplar."""
    capabilities = model_capabilities(taxonomy)
    first: dict[str, Exemplar] = {}
    labels: dict[str, dict[str, ExemplarLabel]] = {}
    for row in taxonomy.exemplars or _inline(taxonomy):
        meant = (
            (ExemplarLabel.POSITIVE, row.exercises),
            (ExemplarLabel.NEGATIVE, row.resembles),
            (ExemplarLabel.UNKNOWN, row.unknown),
        )
        listed = [(name, label) for label, names in meant for name in names]
        named = [(name, label) for name, label in listed if name in capabilities]
        if not named:
            continue
        key = normalise(row.turns)
        first.setdefault(key, row)
        known = labels.setdefault(key, {})
        for name, label in named:
            known[name] = max(label, known.get(name, label))
    for members in taxonomy.exactly_one.values():
        names = [member.id for member in members if member.id in capabilities]
        for known in labels.values():
            if any(known.get(name) is ExemplarLabel.POSITIVE for name in names):
                for name in names:
                    known[name] = max(ExemplarLabel.NEGATIVE, known.get(name, ExemplarLabel.NEGATIVE))
    return TrainingData(
        capabilities=capabilities,
        exemplars=tuple(row.turns for row in first.values()),
        labels=tuple(tuple(labels[key].get(name, ExemplarLabel.UNLISTED) for name in capabilities) for key in first),
        ids=tuple(row.id for row in first.values()),
        hands=tuple(row.hand for row in first.values()),
        languages=tuple(row.language for row in first.values()),
    )


def _inline(taxonomy: Taxonomy) -> Iterator[Exemplar]:
    """The exemplars that the capabilities themselves list, each under its text as its id."""
    for item in taxonomy.capabilities:
        for exemplars, exercised in ((item.exemplars.positive, True), (item.exemplars.negative, False)):
            for exemplar in exemplars:
                turns = (exemplar,) if isinstance(exemplar, str) else tuple(exemplar)
                listed = (item.id,)
                yield Exemplar(
                    id=normalise(turns),
                    turns=turns,
                    exercises=listed if exercised else (),
                    resembles=() if exercised else listed,
                )


LeftOut: TypeAlias = Literal["hand", "part"]
"""The unit of a held-out set: all texts of one author, or a part of the exemplars drawn by their ids."""

Bar: TypeAlias = Callable[[str], float]
"""Capability → the least score in [0, 1] that counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutExemplars:
    """Exemplars of one capability, each judged by a fit without it and those held out with it.

    An exemplar is tagged if its score reaches a bar (never less than one half).  ``found`` exercise the capability and
    were tagged, ``false`` do not and were tagged, ``missed`` exercise it and were not tagged.  ``by`` says what was
    held out together.
    """

    by: LeftOut
    found: int
    false: int
    missed: int

    @property
    def tagged(self) -> int:
        return self.found + self.false

    @property
    def positive(self) -> int:
        return self.found + self.missed


@runtime_checkable
class FittedBackend(Protocol):
    """A backend with a model that is fitted on exemplars."""

    @property
    def key(self) -> str:
        """What the model rests on, as a digest."""
        ...

    @property
    def is_own(self) -> bool:
        """Whether the model is that of the platform's own exemplars, not one that ships with the product."""
        ...


@runtime_checkable
class MeasuredBackend(Protocol):
    """A backend that can measure how well it judges unseen texts."""

    def held_out(self, bar: Bar) -> Mapping[str, HeldOutExemplars]:
        """The measurement of each capability with exemplars, for tags at its ``bar`` and above."""
        ...

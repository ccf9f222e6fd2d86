"""Exemplars of a taxonomy hidden from it: those of one capability, and a third of the others by their digests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from incumbent.classifier.exemplars import ExemplarLabel, training_data
from incumbent.taxonomy.model import Capability, Exemplars, Taxonomy, Turns
from incumbent.text.compare import normalise

HELD_OUT: Final = 3
"""One exemplar in so many is held out."""


@dataclass(frozen=True, slots=True)
class Known:
    """An exemplar of the shipped taxonomy, and the capabilities that it is listed under as positive."""

    turns: Turns
    text: str
    capabilities: frozenset[str]

    def draw(self, salt: str) -> int:
        """A number that ``salt`` and the text give."""
        return int(hashlib.sha256(f"{salt}\n{self.text}".encode()).hexdigest(), 16)


def exemplars_of(taxonomy: Taxonomy) -> list[Known]:
    """Every exemplar of ``taxonomy`` once."""
    data = training_data(taxonomy)
    return [
        Known(
            turns,
            normalise(turns),
            frozenset(
                name for name, label in zip(data.capabilities, row, strict=True) if label is ExemplarLabel.POSITIVE
            ),
        )
        for turns, row in zip(data.exemplars, data.labels, strict=True)
    ]


def held_out(known: Known, seed: int) -> bool:
    """Whether ``known`` is held out under ``seed``."""
    return known.draw(f"held out {seed}") % HELD_OUT == 0


def without(taxonomy: Taxonomy, hidden: str | None, gone: frozenset[str]) -> Taxonomy:
    """``taxonomy`` without the capability ``hidden``, what requires it, and the exemplars with the texts ``gone``."""

    def kept(exemplars: Iterable[str | Turns]) -> tuple[str | Turns, ...]:
        return tuple(item for item in exemplars if normalise((item,) if isinstance(item, str) else item) not in gone)

    def reduced(item: Capability) -> Capability:
        own = Exemplars(positive=kept(item.exemplars.positive), negative=kept(item.exemplars.negative))
        return item.model_copy(update={"exemplars": own})

    capabilities = tuple(
        reduced(item)
        for item in taxonomy.capabilities
        if hidden is None or (item.id != hidden and item.requires != hidden)
    )
    return Taxonomy(version=taxonomy.version, groups=taxonomy.groups, capabilities=capabilities)

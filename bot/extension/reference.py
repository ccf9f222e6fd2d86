"""The taxonomy's exemplars as what queries are compared with: the traits they have, and the capabilities they exercise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np

from bot.classifier.embedded.calibration import Floats
from bot.classifier.exemplars import Label, training_data
from bot.classifier.embedded.text import read_text
from bot.extension.model import Trait
from bot.extension.traits import pairs, text_traits, with_silence
from bot.rounding import rounded
from bot.taxonomy.model import Taxonomy


Asked: TypeAlias = tuple[tuple[str, ...], frozenset[str]]
"""The turns of a query, and the capabilities that it exercises."""

_ROUNDS: Final = 50
"""How often the weights are fitted to one share after the other; they settle long before."""


@dataclass(frozen=True)
class Reference:
    """Exemplars in the taxonomy's order: their turns, and the capabilities each is listed under as positive.

    ``distinguishing`` are the intent capabilities that tell queries apart: no members of an exactly-one group, of which
    every query has one, and none that more than a share of the exemplars exercise.  ``misjudged`` is the share of
    queries on which the classifier may err, in [0, 1].  ``weights`` (≥ 0, 1 together) say how much each exemplar counts.
    """

    turns: tuple[tuple[str, ...], ...]
    capabilities: tuple[frozenset[str], ...]
    distinguishing: tuple[str, ...]
    misjudged: float
    weights: Floats

    @cached_property
    def size(self) -> int:
        """How many exemplars of equal weight would tell as much as these do (Kish's effective sample size)."""
        return int(rounded(1 / float((self.weights**2).sum())))

    def weighted(self, queries: Sequence[Asked], names: Sequence[str]) -> Reference:
        """These with the weights under which they exercise the capabilities ``names`` as often, and are as long, as queries.

        Customers who often ask for what the taxonomy knows well, or at greater length, are no surprise then.  Raking: the
        weights are scaled to the share of one capability or length after the other until they fit all.
        """
        bounds = _quarters([len(read_text(turns).words) for turns in self.turns])
        exercised = [_margins(turns, own, bounds) for turns, own in queries]
        names = [*names, *map(str, range(len(bounds) + 1))]
        margins = [_margins(turns, own, bounds) for turns, own in zip(self.turns, self.capabilities, strict=True)]
        listed = np.array([[name in own for name in names] for own in margins])
        weights = np.full(len(self.turns), 1 / len(self.turns))
        counts = [sum(name in own for own in exercised) for name in names]
        own_shares = listed.mean(axis=0)
        for _ in range(_ROUNDS):
            for place, count in enumerate(counts):
                having = listed[:, place]
                # One query as the exemplars are on the whole, so that no share is nothing.
                wanted = (count + own_shares[place]) / (len(exercised) + 1)
                share = float(weights[having].sum())
                if 0 < share < 1 and 0 < wanted < 1:
                    weights = np.where(having, weights * (wanted / share), weights * ((1 - wanted) / (1 - share)))
        return replace(self, weights=weights / weights.sum())

    @cached_property
    def traits(self) -> tuple[frozenset[Trait], ...]:
        """Of each exemplar, by its text and what it is listed under."""
        own = frozenset(self.distinguishing)
        found = []
        for turns, listed in zip(self.turns, self.capabilities, strict=True):
            known = listed & own
            traits = text_traits(turns)
            found.append(traits | pairs(known) if known else with_silence(traits))
        return tuple(found)

    @cached_property
    def _shares(self) -> dict[Trait, float]:
        shares: dict[Trait, float] = {}
        for traits, weight in zip(self.traits, self.weights.tolist(), strict=True):
            for trait in traits:
                shares[trait] = shares.get(trait, 0.0) + weight
        return shares

    def expected(self, trait: Trait) -> float:
        """The share of exemplars that would show ``trait`` had they been classified, in [0, 1].

        More than have it, where the classifier may err.
        """
        return self.allowing(self._shares.get(trait, 0.0), self._possible(trait))

    def allowing(self, certain: float, possible: float) -> float:
        """The share that is ``certain``, and as much of what is ``possible`` as the classifier may err on."""
        return rounded(certain + self.misjudged * max(0.0, possible - certain))

    def _possible(self, trait: Trait) -> float:
        """The share of exemplars that would show ``trait`` if the classifier erred on all of them."""
        match trait.kind:
            case "none" | "combination":
                return 1.0
            case "group":
                return 0.0
            case _:
                return self._shares.get(trait._replace(unexplained=False), 0.0)

    def possible(self, place: int, traits: Iterable[Trait]) -> frozenset[Trait]:
        """Which of ``traits`` the exemplar at ``place`` would show if the classifier erred on it."""
        own = self.traits[place]
        return frozenset(
            trait
            for trait in traits
            if trait.kind in ("none", "combination") or trait in own or trait._replace(unexplained=False) in own
        )


def _quarters(lengths: Sequence[int]) -> list[int]:
    """Three lengths that divide ``lengths`` into quarters."""
    ordered = sorted(lengths)
    return [ordered[len(ordered) * part // 4] for part in (1, 2, 3)]


def _margins(turns: tuple[str, ...], exercised: frozenset[str], bounds: Sequence[int]) -> frozenset[str]:
    """What a query counts towards: the capabilities that it exercises, and the quarter that its length is in."""
    words = len(read_text(turns).words)
    return exercised | {str(sum(words >= bound for bound in bounds))}


def reference_of(taxonomy: Taxonomy, commonplace: float, misjudged: float) -> Reference:
    """The exemplars of ``taxonomy``; ``commonplace`` is the share above which a capability tells nothing apart."""
    data = training_data(taxonomy)
    listed = [
        frozenset(name for name, label in zip(data.capabilities, row, strict=True) if label is Label.POSITIVE)
        for row in data.labels
    ]
    most = commonplace * len(listed)
    shares = Counter(name for names in listed for name in names)
    exclusive = {member.id for members in taxonomy.exactly_one.values() for member in members}
    return Reference(
        turns=data.exemplars,
        capabilities=tuple(listed),
        distinguishing=tuple(
            item.id
            for item in taxonomy.capabilities
            if item.source == "intent" and item.id not in exclusive and shares[item.id] <= most
        ),
        misjudged=misjudged,
        weights=np.full(len(data.exemplars), 1 / max(1, len(data.exemplars))),
    )

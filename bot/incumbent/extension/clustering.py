"""Clusters queries by distinctive traits: those that queries of several customers have and exemplars hardly have.

Topics do not count, since a topic is one customer's; nor do traits that exemplars have as often.  Rows are in the order
of their texts, so that the order of the queries does not matter.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from incumbent.extension.linkage import average_linkage
from incumbent.extension.model import DistinctiveTrait, TextCluster, Trait
from incumbent.extension.reference import ReferenceExemplars, inflation, lift, surprise
from incumbent.extension.sparse_rows import Floats, Places, SparseRows
from incumbent.taxonomy.config import ExtensionSettings
from incumbent.text.compare import DECIMALS, rounded

Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class DistinctText:
    """A distinct text: its traits, the customers who asked it, and the capabilities that it was classified with."""

    traits: Collection[Trait]
    customers: frozenset[str]
    exercised: frozenset[str] = frozenset()


def telling_traits(
    rows: Sequence[DistinctText], reference: ReferenceExemplars, settings: ExtensionSettings
) -> tuple[dict[Trait, DistinctiveTrait], float]:
    """The traits that enough rows of enough customers have, and surprisingly few exemplars; sorted.

    ``members`` is how many rows have each.
    """
    counts: Counter[Trait] = Counter()
    customers: defaultdict[Trait, set[str]] = defaultdict(set)
    for row in rows:
        counts.update(row.traits)
        for trait in row.traits:
            customers[trait] |= row.customers
    found: dict[Trait, DistinctiveTrait] = {}
    size, total = len(rows), reference.size
    manner = inflation(counts, size, reference, settings)
    for trait in sorted(counts):
        observed = counts[trait]
        if observed < settings.queries or len(customers[trait]) < settings.customers:
            continue
        expected = reference.expected(trait)
        if rounded(lift(observed, size, expected, total) / sqrt(manner)) < settings.lift:
            continue
        value = rounded(surprise(observed, size, expected, total) / manner)
        if value > 0 and value >= settings.telling:
            found[trait] = DistinctiveTrait(
                **trait._asdict(),
                members=observed,
                observed=observed,
                expected=rounded(size * expected),
                surprise=value,
            )
    return found, manner


def surprise_without(
    observed: int, customers: Mapping[str, int], asked: Mapping[str, int], size: int, share: float, reference: int
) -> float:
    """The least surprise that remains of ``observed`` in ``size`` queries without one of the ``customers``.

    ``customers`` says how many of those each customer asks, ``asked`` how many queries in all.  One customer's style is
    frequent among that customer's queries only, even if others use it sometimes.
    """
    return min(
        surprise(observed - own, size - asked[name], share, reference) if observed > own else 0.0
        for name, own in customers.items()
    )


def _asked(rows: Sequence[DistinctText]) -> Counter[str]:
    return Counter(name for row in rows for name in row.customers)


def clusters(
    rows: Sequence[DistinctText], reference: ReferenceExemplars, settings: ExtensionSettings
) -> tuple[TextCluster, ...]:
    """The clusters that pass every filter, the most surprising first; ``rows`` are in the order of their texts.

    All rows count, but at most ``settings.clustered`` of them are clustered, some of each kind: pairwise comparison
    takes time and memory quadratic in their number.
    """
    telling, manner = telling_traits(rows, reference, settings)
    weights = _Weights(telling, len(rows), reference)
    places = [place for place, row in enumerate(rows) if any(trait in telling for trait in row.traits)]
    if len(places) < max(2, settings.queries):
        return ()
    matrix = weights.of(rows[place].traits for place in places)
    chosen = _spread(matrix, settings.clustered)
    field = _Field(
        rows=rows,
        places=places,
        matrix=matrix,
        chosen=chosen,
        certain=weights.of(reference.traits),
        possible=weights.of(reference.possible(place, telling) for place in range(len(reference.turns))),
        telling=telling,
        manner=manner,
        asked=_asked(rows),
        reference=reference,
        settings=settings,
    )
    together = average_linkage(1.0 - _similarities(matrix.take(chosen)), settings.distance)
    found = [field.cluster(np.array(places)) for places in together]
    passed = [cluster for cluster in found if cluster is not None]
    return tuple(sorted(passed, key=lambda cluster: (-cluster.surprise, cluster.members)))


def _spread(matrix: SparseRows, most: int) -> Places:
    """The places of ``most`` rows, in their order, taken in turn from each trait that has the greatest weight in some
    rows.

    So frequent traits do not crowd out rare ones.  Within a trait, rows with the greatest sum of weights come first.
    """
    sums = np.round(matrix.row_sums(), DECIMALS)
    leading = matrix.greatest()
    order = np.lexsort((np.arange(len(sums)), -sums, leading))
    begins = np.searchsorted(leading[order], leading[order])
    turns = np.arange(len(order)) - begins
    return np.sort(order[np.lexsort((leading[order], turns))][:most])


def _similarities(matrix: SparseRows) -> Floats:
    """Cosine similarities of all rows, rounded: one that is exact to the last digit is a matter of chance."""
    found = matrix.cosines()
    np.round(found, DECIMALS, out=found)
    return np.clip(found, 0.0, 1.0, out=found)


def _cohesion(matrix: SparseRows) -> float:
    """The mean similarity of each row of ``matrix`` to the others; 1 for a single row."""
    size = matrix.shape[0]
    within = _similarities(matrix)
    np.fill_diagonal(within, 1.0)
    return rounded(float((within.sum() - size) / (size * (size - 1)))) if size > 1 else 1.0


class _Weights:
    """Traits as numbers: how surprising each is, times the unexpected share of the rows that have it."""

    def __init__(self, telling: dict[Trait, DistinctiveTrait], size: int, reference: ReferenceExemplars) -> None:
        self._places = {trait: place for place, trait in enumerate(telling)}
        self._values = np.array(
            [
                item.surprise * (1 - 1 / lift(item.observed, size, reference.expected(trait), reference.size))
                for trait, item in telling.items()
            ]
        )

    def of(self, rows: Iterable[Collection[Trait]]) -> SparseRows:
        """A row of numbers for each of ``rows``, a column for each telling trait; most are zero."""
        return SparseRows.of(
            ([self._places[item] for item in row if item in self._places] for row in rows), self._values
        )


@dataclass(frozen=True, kw_only=True)
class _Field:
    """The data that decides which rows of a cluster are its members."""

    rows: Sequence[DistinctText]
    places: Sequence[int]
    matrix: SparseRows
    chosen: Places
    certain: SparseRows
    possible: SparseRows
    telling: dict[Trait, DistinctiveTrait]
    manner: float
    asked: Mapping[str, int]
    reference: ReferenceExemplars
    settings: ExtensionSettings

    def cluster(self, together: Places) -> TextCluster | None:
        """The chosen rows that are ``together``, without those that resemble exemplars.

        ``None`` if no such cut is surprising.
        """
        settings, reference = self.settings, self.reference
        own = self.chosen[together]
        centre = self.matrix.take(own).column_sums()
        centre /= np.sqrt((centre**2).sum())
        scores = np.round(self.matrix.dot(centre), DECIMALS)
        certain = np.round(self.certain.dot(centre), DECIMALS)
        possible = np.round(self.possible.dot(centre), DECIMALS)
        best: tuple[float, float, float] | None = None
        for least in sorted(set(scores[own].tolist())):
            members = own[scores[own] >= least]
            if len(members) < settings.queries or len(self._customers(members)) < settings.customers:
                break
            observed = int((scores >= least).sum())
            expected = reference.allowing(float((certain >= least).mean()), float((possible >= least).mean()))
            # A difference in style makes the expectation less certain: by as many standard deviations.
            lifted = lift(observed, len(self.rows), expected, reference.size) / sqrt(self.manner)
            excess = rounded(1 - 1 / max(1.0, lifted))
            value = rounded(surprise(observed, len(self.rows), expected, reference.size) / self.manner)
            if excess < settings.excess or value < settings.surprise or (best is not None and value <= best[0]):
                continue
            alike = np.flatnonzero(scores >= least).tolist()
            customers = Counter(name for place in alike for name in self.rows[self.places[place]].customers)
            left = surprise_without(observed, customers, self.asked, len(self.rows), expected, reference.size)
            if rounded(left / self.manner) >= settings.telling:
                best = (value, excess, least)
        if best is None:
            return None
        value, excess, least = best
        members = own[scores[own] >= least]
        cohesion = _cohesion(self.matrix.take(members))
        if cohesion < settings.cohesion or self._is_known(members, scores >= least, possible >= least):
            return None
        central = sorted(members.tolist(), key=lambda place: (-scores[place], place))
        outside = np.flatnonzero((possible < least) & (possible > 0))
        return TextCluster(
            members=tuple(self.places[place] for place in central),
            telling=self._telling(members),
            cohesion=cohesion,
            excess=excess,
            surprise=value,
            near=tuple(sorted(outside.tolist(), key=lambda place: (-possible[place], place))),
        )

    def _is_known(self, members: Places, alike: Booleans, alike_exemplars: Booleans) -> bool:
        """Whether a capability that most members exercise explains what they have in common.

        Customers may ask for a well-known capability more often than its exemplars suggest.  Among the queries and
        exemplars of that capability alone, there is then nothing surprising.
        """
        own = [self.rows[self.places[place]].exercised for place in members.tolist()]
        for name in sorted({name for exercised in own for name in exercised}):
            if sum(name in exercised for exercised in own) < self.settings.belongs * len(own):
                continue
            size = sum(name in row.exercised for row in self.rows)
            having = np.array([name in self.rows[place].exercised for place in self.places])
            listed = np.array([name in capabilities for capabilities in self.reference.capabilities])
            share = float(alike_exemplars[listed].mean()) if listed.any() else 0.0
            beyond = surprise(int((alike & having).sum()), size, share, int(listed.sum())) / self.manner
            if rounded(beyond) < self.settings.telling:
                return True
        return False

    def _customers(self, members: Places) -> set[str]:
        return {name for place in members.tolist() for name in self.rows[self.places[place]].customers}

    def _telling(self, members: Places) -> tuple[DistinctiveTrait, ...]:
        """The common traits of the members: those with the greatest total weight first."""
        own = self.matrix.take(members)
        sums, counts = np.round(own.column_sums(), DECIMALS), own.column_counts()
        items = list(self.telling.values())
        order = sorted(range(len(items)), key=lambda place: (-sums[place], place))
        return tuple(replace(items[place], members=int(counts[place])) for place in order if counts[place])

"""The traits of queries, and the taxonomy's exemplars as the reference for how frequent each trait is.

Traits are words, pairs of words, structure, and the classification.  Structure counts as much as wording, since a
behaviour such as asking for several things at once has no words of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, pairwise
from math import ceil, exp, expm1, fsum, lgamma, log
from statistics import median
from typing import Final

from incumbent.classifier.embedded.structure import NAMES, structure
from incumbent.classifier.embedded.text import read_text
from incumbent.classifier.exemplars import ExemplarLabel, training_data
from incumbent.extension.model import MORE, Trait
from incumbent.taxonomy.config import ExtensionSettings
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.compare import rounded

_COUNTS: Final = (1, 2, 3)
"""Thresholds: a structural count is a trait for each of these that it reaches."""

MEASURES: Final = frozenset({"words", "characters per word", "words per sentence", "words per clause"})
"""Lengths and ratios are not counts: every query has them."""

_REACHED: Final = tuple(
    ()
    if name in MEASURES
    else tuple(Trait("structure", name if least == 1 else name + MORE.format(least)) for least in _COUNTS)
    for name in NAMES
)
"""The traits of each structural feature, the one of the least count first; of a measure none."""

_ENDINGS: Final = ("ing", "ed", "es", "s")
_SHORTEST_STEM: Final = 3

UNEXPLAINED: Final = Trait("none", "", True)
"""The trait that no distinguishing capability is probable."""


def text_traits(turns: Sequence[str]) -> frozenset[Trait]:
    """The traits of the text of ``turns``."""
    read = read_text(turns)
    stems = ["0" if word[0].isdecimal() else _stem(word) for word in read.words]
    found = {Trait("word", stem) for stem in stems}
    found |= {Trait("phrase", f"{one} {other}") for one, other in pairwise(stems)}
    for value, reached in zip(structure(read), _REACHED, strict=True):
        if value > 0 and reached:
            found.update(reached[: round(expm1(value))])
    return frozenset(found)


def _stem(word: str) -> str:
    """``word`` without an English ending, so that links, linked and link are one."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word


def pairs(capabilities: Iterable[str]) -> frozenset[Trait]:
    """A trait for each pair of ``capabilities``."""
    return frozenset(Trait("combination", " + ".join(pair)) for pair in combinations(sorted(capabilities), 2))


def groups(names: Iterable[str]) -> frozenset[Trait]:
    """A trait for each exactly-one group that a query is off-taxonomy for."""
    return frozenset(Trait("group", name) for name in names)


def with_unexplained(
    traits: frozenset[Trait], probable: Collection[str], companions: Callable[[Trait], frozenset[str] | None]
) -> frozenset[Trait]:
    """``traits`` of a text, and again as unexplained those that no ``probable`` capability explains.

    ``companions`` gives the capabilities that explain a trait; ``None``: any of them may.
    """
    found = set(traits)
    for trait in traits:
        own = companions(trait)
        if not probable if own is None else own.isdisjoint(probable):
            found.add(trait._replace(unexplained=True))
    return frozenset(found) if probable else frozenset(found) | {UNEXPLAINED}


_LN10: Final = log(10)
_NEGLIGIBLE: Final = -40.0
"""Terms this much smaller (as logarithms) than the first do not change the sum."""


def surprise(observed: int, size: int, share: float, reference: int) -> float:
    """Minus the decimal logarithm of the probability of a sample with at least as many by chance, ≥ 0.

    ``observed`` of the ``size`` queries have a trait, and that ``share`` of the ``reference`` exemplars.  It is the
    hypergeometric probability of at least ``observed`` queries with the trait if queries and exemplars were drawn from
    one source.
    """
    total, marked = size + reference, observed + ceil(rounded(share * reference))
    last = min(size, marked)
    first = _log_choose(marked, observed) + _log_choose(total - marked, size - observed) - _log_choose(total, size)
    terms, term = [1.0], 0.0
    for count in range(observed, last):
        term += log((marked - count) * (size - count)) - log((count + 1) * (total - marked - size + count + 1))
        if term < _NEGLIGIBLE:
            break
        terms.append(exp(term))
    return max(0.0, -(first + log(fsum(terms))) / _LN10)


def _log_choose(size: int, chosen: int) -> float:
    return lgamma(size + 1) - lgamma(chosen + 1) - lgamma(size - chosen + 1)


def lift(observed: int, size: int, share: float, reference: int) -> float:
    """How many times as frequent a trait is as its ``share`` of the exemplars; a share of zero counts as half an
    exemplar.
    """
    return (observed / size) / ((share * reference + 0.5) / (reference + 1))


@dataclass(frozen=True)
class ReferenceExemplars:
    """Exemplars in the taxonomy's order: their turns, and the capabilities each is listed under as positive.

    ``distinguishing`` are capabilities judged from the text that distinguish queries: no members of an exactly-one
    group, because every query has one of these, and none that more than a certain share of the exemplars exercise.
    ``misjudged`` is the share of queries on which the classifier may err, in [0, 1]. ``marked`` is how many times as
    frequent a capability must be among exemplars with a trait to explain it.
    """

    turns: tuple[tuple[str, ...], ...]
    capabilities: tuple[frozenset[str], ...]
    distinguishing: tuple[str, ...]
    misjudged: float
    marked: float

    @property
    def size(self) -> int:
        return len(self.turns)

    @cached_property
    def traits(self) -> tuple[frozenset[Trait], ...]:
        """The traits of each exemplar, from its text and its labels."""
        own = frozenset(self.distinguishing)
        found = []
        for shown, listed in zip(self._shown, self.capabilities, strict=True):
            known = listed & own
            found.append(with_unexplained(shown, known, self.companions) | pairs(known))
        return tuple(found)

    @cached_property
    def _shown(self) -> tuple[frozenset[Trait], ...]:
        """The text traits of each exemplar; equal traits are interned, since there are many of each."""
        known: dict[Trait, Trait] = {}
        return tuple(frozenset(known.setdefault(trait, trait) for trait in text_traits(turns)) for turns in self.turns)

    def companions(self, trait: Trait) -> frozenset[str] | None:
        """The capabilities that exemplars with ``trait`` exercise markedly more often than others.

        ``None`` if there is none: then any capability explains the trait.
        """
        return self._companions.get(trait)

    @cached_property
    def _companions(self) -> dict[Trait, frozenset[str]]:
        own = frozenset(self.distinguishing)
        having: Counter[Trait] = Counter()
        # Many exemplars exercise the same capabilities.
        by_known: defaultdict[frozenset[str], Counter[Trait]] = defaultdict(Counter)
        for shown, listed in zip(self._shown, self.capabilities, strict=True):
            having.update(shown)
            by_known[listed & own].update(shown)
        together: defaultdict[Trait, Counter[str]] = defaultdict(Counter)
        for known, counts in by_known.items():
            for trait, count in counts.items():
                own_counts = together[trait]
                for name in known:
                    own_counts[name] += count
        shares = Counter(name for listed in self.capabilities for name in listed & own)

        @cache
        def goes_with(name: str, count: int, size: int) -> bool:
            return rounded(lift(count, size, shares[name] / self.size, self.size)) >= self.marked

        found = {
            trait: frozenset(name for name, count in counts.items() if goes_with(name, count, having[trait]))
            for trait, counts in together.items()
        }
        return {trait: names for trait, names in found.items() if names}

    @cached_property
    def _shares(self) -> dict[Trait, float]:
        counts = Counter(trait for traits in self.traits for trait in traits)
        return {trait: count / self.size for trait, count in counts.items()}

    @cached_property
    def textual_shares(self) -> dict[Trait, float]:
        """The share of exemplars that have each trait of text alone, in (0, 1]."""
        return {trait: share for trait, share in self._shares.items() if trait.is_textual}

    def expected(self, trait: Trait) -> float:
        """The share of exemplars that would show ``trait`` if they were classified, in [0, 1].

        It is greater than the share that have it, because the classifier may err.
        """
        return self.allowing(self._shares.get(trait, 0.0), self._possible(trait))

    def allowing(self, certain: float, possible: float) -> float:
        """The share that is ``certain``, plus as much of the ``possible`` one as the classifier may err on."""
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
        """Those of ``traits`` that the exemplar at ``place`` would show if the classifier erred on it."""
        own = self.traits[place]
        return frozenset(
            trait
            for trait in traits
            if trait.kind in ("none", "combination") or trait in own or trait._replace(unexplained=False) in own
        )


def reference_of(taxonomy: Taxonomy, commonplace: float, misjudged: float, marked: float) -> ReferenceExemplars:
    """The exemplars of ``taxonomy``; a capability with a share above ``commonplace`` does not distinguish queries."""
    data = training_data(taxonomy)
    listed = [
        frozenset(name for name, label in zip(data.capabilities, row, strict=True) if label is ExemplarLabel.POSITIVE)
        for row in data.labels
    ]
    most = commonplace * len(listed)
    shares = Counter(name for names in listed for name in names)
    exclusive = {member.id for members in taxonomy.exactly_one.values() for member in members}
    return ReferenceExemplars(
        turns=data.exemplars,
        capabilities=tuple(listed),
        distinguishing=tuple(
            item.id
            for item in taxonomy.capabilities
            if item.is_judged_from_text and item.id not in exclusive and shares[item.id] <= most
        ),
        misjudged=misjudged,
        marked=marked,
    )


_MEDIAN_OF_SQUARES: Final = 0.4549364
"""The median of the square of a standard normal variable."""


def inflation(
    counts: Mapping[Trait, int], size: int, reference: ReferenceExemplars, settings: ExtensionSettings
) -> float:
    """The divisor of surprise, ≥ 1; it is 1 if the queries have the style of the exemplars.

    A missing capability makes a few traits frequent.  Customers with another style shift nearly all of them, so that
    hardly any single trait is informative.  The shift of the median trait is common style, and surprise is divided by
    it (as genomic control does for strata of a population).

    ``counts`` says in how many of ``size`` queries each trait is.  It uses the traits that at least
    ``settings.everyday`` queries should have, if queries and exemplars were drawn from one source.  Their median
    squared deviation counts, in units of its variance; ``settings.tolerated`` of it may come from a missing capability
    itself.
    """
    squares = []
    known = reference.textual_shares
    everyday = {trait for trait in counts if trait.is_textual} | known.keys()
    for trait in everyday:
        observed, share = counts.get(trait, 0), known.get(trait, 0.0)
        both = (observed + share * reference.size) / (size + reference.size)
        variance = size * both * (1 - both) * reference.size / (size + reference.size)
        if size * both >= settings.everyday and variance > 0:
            squares.append(rounded((observed - size * both) ** 2 / variance))
    if not squares:
        return 1.0
    return rounded(max(1.0, median(squares) / _MEDIAN_OF_SQUARES / settings.tolerated))

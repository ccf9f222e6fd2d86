"""The traits of a query: words, pairs of words, structure, and its classification.

Structure counts as much as wording, since a behaviour such as asking for several things at once has no words of its
own.  Traits that queries of several customers share are behaviour; those of one customer are topic.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import combinations, pairwise
from math import expm1
from typing import Final

from bot.classifier.embedded.structure import NAMES, structure
from bot.classifier.embedded.text import read_text
from bot.extension.model import Trait
from bot.extension.wording import MORE

_COUNTS: Final = (1, 2, 3)
"""Thresholds: a structural count is a trait for each of these that it reaches."""

MEASURES: Final = frozenset({"words", "characters per word", "words per sentence", "words per clause"})
"""Lengths and ratios are not counts: every query has them."""

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
    for name, value in zip(NAMES, structure(read), strict=True):
        if name not in MEASURES:
            count = round(expm1(value))
            found |= {
                Trait("structure", name if least == 1 else name + MORE.format(least)) for least in _COUNTS[:count]
            }
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

"""Worked examples: exemplars of the taxonomy that are in the prompt with their correct answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from bot.classifier.exemplars import ExemplarLabel, training_data
from bot.taxonomy.model import Taxonomy

_LONGEST: Final = 200
"""Maximum bytes of an example; longer ones are used only for a capability that has no other."""

_APART: Final = 3
"""One example that exercises nothing precedes each group of this many, since most queries exercise few capabilities."""


@dataclass(frozen=True, slots=True)
class Example:
    """A query, and those of the requested capabilities that it exercises."""

    turns: tuple[str, ...]
    exercised: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Candidate:
    example: Example
    doubt: int
    negatives: int

    @property
    def order(self) -> tuple[int, tuple[str, ...]]:
        """The sort key: short ones first, independent of the order in the taxonomy."""
        return sum(len(turn.encode()) for turn in self.example.turns), self.example.turns


def worked_examples(taxonomy: Taxonomy, capabilities: Sequence[str], rounds: int) -> tuple[Example, ...]:
    """A small set of exemplars that shows each of ``capabilities`` ``rounds`` times, if there are enough.

    Those that show most come first.  Before and between them are hard negatives that exercise none of the capabilities.
    """
    candidates = _candidates(taxonomy, frozenset(capabilities))
    wanted = dict.fromkeys(capabilities, rounds)
    shown: list[Example] = []
    useful = candidates
    while useful := [item for item in useful if _news(item, wanted)]:
        best = min(useful, key=lambda item: (item.doubt, -_news(item, wanted), item.order))
        useful.remove(best)
        shown.append(best.example)
        for name in best.example.exercised:
            wanted[name] -= 1
    nothing = [item for item in candidates if item.negatives and not (item.example.exercised or item.doubt)]
    nothing.sort(key=lambda item: (-item.negatives, item.order))
    for number, item in enumerate(nothing[: ceil(len(shown) / _APART)]):
        shown.insert(number * (_APART + 1), item.example)
    return tuple(shown)


def _news(item: _Candidate, wanted: dict[str, int]) -> int:
    """The number of capabilities that ``item`` shows and that are not shown often enough yet."""
    return sum(wanted[name] > 0 for name in item.example.exercised)


def _candidates(taxonomy: Taxonomy, asked: frozenset[str]) -> list[_Candidate]:
    data = training_data(taxonomy)
    groups = [{member.id for member in members} for members in taxonomy.exactly_one.values()]
    found = []
    for turns, labels in zip(data.exemplars, data.labels, strict=True):
        said = {name: label for name, label in zip(data.capabilities, labels, strict=True) if name in asked}
        exercised = frozenset(name for name, label in said.items() if label is ExemplarLabel.POSITIVE)
        # A query exercises some member of each exactly-one group, and for this one the member is unknown.
        unsaid = sum(names <= asked and not names & exercised for names in groups)
        long = sum(len(turn.encode()) for turn in turns) > _LONGEST
        negatives = sum(label is ExemplarLabel.NEGATIVE for label in said.values())
        found.append(_Candidate(Example(turns, exercised), unsaid + long, negatives))
    return found

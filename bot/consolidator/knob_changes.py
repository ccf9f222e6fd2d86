"""The smallest change of each knob that turns a verdict (pure)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Final

from bot.config import Curation, Options
from bot.consolidator.changes import STEP, KnobChange, Outcome, around, with_knob
from bot.consolidator.circumstances import Bench
from bot.consolidator.verdict_engine import honesty
from bot.text.compare import rounded

PER_CAPABILITY: Final = ("competence_bar", "winning_margin", "redundancy_floor")
"""The knobs that may differ for one capability."""


def smallest_knobs(bench: Bench, outcome: Outcome) -> Iterator[KnobChange]:
    """The smallest change of each knob, and of each override, that leads to another outcome than ``outcome``."""
    for capability in (None, *sorted(bench.turn.query.scores)):
        for knob, marks in _KNOBS.items():
            if capability is None or knob in PER_CAPABILITY:
                yield from _smallest(_Knob(bench, outcome, knob, capability), marks(bench, capability))


@dataclass(frozen=True)
class _Knob:
    """A knob whose other values are tried; what was ruled with one is kept."""

    bench: Bench
    outcome: Outcome
    name: str
    capability: str | None
    _tried: dict[float, KnobChange] = field(default_factory=dict)

    @cached_property
    def now(self) -> float:
        """Its value."""
        config = self.bench.config
        if self.capability is not None:
            own: float = getattr(config, self.name)(self.capability)
            return own
        value: float = getattr(config.options if self.name in Options.model_fields else config.knobs, self.name)
        return value

    def change(self, to: float) -> KnobChange:
        """What is ruled with the value ``to``."""
        if to not in self._tried:
            other = with_knob(self.bench.config, self.name, self.capability, to)
            live = self.bench.live.under(other) if self.name in PER_CAPABILITY else self.bench.live
            _, ruling = self.bench.judged(live, self.bench.turn.query, other)
            self._tried[to] = KnobChange(knob=self.name, capability=self.capability, now=self.now, to=to, ruling=ruling)
        return self._tried[to]

    def turns(self, to: float) -> bool:
        """Whether the value ``to`` turns the verdict."""
        return Outcome.of(self.change(to).ruling) is not self.outcome

    def stretch(self, to: float) -> Hashable:
        """Values side by side with the same stretch give each ruling side by side, too.

        A higher floor only ever makes more capabilities short of it.  A higher bar only ever takes capabilities from
        the others, one after the other, while those keep theirs that are compared one by one, and each capability of
        the query as many coverers as make it new, short or neither: what falls short and what it holds alone only grow.
        Of other knobs each value is tried.
        """
        if self.name == "redundancy_floor":
            return None
        if self.name != "competence_bar":
            return to
        config = with_knob(self.bench.config, self.name, self.capability, to)
        compared = tuple(
            rounded(score) >= rounded(config.competence_bar(name))
            for item in (self.bench.turn.query, *self.bench.rivals)
            for name, score in item.scores.items()
            if self.capability in (None, name)
        )
        return compared, self._standing(config)

    def _standing(self, config: Curation) -> Hashable:
        """Of each capability of the query: how many cover it, up to its floor, and whether its customer does."""
        if not config.options.fill_floor:
            return None
        found = []
        for name, (scores, related) in self._held.items():
            bar = rounded(config.competence_bar(name))
            coverers = len(scores) - bisect_left(scores, bar)
            found.append((min(coverers, config.redundancy_floor(name)), related >= bar))
        return tuple(found)

    @cached_property
    def _held(self) -> Mapping[str, tuple[Sequence[float], float]]:
        """The members' scores in each capability of the query, ascending, and the best of the same customer (or −1)."""
        query, members = self.bench.turn.query, self.bench.turn.members
        held = {name: [item for item in members if name in item.scores] for name in query.scores}
        return {
            name: (
                sorted(rounded(item.scores[name]) for item in items),
                max((rounded(item.scores[name]) for item in items if item.customer == query.customer), default=-1.0),
            )
            for name, items in held.items()
        }


def _smallest(knob: _Knob, marks: Iterable[float]) -> Iterator[KnobChange]:
    """The change of ``knob`` to the nearest of ``marks`` that turns the verdict, if any does."""
    others = sorted({rounded(mark) for mark in marks} - {knob.now}, key=lambda mark: abs(mark - knob.now))
    sides = [[mark for mark in others if (mark > knob.now) is up] for up in (False, True)]
    found = [mark for side in sides if (mark := _nearest(knob, side)) is not None]
    if found:
        yield knob.change(min(found, key=lambda mark: abs(mark - knob.now)))


def _nearest(knob: _Knob, marks: Sequence[float]) -> float | None:
    """The first of ``marks``, which lead away from the value as it is, that turns the verdict."""
    for _, stretch in groupby(marks, knob.stretch):
        left = list(stretch)
        while True:
            if knob.turns(left[0]):
                return left[0]
            ruling = knob.change(left[0]).ruling
            if knob.change(left[-1]).ruling == ruling:
                break
            left = left[bisect_left(left, True, key=lambda mark: knob.change(mark).ruling != ruling) :]
    return None


def _bar_marks(bench: Bench, capability: str | None) -> Iterator[float]:
    """What a bar is once it has passed a score: a lower one that falls to it, or a higher one that rises above it.

    Of the others, facts speak of nothing but what the query exercises itself, and those that it beats.
    """
    config = bench.config
    now = rounded(config.knobs.competence_bar if capability is None else config.competence_bar(capability))
    told = {name for item in (bench.turn.query, *bench.rivals) for name in item.scores}
    for item in (bench.turn.query, *bench.turn.others):
        for name, score in item.scores.items():
            if capability == name or (capability is None and name in told):
                passed = rounded(score) if rounded(score) < now else rounded(score + STEP)
                if passed <= 1.0:
                    yield passed


def _margin_marks(bench: Bench, capability: str | None) -> Iterator[float]:
    live = bench.live
    for name, score in bench.turn.query.scores.items():
        champion = live.champions[live.capabilities.index[name]]
        if champion is not None and capability in (None, name):
            yield from around(score - champion.score(live.capabilities.index[name]))


def _floor_marks(bench: Bench, capability: str | None) -> Iterator[float]:
    """Every number of coverers, where floors are asked about: if somebody is beaten, or a floor may be filled."""
    if bench.facts.wins or bench.config.options.fill_floor:
        yield from range(max(bench.live.coverers) + 2)


def _cutoff_marks(bench: Bench, capability: str | None) -> Iterator[float]:
    yield from around(bench.facts.max_similarity)


def _cap_marks(bench: Bench, capability: str | None) -> Iterator[float]:
    sole = len(bench.facts.sole)
    yield from (max(0, sole - 1), sole)


def _honesty_marks(bench: Bench, capability: str | None) -> Iterator[float]:
    score, _ = honesty(bench.facts, bench.config.knobs, bench.config.options)
    yield from around(score)


_KNOBS: Final[Mapping[str, Callable[[Bench, str | None], Iterator[float]]]] = {
    "competence_bar": _bar_marks,
    "winning_margin": _margin_marks,
    "clone_cutoff": _cutoff_marks,
    "redundancy_floor": _floor_marks,
    "concentration_cap": _cap_marks,
    "honesty_floor": _honesty_marks,
    "first_floor": _honesty_marks,
}

"""The smallest change of each knob that turns a verdict (pure)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Final

from bot.config import Curation, Overrides
from bot.consolidator.changes import STEP, KnobChange, Outcome, around
from bot.consolidator.circumstances import Bench
from bot.rounding import rounded

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
    """A knob whose other values are tried."""

    bench: Bench
    outcome: Outcome
    name: str
    capability: str | None

    @cached_property
    def now(self) -> float:
        """Its value."""
        config = self.bench.config
        value: float = (
            getattr(config.knobs, self.name) if self.capability is None else getattr(config, self.name)(self.capability)
        )
        return value

    def change(self, to: float) -> KnobChange:
        """What is ruled with the value ``to``."""
        other = _with(self.bench.config, self.name, self.capability, to)
        live = self.bench.live_with(other) if self.name in PER_CAPABILITY else self.bench.live
        _, ruling = self.bench.judged(live, self.bench.turn.query, other)
        return KnobChange(knob=self.name, capability=self.capability, now=self.now, to=to, ruling=ruling)

    def turns(self, to: float) -> bool:
        """Whether the value ``to`` turns the verdict."""
        return Outcome.of(self.change(to).ruling) is not self.outcome

    def competent(self, bar: float) -> frozenset[str]:
        """What the query would cover competently with this ``bar``."""
        config = self.bench.config
        if self.capability is None:
            config = _with(config, self.name, None, bar)
        scores = self.bench.turn.query.scores
        bars = {name: bar if name == self.capability else config.competence_bar(name) for name in scores}
        return frozenset(name for name, score in scores.items() if rounded(score) >= rounded(bars[name]))


def _smallest(knob: _Knob, marks: Iterable[float]) -> Iterator[KnobChange]:
    """The change of ``knob`` to the nearest of ``marks`` that turns the verdict, if any does."""
    others = sorted({rounded(mark) for mark in marks} - {knob.now}, key=lambda mark: abs(mark - knob.now))
    sides = [[mark for mark in others if (mark > knob.now) is up] for up in (False, True)]
    if knob.name == "competence_bar" and not knob.bench.facts.wins:
        found = [_nearest_bar(knob, side) for side in sides]
    elif knob.name == "redundancy_floor":
        # A higher floor only ever makes more capabilities short of it, and all that counts is whether any is.
        found = [_first(knob, side) for side in sides if side]
    else:
        found = [next(filter(knob.turns, others), None)]
    nearest = min((mark for mark in found if mark is not None), key=lambda mark: abs(mark - knob.now), default=None)
    if nearest is not None:
        yield knob.change(nearest)


def _nearest_bar(knob: _Knob, marks: Sequence[float]) -> float | None:
    """The first of ``marks`` that turns the verdict on a query that beats nobody.

    While the query's own competent capabilities stay the same, a bar that moves on one way takes capabilities from the
    others, or gives them some, one after the other: what is new of the query only grows, or only shrinks, and with it
    what becomes of it.  So the first that turns the verdict is found by bisection.
    """
    for _, group in groupby(marks, knob.competent):
        first = _first(knob, list(group))
        if first is not None:
            return first
    return None


def _first(knob: _Knob, marks: Sequence[float]) -> float | None:
    """The first of ``marks`` that turns the verdict, where all that follow such a one do, too."""
    if knob.turns(marks[0]):
        return marks[0]
    return marks[bisect_left(marks, True, key=knob.turns)] if knob.turns(marks[-1]) else None


def _with(config: Curation, knob: str, capability: str | None, to: float) -> Curation:
    """``config`` with another value of ``knob``."""
    if capability is None:
        return config.model_copy(update={"knobs": config.knobs.model_copy(update={knob: to})})
    own = config.per_capability.get(capability, Overrides())
    overrides = {**config.per_capability, capability: own.model_copy(update={knob: to})}
    return config.model_copy(update={"per_capability": overrides})


def _bar_marks(bench: Bench, capability: str | None) -> Iterator[float]:
    """What a bar is once it has passed a score: a lower one that falls to it, or a higher one that rises above it.

    Of a query that beats nobody, which no bar changes, facts speak of nothing that it does not exercise itself.
    """
    own = bench.turn.query.scores
    config = bench.config
    now = rounded(config.knobs.competence_bar if capability is None else config.competence_bar(capability))
    beats = bool(bench.facts.wins)
    for item in (bench.turn.query, *bench.turn.others):
        for name, score in item.scores.items():
            if capability == name or (capability is None and (beats or name in own)):
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
    """Every number of coverers; floors are asked about only where somebody is beaten, which none of them changes."""
    if bench.facts.wins:
        yield from range(max(bench.live.coverers) + 2)


def _cutoff_marks(bench: Bench, capability: str | None) -> Iterator[float]:
    yield from around(bench.facts.max_similarity)


def _cap_marks(bench: Bench, capability: str | None) -> Iterator[float]:
    sole = len(bench.facts.sole)
    yield from (max(0, sole - 1), sole)


def _honesty_marks(bench: Bench, capability: str | None) -> Iterator[float]:
    facts = bench.facts
    scope = bench.config.options.honesty_scope
    yield from around(facts.top_score if scope == "all" else facts.evidence_score)


_KNOBS: Final[Mapping[str, Callable[[Bench, str | None], Iterator[float]]]] = {
    "competence_bar": _bar_marks,
    "winning_margin": _margin_marks,
    "clone_cutoff": _cutoff_marks,
    "redundancy_floor": _floor_marks,
    "concentration_cap": _cap_marks,
    "honesty_floor": _honesty_marks,
}

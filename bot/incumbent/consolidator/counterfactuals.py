"""Counterfactuals: judges a query again with another score, without an entry, or with another knob (pure)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import nsmallest
from itertools import groupby
from typing import Annotated, Final, TypeAlias

from pydantic import Field

from incumbent.consolidator.cycle import CycleState, Trust, run_cycle
from incumbent.consolidator.verdict import Ruling, Verdict, VerdictOutcome
from incumbent.consolidator.verdict_engine import honesty
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import RatedEntry, RelationalFacts, ScoredQuery, Similarity
from incumbent.rater.profile import Profile
from incumbent.taxonomy.config import Curation, Options, Overrides
from incumbent.text.compare import DECIMALS, normalise, rounded

STEP: Final = 10.0**-DECIMALS
"""The smallest difference that comparisons distinguish."""

InCycle: TypeAlias = VerdictOutcome | None
"""What becomes of the query where the whole cycle is judged with a change; ``None``: it was not judged so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreChange:
    """Another score for one capability; ``None`` means that the query does not exercise it."""

    capability: str
    now: Annotated[float | None, Field(description="cs in [0, 1]; null: the query does not exercise it")]
    to: Annotated[float | None, Field(description="the nearest that turns it; null: not exercised")]
    ruling: Ruling
    in_cycle: InCycle = None

    @property
    def distance(self) -> Annotated[float, Field(ge=0, le=1)]:
        """By how much the score changes."""
        return rounded(abs((self.to or 0.0) - (self.now or 0.0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """The absence of one entry of R, or of one query of the same cycle."""

    id: str
    ruling: Ruling
    in_cycle: InCycle = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnobChange:
    """Another value of a knob, for one ``capability`` or global (``None``)."""

    knob: str
    capability: Annotated[str | None, Field(description="whose override; null: the global knob")]
    now: Annotated[float, Field(ge=0)]
    to: Annotated[float, Field(ge=0, description="the nearest that turns it")]
    ruling: Ruling
    in_cycle: InCycle = None

    @property
    def distance(self) -> float:
        """The size of the change."""
        return rounded(abs(self.to - self.now))


Change: TypeAlias = ScoreChange | Absence | KnobChange


def around(mark: float) -> tuple[float, ...]:
    """``mark`` and the values next to it that are in [0, 1]."""
    return tuple(value for value in (rounded(mark - STEP), rounded(mark), rounded(mark + STEP)) if 0.0 <= value <= 1.0)


def rescored(query: ScoredQuery, capability: str, to: float | None) -> ScoredQuery:
    """``query`` with the score ``to`` for ``capability``; ``None`` removes the capability."""
    scores = {name: score for name, score in query.scores.items() if name != capability}
    return replace(query, scores=scores if to is None else {**scores, capability: to})


def with_knob(config: Curation, knob: str, capability: str | None, to: float) -> Curation:
    """``config`` with ``knob`` set to ``to``, globally or as the override for ``capability``."""
    if capability is None and knob in Options.model_fields:
        return config.model_copy(update={"options": config.options.model_copy(update={knob: to})})
    if capability is None:
        return config.model_copy(update={"knobs": config.knobs.model_copy(update={knob: to})})
    own = config.per_capability.get(capability, Overrides())
    overrides = {**config.per_capability, capability: own.model_copy(update={knob: to})}
    return config.model_copy(update={"per_capability": overrides})


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A query's turn in its cycle, with everything it was judged against.

    ``residents`` is R before the cycle, ``entered`` are the queries that the cycle had admitted by then, ``waiting``
    those that need review; both in the cycle's order.
    """

    query: ScoredQuery
    residents: tuple[RatedEntry, ...]
    entered: tuple[ScoredQuery, ...] = ()
    waiting: tuple[ScoredQuery, ...] = ()

    @staticmethod
    def of(
        id: str, queries: Iterable[ScoredQuery], residents: Sequence[RatedEntry], verdicts: Sequence[Verdict]
    ) -> Turn:
        """The last turn of the query ``id`` in the cycle over ``queries`` with these ``verdicts``.

        What waited then and was looked at again later does not count: no ruling rests on it.
        """
        by_id = {query.id: query for query in queries}
        place = next(place for place, verdict in enumerate(verdicts) if verdict.id == id)
        before = verdicts[:place]
        return Turn(
            query=by_id[id],
            residents=tuple(residents),
            entered=tuple(by_id[item.id] for item in before if item.admitted),
            waiting=tuple(by_id[item.id] for item in before if item.asks),
        )

    @property
    def members(self) -> tuple[RatedEntry | ScoredQuery, ...]:
        """R at this moment."""
        return (*self.residents, *self.entered)

    @property
    def others(self) -> tuple[RatedEntry | ScoredQuery, ...]:
        """All entries and queries that the query was judged against."""
        return (*self.members, *self.waiting)


@dataclass(frozen=True)
class CounterfactualJudge:
    """Judges a query again under other conditions."""

    turn: Turn
    config: Curation
    names: tuple[str, ...]
    trust: Trust
    tick: Callable[[], None]

    @cached_property
    def _nearest_two(self) -> tuple[Similarity, ...]:
        """The two most similar members (fewer if R is smaller): one of them may be absent."""
        from incumbent.rater.similarity import similarity_matrix

        members = self.turn.members
        texts = [normalise(item.turns) for item in members]
        values = similarity_matrix([normalise(self.turn.query.turns)], texts)[0].tolist() if texts else ()
        best = nsmallest(2, ((-value, item.id) for item, value in zip(members, values, strict=True)))
        return tuple(Similarity(-value, id) for value, id in best)

    @cached_property
    def live(self) -> LiveSet:
        """The live set at the query's turn."""
        turn = self.turn
        everything = ScoredQuery(id="", turns=(), scores=dict.fromkeys(self.names, 0.0))
        # Without texts, which are compared only once, in `_nearest_two`.
        residents = [replace(item, turns=()) for item in turn.residents]
        live = LiveSet(residents, [everything, *turn.entered, *turn.waiting], self.config)
        for query in turn.entered:
            live.admit(live.profile(query))
        for query in turn.waiting:
            live.await_review(live.profile(query), familiar=query.familiar)
        return live

    @cached_property
    def as_it_is(self) -> tuple[RelationalFacts, Ruling]:
        """Facts and ruling of the query without any change."""
        return self.judged(self.live, self.turn.query)

    @property
    def facts(self) -> RelationalFacts:
        """The facts of the query without any change."""
        return self.as_it_is[0]

    @cached_property
    def rivals(self) -> tuple[RatedEntry | ScoredQuery, ...]:
        """The members whose whole coverage may matter, not only that they cover a capability.

        These are the members that may be beaten, whatever the bar: all with the best score in a capability in which the
        query's score is better.  And, in capabilities that these exercise, all members that share the best score,
        since the one with more coverage is champion (semantics, section 4).
        """
        live = self.live
        own = live.profile(self.turn.query)
        beaten = {
            member.id
            for index, score in own.items
            for member in _best(live, index)
            if score > rounded(member.counted_score(index) + live.capabilities.margins[index])
        }
        held = {index for member in live.members if member.id in beaten for index in member.places}
        ties = [[member.id for member in best] for index in sorted(held) if len(best := _best(live, index)) > 1]
        found = beaten.union(*ties)
        return tuple(item for item in self.turn.members if item.id in found)

    def judged(
        self, live: LiveSet, query: ScoredQuery, config: Curation | None = None, absent: str | None = None
    ) -> tuple[RelationalFacts, Ruling]:
        """Facts and ruling of ``query`` against ``live``."""
        self.tick()
        admitted = [item.id for item in self.turn.entered if item.id != absent]
        moment = CycleState(live, config or self.config, self.trust, admitted)
        nearest = next((item for item in self._nearest_two if item.resident != absent), Similarity(0.0, None))
        return moment.judge(query, live.profile(query), nearest)


def _best(live: LiveSet, index: int) -> list[Profile]:
    """The members with the best score in the capability ``index`` that may be won, in order of admission."""
    bit = 1 << index
    held = [
        member
        for member in live.members
        if member.signature & bit and (live.capabilities.scored or not member.by_rule & bit)
    ]
    best = max((member.counted_score(index) for member in held), default=0.0)
    return [member for member in held if member.counted_score(index) == best]


def outcome_in_cycle(
    id: str,
    queries: Sequence[ScoredQuery],
    residents: Sequence[RatedEntry],
    config: Curation,
    tick: Callable[[], None],
    change: Change,
) -> VerdictOutcome:
    """The outcome of the query ``id`` if the whole cycle over ``queries`` against ``residents`` has this ``change``.

    ``tick`` is called before, and may stop it by raising.
    """
    tick()
    match change:
        case ScoreChange():
            queries = [rescored(each, change.capability, change.to) if each.id == id else each for each in queries]
        case Absence():
            queries = [each for each in queries if each.id != change.id]
            residents = [each for each in residents if each.id != change.id]
        case _:
            config = with_knob(config, change.knob, change.capability, change.to)
    return next(item.ruling.outcome for item in run_cycle(queries, residents, config) if item.id == id)


PER_CAPABILITY: Final = ("competence_bar", "winning_margin", "redundancy_floor")
"""The knobs that may differ for one capability."""


def smallest_knobs(judge: CounterfactualJudge, outcome: VerdictOutcome) -> Iterator[KnobChange]:
    """The smallest change of each knob and each override that leads to an outcome other than ``outcome``."""
    for capability in (None, *sorted(judge.turn.query.scores)):
        for knob, marks in _KNOBS.items():
            if capability is None or knob in PER_CAPABILITY:
                yield from _smallest(_Knob(judge, outcome, knob, capability), marks(judge, capability))


@dataclass(frozen=True)
class _Knob:
    """Tries other values of a knob, and caches the rulings."""

    judge: CounterfactualJudge
    outcome: VerdictOutcome
    name: str
    capability: str | None
    _tried: dict[float, KnobChange] = field(default_factory=dict)

    @cached_property
    def now(self) -> float:
        """Its current value."""
        config = self.judge.config
        if self.capability is not None:
            own: float = getattr(config, self.name)(self.capability)
            return own
        value: float = getattr(config.options if self.name in Options.model_fields else config.knobs, self.name)
        return value

    def change(self, to: float) -> KnobChange:
        """The change to the value ``to``, with its ruling."""
        if to not in self._tried:
            other = with_knob(self.judge.config, self.name, self.capability, to)
            live = self.judge.live.under(other) if self.name in PER_CAPABILITY else self.judge.live
            _, ruling = self.judge.judged(live, self.judge.turn.query, other)
            self._tried[to] = KnobChange(knob=self.name, capability=self.capability, now=self.now, to=to, ruling=ruling)
        return self._tried[to]

    def turns(self, to: float) -> bool:
        """Whether the value ``to`` turns the verdict."""
        return self.change(to).ruling.outcome is not self.outcome

    def stretch(self, to: float) -> Hashable:
        """The key of a stretch of adjacent values, within which the values with the same ruling are adjacent too.

        So not every value needs a trial.  A higher floor only makes more capabilities fall short of it.  A
        higher bar only takes capabilities from other members, one after the other.  Within a stretch, the members that
        are compared one by one keep theirs, and each capability of the query stays new, short or neither.  So the
        capabilities that fall short or that the query covers alone only grow.  For other knobs each value is tried.
        """
        if self.name == "redundancy_floor":
            return None
        if self.name != "competence_bar":
            return to
        config = with_knob(self.judge.config, self.name, self.capability, to)
        compared = tuple(
            rounded(score) >= rounded(config.competence_bar(name))
            for item in (self.judge.turn.query, *self.judge.rivals)
            for name, score in item.scores.items()
            if self.capability in (None, name)
        )
        return compared, self._standing(config)

    def _standing(self, config: Curation) -> Hashable:
        """For each capability of the query: its coverers up to the floor, and whether the same customer covers it."""
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
        """For each capability of the query: the members' scores, ascending, and the customer's best score (or −1)."""
        query, members = self.judge.turn.query, self.judge.turn.members
        held = {name: [item for item in members if name in item.scores] for name in query.scores}
        return {
            name: (
                sorted(rounded(item.scores[name]) for item in items),
                max((rounded(item.scores[name]) for item in items if item.customer == query.customer), default=-1.0),
            )
            for name, items in held.items()
        }


def _smallest(knob: _Knob, marks: Iterable[float]) -> Iterator[KnobChange]:
    """The change of ``knob`` to the nearest of ``marks`` that changes the outcome, if any."""
    others = sorted({rounded(mark) for mark in marks} - {knob.now}, key=lambda mark: abs(mark - knob.now))
    sides = [[mark for mark in others if (mark > knob.now) is up] for up in (False, True)]
    found = [mark for side in sides if (mark := _nearest(knob, side)) is not None]
    if found:
        yield knob.change(min(found, key=lambda mark: abs(mark - knob.now)))


def _nearest(knob: _Knob, marks: Sequence[float]) -> float | None:
    """The first of ``marks``, ordered by distance from the current value, that changes the outcome."""
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


def _bar_marks(judge: CounterfactualJudge, capability: str | None) -> Iterator[float]:
    """The bars that pass a score: equal to a score below the current bar, or just above a score that meets it.

    Only scores of capabilities of the query and its rivals matter to the facts.
    """
    config = judge.config
    now = rounded(config.knobs.competence_bar if capability is None else config.competence_bar(capability))
    scored = {name for item in (judge.turn.query, *judge.rivals) for name in item.scores}
    for item in (judge.turn.query, *judge.turn.others):
        for name, score in item.scores.items():
            if capability == name or (capability is None and name in scored):
                passed = rounded(score) if rounded(score) < now else rounded(score + STEP)
                if passed <= 1.0:
                    yield passed


def _margin_marks(judge: CounterfactualJudge, capability: str | None) -> Iterator[float]:
    live = judge.live
    for name, score in judge.turn.query.scores.items():
        champion = live.champions[live.capabilities.index[name]]
        if champion is not None and capability in (None, name):
            yield from around(score - champion.counted_score(live.capabilities.index[name]))


def _floor_marks(judge: CounterfactualJudge, capability: str | None) -> Iterator[float]:
    """Every number of coverers, if floors matter: the query beats a champion, or may fill a floor."""
    if judge.facts.wins or judge.config.options.fill_floor:
        yield from range(max(judge.live.coverers) + 2)


def _cutoff_marks(judge: CounterfactualJudge, capability: str | None) -> Iterator[float]:
    yield from around(judge.facts.max_similarity)


def _cap_marks(judge: CounterfactualJudge, capability: str | None) -> Iterator[float]:
    sole = len(judge.facts.sole)
    yield from (max(0, sole - 1), sole)


def _honesty_marks(judge: CounterfactualJudge, capability: str | None) -> Iterator[float]:
    yield from around(honesty(judge.facts, judge.config.options))


_KNOBS: Final[Mapping[str, Callable[[CounterfactualJudge, str | None], Iterator[float]]]] = {
    "competence_bar": _bar_marks,
    "winning_margin": _margin_marks,
    "clone_cutoff": _cutoff_marks,
    "redundancy_floor": _floor_marks,
    "concentration_cap": _cap_marks,
    "honesty_floor": _honesty_marks,
}

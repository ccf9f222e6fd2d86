"""Judging a query again under other circumstances: another score, without an entry, with another config (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nsmallest

from bot.config import Curation
from bot.consolidator.judging import Moment, Trust
from bot.consolidator.verdict import Ruling, Verdict
from bot.rater.contextualizer import LiveSet, Similarity
from bot.rater.model import RelationalFacts, Resident, ScoredQuery
from bot.rater.similarity import similarity_matrix
from bot.text.compare import normalise


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A query's turn in its cycle: what it was judged against.

    ``residents`` is R as the cycle found it, ``entered`` what the cycle had admitted by then, ``waiting`` what waited
    for a person and offers something; both in the cycle's order.
    """

    query: ScoredQuery
    residents: tuple[Resident, ...]
    entered: tuple[ScoredQuery, ...] = ()
    waiting: tuple[ScoredQuery, ...] = ()

    @staticmethod
    def of(id: str, queries: Iterable[ScoredQuery], residents: Sequence[Resident], verdicts: Sequence[Verdict]) -> Turn:
        """The turn of the query ``id`` in the cycle over ``queries`` that gave ``verdicts``."""
        by_id = {query.id: query for query in queries}
        place = next(place for place, verdict in enumerate(verdicts) if verdict.id == id)
        before = [item for item in verdicts[:place] if item.decision.admits]
        return Turn(
            query=by_id[id],
            residents=tuple(residents),
            entered=tuple(by_id[item.id] for item in before if item.admitted),
            waiting=tuple(by_id[item.id] for item in before if not item.admitted and by_id[item.id].familiar),
        )

    @property
    def members(self) -> tuple[Resident | ScoredQuery, ...]:
        """R at that moment."""
        return (*self.residents, *self.entered)

    @property
    def others(self) -> tuple[Resident | ScoredQuery, ...]:
        """All that the query was judged against."""
        return (*self.members, *self.waiting)


@dataclass(frozen=True)
class Bench:
    """Where a query is judged again under other circumstances."""

    turn: Turn
    config: Curation
    names: tuple[str, ...]
    trust: Trust
    tick: Callable[[], None]

    @cached_property
    def _nearest_two(self) -> tuple[Similarity, ...]:
        """The two members most like the query, as far as there are two: one of them may be absent."""
        members = self.turn.members
        texts = [normalise(item.turns) for item in members]
        values = similarity_matrix([normalise(self.turn.query.turns)], texts)[0].tolist() if texts else ()
        best = nsmallest(2, ((-value, item.id) for item, value in zip(members, values, strict=True)))
        return tuple(Similarity(-value, id) for value, id in best)

    @cached_property
    def live(self) -> LiveSet:
        """The set as it stood at the query's turn."""
        turn = self.turn
        everything = ScoredQuery(id="", turns=(), scores=dict.fromkeys(self.names, 0.0))
        # Without texts: they are compared once, elsewhere.
        residents = [replace(item, turns=()) for item in turn.residents]
        live = LiveSet(residents, [everything, *turn.entered, *turn.waiting], self.config)
        for query in turn.entered:
            live.admit(live.profile(query))
        for query in turn.waiting:
            live.await_review(live.profile(query))
        return live

    @cached_property
    def as_it_is(self) -> tuple[RelationalFacts, Ruling]:
        """Facts and ruling of the query where nothing is changed."""
        return self.judged(self.live, self.turn.query)

    @property
    def facts(self) -> RelationalFacts:
        """The facts of the query as they are."""
        return self.as_it_is[0]

    @cached_property
    def rivals(self) -> tuple[Resident | ScoredQuery, ...]:
        """Those whose own coverage may decide, beyond that somebody covers a capability.

        It is whoever might be beaten: the best where the query wins, all of equals.  And the best of equals where one
        of those holds something: who covers more is champion there (semantics, section 4).
        """
        live = self.live
        beaten = {id for name in self.facts.wins for id in _best(live, live.capabilities.index[name])}
        held = {index for member in live.members if member.id in beaten for index in member.places}
        ties = [best for index in sorted(held) if len(best := _best(live, index)) > 1]
        found = beaten.union(*ties)
        return tuple(item for item in self.turn.members if item.id in found)

    def judged(
        self, live: LiveSet, query: ScoredQuery, config: Curation | None = None, absent: str | None = None
    ) -> tuple[RelationalFacts, Ruling]:
        """Facts and ruling of ``query`` against ``live``."""
        self.tick()
        admitted = [item.id for item in self.turn.entered if item.id != absent]
        moment = Moment(live, config or self.config, self.trust, admitted)
        nearest = next((item for item in self._nearest_two if item.resident != absent), Similarity(0.0, None))
        return moment.judge(query, live.profile(query), nearest)


def _best(live: LiveSet, index: int) -> list[str]:
    """Who has the best score in the capability with this index, which somebody exercises, in the order of admission."""
    held = [(member.id, member.score(index)) for member in live.members if member.signature >> index & 1]
    best = max(score for _, score in held)
    return [id for id, score in held if score == best]

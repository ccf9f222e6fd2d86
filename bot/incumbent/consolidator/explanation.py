"""Finds the smallest changes that would change a verdict's outcome, by judging again (semantics, sections 4 to 6).

A verdict is a step function of every score and every knob: it changes only where a comparison does.  So it is enough to
try the values at which a comparison changes, and their two neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from incumbent.classifier.model import Path
from incumbent.consolidator.counterfactuals import (
    Absence,
    CounterfactualJudge,
    KnobChange,
    ScoreChange,
    Turn,
    around,
    rescored,
    smallest_knobs,
)
from incumbent.consolidator.cycle import Trust
from incumbent.consolidator.verdict import Ruling, VerdictOutcome
from incumbent.consolidator.verdict_engine import doubt_text
from incumbent.files.validation import Score
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import RelationalFacts, ScoredQuery
from incumbent.rater.profile import Profile
from incumbent.taxonomy.config import Curation


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityStanding:
    """How a query stands in one capability that it exercises.

    ``bar`` is the competence bar, ``champion`` the champion in R at the query's turn and ``held`` its score (both
    ``None`` without one), ``margin`` the winning margin.
    """

    capability: str
    score: Annotated[Score, Field(description="cs of the query")]
    bar: Annotated[Score, Field(description="score from which on it covers the capability competently")]
    champion: Annotated[str | None, Field(description="the champion; null: no entry exercises it")]
    held: Annotated[float | None, Field(description="cs of the champion, in [0, 1]")]
    margin: Annotated[Score, Field(description="by how much that has to be exceeded")]
    path: Annotated[Path | None, Field(description="what decided; null: not known, as of an entry")] = None


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """A verdict, and the smallest changes that change its outcome, each judged by the whole cascade.

    ``contests`` are sorted by capability.  ``scores`` are the smallest changes per capability and outcome, the smallest
    first; ``absences`` all that are sufficient alone, by id; ``knobs`` the smallest change of each knob, global ones
    first.
    """

    query: ScoredQuery
    facts: RelationalFacts
    ruling: Ruling
    contests: tuple[CapabilityStanding, ...]
    scores: tuple[ScoreChange, ...]
    absences: tuple[Absence, ...]
    knobs: tuple[KnobChange, ...]

    @property
    def outcome(self) -> VerdictOutcome:
        """What the verdict means now."""
        return self.ruling.outcome


def explain(
    turn: Turn,
    config: Curation,
    names: Iterable[str],
    trust: Trust = doubt_text,
    tick: Callable[[], None] = lambda: None,
    fixed: Collection[str] = (),
) -> Explanation:
    """Explain the verdict on the query of ``turn``; ``names`` are the taxonomy's capabilities.

    ``tick`` is called before each judgement, and may stop everything by raising.  Scores of ``fixed`` capabilities are
    not changed: a rule over declared or counted facts decides them.
    """
    judge = CounterfactualJudge(turn, config, tuple(sorted({*names, *turn.query.scores})), trust, tick)
    facts, ruling = judge.as_it_is
    now = ruling.outcome
    return Explanation(
        query=turn.query,
        facts=facts,
        ruling=ruling,
        contests=tuple(_contests(judge)),
        scores=tuple(_scores(judge, now, fixed)),
        absences=tuple(_absences(judge, now)),
        knobs=tuple(smallest_knobs(judge, now)),
    )


def _contests(judge: CounterfactualJudge) -> Iterator[CapabilityStanding]:
    live = judge.live
    for name, score in sorted(judge.turn.query.scores.items()):
        index = live.capabilities.index[name]
        champion = live.champions[index]
        yield CapabilityStanding(
            capability=name,
            score=score,
            bar=live.capabilities.bars[index],
            champion=None if champion is None else champion.id,
            held=None if champion is None else champion.counted_score(index),
            margin=live.capabilities.margins[index],
        )


def _scores(judge: CounterfactualJudge, outcome: VerdictOutcome, fixed: Collection[str]) -> list[ScoreChange]:
    """The smallest change of each score, except ``fixed`` ones, that leads to each other outcome."""
    found: dict[tuple[str, VerdictOutcome], ScoreChange] = {}
    query = judge.turn.query
    for name in judge.names:
        if name in fixed:
            continue
        now = query.scores.get(name)
        for to in _score_marks(judge, name):
            _, ruling = judge.judged(judge.live, rescored(query, name, to))
            change = ScoreChange(capability=name, now=now, to=to, ruling=ruling)
            key = name, ruling.outcome
            if key[1] is not outcome and (key not in found or change.distance < found[key].distance):
                found[key] = change
    return sorted(found.values(), key=lambda item: (item.distance, item.capability, item.ruling.outcome))


def _score_marks(judge: CounterfactualJudge, name: str) -> Iterator[float | None]:
    """Every score of ``name`` at which a comparison may change, and ``None``."""
    live, index = judge.live, judge.live.capabilities.index[name]
    config = judge.config
    marks = [config.competence_bar(name), config.knobs.honesty_floor]
    champion = live.champions[index]
    if champion is not None:
        held = champion.counted_score(index)
        marks += [held, held + live.capabilities.margins[index]]
    waiting = live.waiting.best(index)
    if waiting is not None:
        marks.append(waiting + live.capabilities.margins[index])
    yield None
    yield from sorted({value for mark in (0.0, *marks) for value in around(mark)})


def _absences(judge: CounterfactualJudge, outcome: VerdictOutcome) -> Iterator[Absence]:
    for id in sorted(_that_matter(judge)):
        _, ruling = judge.judged(judge.live.under(judge.config, id), judge.turn.query, absent=id)
        if ruling.outcome is not outcome:
            yield Absence(id=id, ruling=ruling)


def _that_matter(judge: CounterfactualJudge) -> set[str]:
    """The ids of members and waiting queries whose absence may change a fact.

    These are the most similar one; the champions of the capabilities of the query and of the champions that it beats;
    the last carrier of a combination; and the last coverers that a capability must keep.  If the query may fill a
    floor, these are also the coverers that make up the floor.  If the age of entries counts, it is also the newest
    entry.  Of those that wait they are also those behind which it alone waits.
    """
    live = judge.live
    own = live.profile(judge.turn.query)
    beaten = set(judge.facts.wins.values())
    leaving = [member for member in live.members if member.id in beaten]
    champions = (live.champions[index] for profile in (own, *leaving) for index in profile.places)
    found = {item.id for item in champions if item is not None}
    if judge.facts.most_similar is not None:
        found.add(judge.facts.most_similar)
    merits = {1 << index for index in own.places if own.caps >> index & 1}
    carriers: dict[tuple[str, int], list[str]] = {}
    for item in (*live.members, *live.waiting.familiar):
        for mask in live.capabilities.carried(item) & own.combinations:
            carriers.setdefault(("combination", mask), []).append(item.id)
        for bit in merits if item.rank >= 0 else ():
            if item.caps & bit:
                carriers.setdefault(("capability", bit), []).append(item.id)
    found |= {ids[0] for ids in carriers.values() if len(ids) == 1}
    if judge.config.options.recency is not None and live.residents:
        found.add(live.residents[-1].id)
    if judge.config.options.fill_floor:
        found |= _floor_makers(live, own)
    return found | _last_coverers(live, own, leaving) | _in_its_way(judge, own)


def _in_its_way(judge: CounterfactualJudge, own: Profile) -> set[str]:
    """The waiting queries that alone cover a merit of the query, stand against a win of it, or nearly have its text."""
    live, facts = judge.live, judge.facts
    waiting, places = live.waiting, live.capabilities.index
    sets = [waiting.covering([1 << places[name]]) for name in (*facts.new_capabilities, *facts.fills)]
    for name in facts.wins:
        index = places[name]
        sets.append(waiting.in_the_way(index, own.score(index), live.capabilities.margins[index]))
    if waiting.profiles:
        (clones,) = live.clones([own], judge.config.knobs.clone_cutoff)
        sets.append(sum(1 << place for place in clones))
    return {id for some in sets if some.bit_count() == 1 for id in waiting.named(some)}


def _floor_makers(live: LiveSet, own: Profile) -> set[str]:
    """The members without whom a capability of the query would fall below its floor."""
    found: set[str] = set()
    for index, floor in enumerate(live.capabilities.floors):
        if not own.caps >> index & 1:
            continue
        covering = [member for member in live.members if member.caps >> index & 1]
        if len(covering) <= floor:
            found.update(member.id for member in covering)
    return found


def _last_coverers(live: LiveSet, own: Profile, leaving: Sequence[Profile]) -> set[str]:
    """The members that keep a capability at its floor, or from being the query's alone, without those ``leaving``."""
    found: set[str] = set()
    for index, floor in enumerate(live.capabilities.floors):
        staying = [member.id for member in live.members if member.caps >> index & 1 and member not in leaving]
        covers = own.caps >> index & 1
        touched = any(member.caps >> index & 1 for member in leaving)
        if (touched and len(staying) + covers == floor) or (leaving and covers and len(staying) == 1):
            found.update(staying)
    return found

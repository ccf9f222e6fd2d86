"""The relational half: facts about a query against the live R, derived afresh and never stored.

Paper, section 2.3 (contextualizer); semantics, section 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bot.config import Curation
from bot.rater.model import Doubt, RelationalFacts, Resident, ScoredQuery
from bot.rater.profile import Capabilities, Profile, bits
from bot.rounding import rounded

Key = tuple[int, int, int, int, float]


@dataclass(frozen=True, slots=True)
class Similarity:
    """maxSim(q) and the resident that attains it (``None`` for an empty R)."""

    value: float
    resident: str | None


def by_admission(residents: Iterable[Resident]) -> list[Resident]:
    """Residents in the order of their admission, ties by id."""
    return sorted(residents, key=lambda resident: (resident.admitted_at, resident.id))


class LiveSet:
    """R as it stands at one moment of a cycle, indexed for relational facts.

    It grows by :meth:`admit` (a query that entered R, or waits for a slot) and by :meth:`await_review` (a query that
    waits for a person, and offers what it has to later ones: semantics, section 6).
    """

    def __init__(self, residents: Sequence[Resident], queries: Sequence[ScoredQuery], config: Curation) -> None:
        names = {name for resident in residents for name in resident.scores}
        names |= {name for query in queries for name in query.scores}
        names |= {doubt.capability for query in queries for doubt in query.doubts}
        self.capabilities = Capabilities(names, config)
        count = len(self.capabilities.names)
        self.members: list[Profile] = []
        self.champions: list[Profile | None] = [None] * count
        self.coverers: list[int] = [0] * count
        self.covered = 0
        # Capabilities that some members cover competently, and too few; and those that each customer covers.
        self._short = 0
        self._covered_for: dict[str | None, int] = {}
        # What a score has to exceed: champion + margin, or anything where there is no champion.
        self._to_beat: list[float] = [-1.0] * count
        self._carried: set[int] = set()
        self._offered: set[int] = set()
        self._met = 0
        self.waiting: list[Profile] = []
        for rank, resident in enumerate(by_admission(residents)):
            self._enter(
                self.capabilities.profile(
                    resident.id, resident.turns, resident.scores, resident.customer, rank=rank, pin=resident.pin
                )
            )

    def profile(self, query: ScoredQuery) -> Profile:
        """``query`` prepared for comparison with this set."""
        return self.capabilities.profile(query.id, query.turns, query.scores, query.customer)

    def admit(self, profile: Profile) -> None:
        """Count ``profile`` as the latest member of R."""
        self._enter(replace(profile, rank=len(self.members)))

    def await_review(self, profile: Profile) -> None:
        """Count ``profile`` for what it offers to later queries: it waits for a person."""
        self.waiting.append(profile)
        self._met |= profile.caps
        self._offered |= self.capabilities.carried(profile)

    def key(self, profile: Profile) -> Key:
        """key(q) without the id (semantics, section 6); every part only shrinks while the set grows."""
        to_beat = self._to_beat
        contested = 0
        for index, score in profile.items:
            if score > to_beat[index]:
                contested += 1
        return (
            (profile.caps & ~self.covered).bit_count(),
            self._fills(profile).bit_count(),
            contested,
            len(profile.combinations - self._carried - self._offered),
            profile.total,
        )

    def doubts(self, query: ScoredQuery, profile: Profile) -> list[Doubt]:
        """What ``query`` exercises below the competence bar, and its doubts about the rest, the most probable first.

        Of equally probable ones those that it exercises come first, by id, then the others in the taxonomy's order.
        """
        names = self.capabilities.named(profile.signature & ~profile.caps)
        weak = [Doubt(capability=name, probability=query.scores[name]) for name in names]
        return sorted((*weak, *query.doubts), key=lambda doubt: -rounded(doubt.probability))

    def may_gain(self, profile: Profile, doubt: Doubt) -> bool:
        """Whether ``profile``, which beats no champion, may have merit if it exercised that competently.

        Far cheaper than the facts; never false where these have merit.
        """
        capabilities = self.capabilities
        index = capabilities.index[doubt.capability]
        gone = sum(1 << capabilities.index[name] for name in doubt.instead_of if name in capabilities.index)
        caps, signature = (mask & ~gone | 1 << index for mask in (profile.caps, profile.signature))
        score = max(capabilities.bars[index], rounded(doubt.probability))
        return bool(
            caps & ~self.covered
            or caps & self._short
            or score > self._to_beat[index]
            or capabilities.combinations(signature, caps) - self._carried - self._offered
        )

    def facts(self, query: ScoredQuery, profile: Profile, similarity: Similarity) -> RelationalFacts:
        """All relational facts of ``query`` as of now."""
        named = self.capabilities.named
        names = self.capabilities.names
        new = profile.caps & ~self.covered
        fills = self._fills(profile)
        lacking = profile.combinations - self._carried
        fresh = lacking - self._offered
        beaten = [
            (index, score, champion)
            for index, score in profile.items
            if (champion := self.champions[index]) is not None and score > self._to_beat[index]
        ]
        beaten.sort(key=lambda win: win[0])
        evidence = [score for index, score, _ in beaten]
        evidence += [score for index, score in profile.items if (new | fills) >> index & 1]
        replacement = _Replacement.of(self, profile, beaten) if beaten else _NO_REPLACEMENT
        return RelationalFacts(
            exercised=any(name not in query.arbitrated for name in query.scores),
            competent=named(profile.caps),
            new_capabilities=named(new),
            new_combinations=tuple(sorted(map(named, fresh))) if fresh else (),
            offered_by=self._offering(lacking) if len(fresh) < len(lacking) else (),
            fills={names[index]: self.coverers[index] for index in bits(fills)},
            met_by=self._meeting(new | fills),
            wins={names[index]: champion.id for index, _, champion in beaten},
            max_similarity=similarity.value,
            most_similar=similarity.resident,
            top_score=max((score for _, score in profile.items), default=0.0),
            evidence_score=max(evidence, default=0.0),
            familiar=query.familiar,
            personal=query.personal,
            displaced=replacement.displaced,
            undominated=replacement.undominated,
            protected=replacement.protected,
            short_floors=replacement.short_floors,
            sole=replacement.sole,
            scores=query.scores,
            champion_scores={names[index]: champion.score(index) for index, _, champion in beaten},
        )

    def _offering(self, lacking: frozenset[int]) -> tuple[str, ...]:
        return tuple(
            waiting.id for waiting in self.waiting if not lacking.isdisjoint(self.capabilities.carried(waiting))
        )

    def _meeting(self, needed: int) -> tuple[str, ...]:
        if not needed or needed & ~self._met:
            return ()
        return tuple(waiting.id for waiting in self.waiting if waiting.caps & needed)

    def _fills(self, profile: Profile) -> int:
        """fills(q) as a mask."""
        return profile.caps & self._short & ~self._covered_for.get(profile.customer, 0)

    def _enter(self, profile: Profile) -> None:
        self.members.append(profile)
        self.covered |= profile.caps
        self._covered_for[profile.customer] = self._covered_for.get(profile.customer, 0) | profile.caps
        self._carried |= self.capabilities.carried(profile)
        for index, score in profile.items:
            if profile.caps >> index & 1:
                self.coverers[index] += 1
                if self.capabilities.fills and self.coverers[index] < self.capabilities.floors[index]:
                    self._short |= 1 << index
                else:
                    self._short &= ~(1 << index)
            champion = self.champions[index]
            if champion is None or outranks(profile, champion, index, score):
                self.champions[index] = profile
                self._to_beat[index] = rounded(score + self.capabilities.margins[index])


def outranks(challenger: Profile, champion: Profile, index: int, score: float) -> bool:
    """Whether ``challenger``, with ``score`` there, is champion of capability ``index`` before ``champion``.

    Highest score; ties: larger |caps|, earlier admission (which breaks ties by id already).
    """
    held = champion.score(index)
    if score != held:
        return score > held
    if challenger.breadth != champion.breadth:
        return challenger.breadth > champion.breadth
    return 0 <= challenger.rank < champion.rank


@dataclass(frozen=True, slots=True)
class _Replacement:
    """What gate 4 asks about R' = (R without E) with q."""

    displaced: tuple[str, ...]
    undominated: tuple[str, ...]
    protected: tuple[str, ...]
    short_floors: tuple[str, ...]
    sole: tuple[str, ...]

    @staticmethod
    def of(live: LiveSet, profile: Profile, beaten: list[tuple[int, float, Profile]]) -> _Replacement:
        leaving = sorted({champion.id: champion for _, _, champion in beaten}.values(), key=lambda item: item.id)
        named, floors = live.capabilities.named, live.capabilities.floors
        scores = dict(profile.items)
        touched = short = sole = 0
        for resident in leaving:
            touched |= resident.caps
        for index in range(len(live.coverers)):
            bit = 1 << index
            if not (touched | profile.caps) & bit:
                continue
            others = live.coverers[index] - sum(1 for resident in leaving if resident.caps & bit)
            competent = bool(profile.caps & bit)
            if touched & bit and others + competent < floors[index]:
                short |= bit
            if competent and not others:
                sole |= bit
        return _Replacement(
            tuple(resident.id for resident in leaving),
            tuple(resident.id for resident in leaving if resident.caps & ~profile.caps),
            tuple(
                resident.id
                for resident in leaving
                if resident.pin is not None or _still_champion(live, resident, profile, scores)
            ),
            named(short),
            named(sole),
        )


_NO_REPLACEMENT = _Replacement((), (), (), (), ())


def _still_champion(live: LiveSet, resident: Profile, profile: Profile, scores: dict[int, float]) -> bool:
    """Whether ``resident`` is champion, at or above the bar, of some capability in R ∪ {q}."""
    for index, _ in resident.items:
        if not resident.caps >> index & 1 or live.champions[index] is not resident:
            continue
        score = scores.get(index)
        if score is None or not outranks(profile, resident, index, score):
            return True
    return False

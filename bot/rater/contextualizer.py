"""The relational half of rating: facts about a query and the live R, always derived anew and never stored.

Paper, section 2.3 (contextualizer); semantics, section 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

from bot.config import Curation
from bot.rater.model import Doubt, RatedEntry, RelationalFacts, ScoredQuery
from bot.rater.profile import Capabilities, CarriedCombinations, Profile, bits, bits_of, counted, spelled_out, weights
from bot.text.compare import rounded

_DIGITS: Final = bytes.maketrans(b"01", b"\0\1")


class Offers:
    """Masks of capabilities or combinations, and the ids of the queries that offer them, in order of arrival."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        # Mask → positions of the queries that offer it, as the bits of one number; and those not yet merged into it.
        self._known: dict[int, int] = {}
        self._latest: dict[int, list[int]] = {}
        # Most calls give the same ids.
        self._named: dict[int, tuple[str, ...]] = {}

    def add(self, id: str, masks: Iterable[int]) -> None:
        """Add ``id``, which offers ``masks``, after all others."""
        place = len(self._ids)
        self._ids.append(id)
        for mask in masks:
            self._latest.setdefault(mask, []).append(place)

    def of(self, masks: Iterable[int]) -> tuple[str, ...]:
        """The ids that offer at least one of ``masks``."""
        union = 0
        for mask in masks:
            union |= self._places(mask)
        if union not in self._named:
            digits = bin(union)[:1:-1].encode().translate(_DIGITS)
            self._named[union] = tuple(compress(self._ids, digits))
        return self._named[union]

    def _places(self, mask: int) -> int:
        if latest := self._latest.pop(mask, None):
            bits = bytearray(latest[-1] // 8 + 1)
            for place in latest:
                bits[place // 8] |= 1 << place % 8
            self._known[mask] = self._known.get(mask, 0) | int.from_bytes(bits, "little")
        return self._known.get(mask, 0)


Key = tuple[int, int, int, int, float]
# Shared, since most queries of a large cycle have empty facts.
_NONE: Final[Mapping[str, Any]] = {}


def without_merit(key: Key) -> bool:
    """Whether a query with this ``key`` has no merit; it never gets any, since keys only fall."""
    return key[:4] == (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Similarity:
    """maxSim(q) and the most similar entry (``None`` for an empty R)."""

    value: float
    resident: str | None


def by_admission(residents: Iterable[RatedEntry]) -> list[RatedEntry]:
    """Entries in order of admission, ties by id."""
    return sorted(residents, key=lambda resident: (resident.admitted_at, resident.id))


class LiveSet:
    """R at one moment of a cycle, indexed for relational facts.

    It grows by :meth:`admit` (a query that entered R or the waitlist) and by :meth:`await_review` (a query that needs
    review, and whose coverage counts as offered for later queries: semantics, section 6).
    """

    def __init__(self, residents: Sequence[RatedEntry], queries: Sequence[ScoredQuery], config: Curation) -> None:
        names = set[str]().union(*(resident.scores for resident in residents), *(query.scores for query in queries))
        names |= {doubt.capability for query in queries for doubt in query.doubts}
        self._fill(residents, names, config)

    @classmethod
    def knowing(cls, names: Iterable[str], residents: Sequence[RatedEntry], config: Curation) -> LiveSet:
        """The live set of ``residents``, for later queries that exercise only capabilities in ``names``."""
        live = cls.__new__(cls)
        live._fill(residents, {*names}.union(*(resident.scores for resident in residents)), config)
        return live

    def carriers(self) -> dict[int, list[str]]:
        """Combination → the members that carry it, in the order in which they entered."""
        found: dict[int, list[str]] = {}
        for member in self.members:
            for mask in self.capabilities.carried(member):
                found.setdefault(mask, []).append(member.id)
        return found

    def _fill(self, residents: Sequence[RatedEntry], names: Iterable[str], config: Curation) -> None:
        self._begin(Capabilities(names, config))
        self.residents = by_admission(residents)
        self._enter_residents(config)

    def _enter_residents(self, config: Curation) -> None:
        """Fill it with its residents in order of admission."""
        scales = weights(self.residents, config.options.recency)
        for rank, (resident, weight) in enumerate(zip(self.residents, scales, strict=True)):
            profile = self.capabilities.profile(
                resident.id, resident.turns, resident.scores, resident.customer, rank=rank, pin=resident.pin
            )
            self._enter(profile if weight == 1 else self.capabilities.aged(profile, resident.inferred, weight))

    def _begin(self, capabilities: Capabilities) -> None:
        """Reset it: no members and no waiting queries."""
        self.capabilities = capabilities
        count = len(capabilities.names)
        self.members: list[Profile] = []
        self.champions: list[Profile | None] = [None] * count
        # The champions' scores, below any without one: a quick test, since most new members are no champion.
        self._held: list[float] = [-1.0] * count
        self.coverers: list[int] = [0] * count
        self.covered = 0
        # Capabilities with at least one but too few competent coverers; and those that each customer covers.
        self._short = 0
        self._covered_for: dict[str | None, int] = {}
        # The score to exceed: the champion's plus margin; below any score without a champion.
        self._to_beat: list[float] = [-1.0] * count
        # Capabilities in which a score at the competence bar would beat the champion, or be the first.
        self._won_at_bar = (1 << count) - 1
        # Combinations that members carry; and those plus the ones offered by waiting queries.  Shared until one waits.
        self._carried = self._known = CarriedCombinations(capabilities.novelty)
        self.waiting: list[Profile] = []
        # Combinations and capabilities that waiting queries offer.
        self._offered = Offers()
        self._meeting_each = Offers()
        self._met = 0

    def under(self, config: Curation, absent: str | None = None) -> LiveSet:
        """A copy with other knobs and without the member or waiting query ``absent``; read-only."""
        other = copy(self)
        capabilities = Capabilities(self.capabilities.names, config)
        if absent is None and capabilities.bars == self.capabilities.bars:
            # Coverers and champions are the same.
            other.capabilities = capabilities
            other._to_beat = [
                -1.0 if champion is None else rounded(held + margin)
                for champion, held, margin in zip(self.champions, self._held, capabilities.margins, strict=True)
            ]
            other._won_at_bar = sum(
                1 << index
                for index, (bar, score) in enumerate(zip(capabilities.bars, other._to_beat, strict=True))
                if bar > score
            )
            other._short = sum(
                1 << index
                for index, (coverers, floor) in enumerate(zip(self.coverers, capabilities.floors, strict=True))
                if capabilities.fills and 0 < coverers < floor
            )
            return other
        other._begin(capabilities)
        known: Sequence[Profile] = self.members
        if config.options.recency is not None:
            # Without its newest entry R is younger.
            other.residents = [resident for resident in self.residents if resident.id != absent]
            other._enter_residents(config)
            known = self.members[len(self.residents) :]
        for member in known:
            if member.id != absent:
                other._enter(capabilities.again(member))
        for profile in self.waiting:
            if profile.id != absent:
                other.await_review(capabilities.again(profile))
        return other

    def profile(self, query: ScoredQuery) -> Profile:
        """``query`` prepared for comparison with this set."""
        return self.capabilities.profile(query.id, query.turns, query.scores, query.customer)

    def admit(self, profile: Profile) -> None:
        """Add ``profile`` as the latest member of R."""
        self._enter(profile._replace(rank=len(self.members)))

    def await_review(self, profile: Profile) -> None:
        """Add ``profile`` as a query that needs review: later queries may refer to its coverage."""
        self.waiting.append(profile)
        self._met |= profile.caps
        self._meeting_each.add(profile.id, bits_of(profile.caps))
        self._offered.add(profile.id, self.capabilities.carried(profile))
        if self._known is self._carried:
            self._known = self._carried.copy()
        self._known.add(profile.combined)

    def key(self, profile: Profile) -> Key:
        """key(q) without the id (semantics, section 6); while the set grows it only falls in lexicographic order."""
        to_beat = self._to_beat
        contested = 0
        for index, score in profile.items:
            if score > to_beat[index]:
                contested += 1
        return (
            (profile.caps & ~self.covered).bit_count(),
            self._fills(profile).bit_count(),
            contested,
            counted(self._known.lacking(profile.combined)),
            profile.total,
        )

    def doubts(self, query: ScoredQuery, profile: Profile, least: float) -> list[Doubt]:
        """The capabilities that may give the redundant ``query`` merit if it exercised them competently.

        These are capabilities that it exercises below the competence bar, and its doubts; ``least`` is the minimum
        probability.  The most probable come first; among equals those that it exercises, by id, then the others in the
        taxonomy's order.
        """
        gaining = self._gaining(profile, profile.signature & ~profile.caps)
        if not gaining and not query.doubts:
            return []
        least = rounded(least)
        names, places = self.capabilities.names, self.capabilities.index
        found = [
            Doubt(capability=names[index], probability=query.scores[names[index]])
            for index in bits(gaining)
            if profile.score(index) >= least
        ]
        found += [
            doubt
            for doubt in query.doubts
            if (score := rounded(doubt.probability)) >= least
            and self._may_gain(profile, places[doubt.capability], score, doubt.instead_of)
        ]
        return sorted(found, key=lambda doubt: -rounded(doubt.probability))

    def _gaining(self, profile: Profile, lacking: int) -> int:
        """The capabilities in ``lacking`` in which a score at the bar may give the redundant ``profile`` merit.

        This is much cheaper than the facts, and complete: without the capability the query has no merit, or only for
        capabilities that R lacks or has too few coverers of, and that waiting queries offer.
        """
        wanted = self._short | ~self.covered
        if profile.caps & wanted:
            return lacking
        gaining = lacking & (wanted | self._won_at_bar)
        return gaining | self._known.opened_by(self.capabilities.combinable(lacking & ~gaining), profile.combined)

    def _may_gain(self, profile: Profile, index: int, score: float, instead_of: tuple[str, ...] = ()) -> bool:
        """Whether ``score`` in capability ``index``, without ``instead_of``, may give the redundant ``profile`` merit.

        It may be true without merit, but is never false with merit.
        """
        capabilities, bit = self.capabilities, 1 << index
        if score > self._to_beat[index]:
            return True
        if not instead_of:
            return bool(self._gaining(profile, bit))
        gone = sum(1 << capabilities.index[name] for name in instead_of if name in capabilities.index)
        caps = profile.caps & ~gone | bit
        if caps & (self._short | ~self.covered) or self._won_at_bar & bit:
            return True
        return bool(self._known.lacking(capabilities.combined(profile.signature & ~gone | bit, caps)))

    def facts(self, query: ScoredQuery, profile: Profile, similarity: Similarity) -> RelationalFacts:
        """All relational facts of ``query`` at this moment."""
        named = self.capabilities.named
        names = self.capabilities.names
        new = profile.caps & ~self.covered
        fills = self._fills(profile)
        fresh = self._known.lacking(profile.combined)
        to_beat, champions = self._to_beat, self.champions
        beaten = [
            (index, score, champion)
            for index, score in profile.items
            if score > to_beat[index] and (champion := champions[index]) is not None
        ]
        beaten.sort(key=lambda win: win[0])
        evidence = [score for index, score, _ in beaten]
        if needed := new | fills:
            evidence += [score for index, score in profile.items if needed >> index & 1]
        displaced, undominated, protected, short, sole = _replacement(self, profile, beaten) if beaten else ((),) * 5
        return RelationalFacts(
            exercised=not query.scores.keys() <= query.arbitrated,
            competent=named(profile.caps),
            new_capabilities=named(new),
            new_combinations=tuple(sorted(map(named, spelled_out(fresh)))) if fresh else (),
            fills={names[index]: self.coverers[index] for index in bits(fills)},
            met_by=self._meeting(needed),
            wins={names[index]: champion.id for index, _, champion in beaten},
            max_similarity=similarity.value,
            most_similar=similarity.resident,
            top_score=profile.top,
            evidence_score=max(evidence, default=0.0),
            familiar=query.familiar,
            personal=query.personal,
            displaced=displaced,
            undominated=undominated,
            protected=protected,
            short_floors=short,
            sole=sole,
            scores=query.scores,
            champion_scores={names[index]: champion.counted_score(index) for index, _, champion in beaten},
            faded={
                names[index]: champion.score(index)
                for index, _, champion in beaten
                if champion.counted_score(index) != champion.score(index)
            },
        )

    def facts_without_merit(self, query: ScoredQuery, profile: Profile, similarity: Similarity) -> RelationalFacts:
        """:meth:`facts` for a ``query`` whose key is without merit."""
        return RelationalFacts(
            exercised=not query.scores.keys() <= query.arbitrated,
            competent=self.capabilities.named(profile.caps),
            new_capabilities=(),
            new_combinations=(),
            fills=_NONE,
            wins=_NONE,
            max_similarity=similarity.value,
            most_similar=similarity.resident,
            top_score=profile.top,
            evidence_score=0.0,
            familiar=query.familiar,
            personal=query.personal,
            scores=query.scores,
            champion_scores=_NONE,
        )

    def offering(self, profile: Profile) -> tuple[str, ...]:
        """The waiting queries that carry a combination of ``profile`` that R lacks, in the cycle's order."""
        if not self.waiting:
            return ()
        return self._offered.of(spelled_out(self._carried.lacking(profile.combined)))

    def _meeting(self, needed: int) -> tuple[str, ...]:
        if not needed or needed & ~self._met:
            return ()
        return self._meeting_each.of(bits_of(needed))

    def _fills(self, profile: Profile) -> int:
        """fills(q) as a mask."""
        return profile.caps & self._short & ~self._covered_for.get(profile.customer, 0)

    def _enter(self, profile: Profile) -> None:
        self.members.append(profile)
        self.covered |= profile.caps
        self._covered_for[profile.customer] = self._covered_for.get(profile.customer, 0) | profile.caps
        self._carried.add(profile.combined)
        if self._known is not self._carried:
            self._known.add(profile.combined)
        caps, held = profile.caps, self._held
        for index, score in zip(profile.places, profile.counted, strict=True):
            if caps >> index & 1:
                self._cover(index)
            if score >= held[index]:
                self._challenge(profile, index, score)

    def _cover(self, index: int) -> None:
        """Count another competent coverer of the capability with this index."""
        count = self.coverers[index] = self.coverers[index] + 1
        floor = self.capabilities.floors[index]
        if count < floor and self.capabilities.fills:
            self._short |= 1 << index
        elif count == floor:
            self._short &= ~(1 << index)

    def _challenge(self, profile: Profile, index: int, score: float) -> None:
        """Make ``profile`` the champion of the capability with this index, if it outranks the current one."""
        champion = self.champions[index]
        if champion is not None and not outranks(profile, champion, index, score):
            return
        self.champions[index], self._held[index] = profile, score
        self._to_beat[index] = rounded(score + self.capabilities.margins[index])
        if self.capabilities.bars[index] > self._to_beat[index]:
            self._won_at_bar |= 1 << index
        else:
            self._won_at_bar &= ~(1 << index)


def outranks(challenger: Profile, champion: Profile, index: int, score: float) -> bool:
    """Whether ``challenger``, whose score counts ``score``, replaces ``champion`` as champion of capability ``index``.

    The highest score wins; ties: larger |caps|, then earlier admission (whose order already breaks ties by id).
    """
    held = champion.counted_score(index)
    if score != held:
        return score > held
    if challenger.breadth != champion.breadth:
        return challenger.breadth > champion.breadth
    return 0 <= challenger.rank < champion.rank


def _replacement(
    live: LiveSet, profile: Profile, beaten: list[tuple[int, float, Profile]]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The facts for gate 4: ``displaced``, ``undominated``, ``protected``, ``short_floors`` and ``sole``."""
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
    return (
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


def _still_champion(live: LiveSet, resident: Profile, profile: Profile, scores: dict[int, float]) -> bool:
    """Whether ``resident`` is the champion, at or above the bar, of a capability in R ∪ {q}."""
    for index in resident.places:
        if not resident.caps >> index & 1 or live.champions[index] is not resident:
            continue
        score = scores.get(index)
        if score is None or not outranks(profile, resident, index, score):
            return True
    return False

"""The relational half of rating: facts about a query and the live R, always derived anew and never stored.

Paper, section 2.3 (contextualizer); semantics, section 4.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Final

from incumbent.rater.model import RatedEntry, RelationalFacts, ScoredQuery, Similarity
from incumbent.rater.profile import (
    Capabilities,
    CarriedCombinations,
    Profile,
    bits,
    bits_of,
    counted,
    selected,
    spelled_out,
    weights,
)
from incumbent.taxonomy.config import Curation
from incumbent.text.compare import rounded


class WaitingQueries:
    """The queries of a cycle that wait for a person, in order of arrival, and what the familiar ones offer.

    Sets of them are bit masks of their places, so that the same ids are not named again and again.
    """

    def __init__(self) -> None:
        self.profiles: list[Profile] = []
        self.texts: list[str] = []
        # What the familiar ones cover.
        self.covered = 0
        self._familiar: list[int] = []
        # Capability → the scores of those that contest it, ascending, and their places in the same order.
        self._contesting: dict[int, tuple[list[float], list[int]]] = {}
        # Capability or combination → the places of those that offer it; and those not yet merged into it.
        self._known: tuple[dict[int, int], dict[int, int]] = {}, {}
        self._latest: tuple[dict[int, list[int]], dict[int, list[int]]] = {}, {}
        # Most calls give the same ids.
        self._named: dict[int, tuple[str, ...]] = {}

    def add(self, profile: Profile, combinations: Iterable[int] | None) -> None:
        """Add ``profile`` after all others; it carries the ``combinations``, or offers nothing (``None``)."""
        place = len(self.profiles)
        self.profiles.append(profile)
        self.texts.append(profile.text)
        if combinations is None:
            return
        self._familiar.append(place)
        self.covered |= profile.caps
        for masks, latest in zip((bits_of(profile.caps), combinations), self._latest, strict=True):
            for mask in masks:
                latest.setdefault(mask, []).append(place)
        for index, score in profile.items:
            if profile.contested >> index & 1:
                scores, places = self._contesting.setdefault(index, ([], []))
                at = bisect_left(scores, score)
                scores.insert(at, score)
                places.insert(at, place)

    @property
    def familiar(self) -> Sequence[Profile]:
        """Those that offer something."""
        return [self.profiles[place] for place in self._familiar]

    def covering(self, capabilities: Iterable[int]) -> int:
        """The familiar ones that competently cover at least one of the ``capabilities`` (single bits)."""
        return self._places(0, capabilities)

    def carrying(self, combinations: Iterable[int]) -> int:
        """The familiar ones that carry at least one of the ``combinations``."""
        return self._places(1, combinations)

    def best(self, index: int) -> float | None:
        """The best score of the familiar ones in a capability that they contest; ``None`` if none does."""
        return self._contesting[index][0][-1] if index in self._contesting else None

    def would_stand(self, index: int, score: float, margin: float) -> bool:
        """Whether ``score`` would win against the familiar ones too, if they were in R."""
        best = self.best(index)
        return best is None or score > rounded(best + margin)

    def in_the_way(self, index: int, score: float, margin: float) -> int:
        """The familiar ones against which ``score`` would not win."""
        scores, places = self._contesting.get(index, ((), ()))
        at = bisect_left(scores, True, key=lambda other: score <= rounded(other + margin))
        return sum(map((1).__lshift__, places[at:]))

    def named(self, places: int) -> tuple[str, ...]:
        """The ids of those at ``places``."""
        if places not in self._named:
            self._named[places] = tuple(profile.id for profile in selected(self.profiles, places))
        return self._named[places]

    def _places(self, kind: int, masks: Iterable[int]) -> int:
        known, unmerged = self._known[kind], self._latest[kind]
        union = 0
        for mask in masks:
            if latest := unmerged.pop(mask, None):
                places = bytearray(latest[-1] // 8 + 1)
                for place in latest:
                    places[place // 8] |= 1 << place % 8
                known[mask] = known.get(mask, 0) | int.from_bytes(places, "little")
            union |= known.get(mask, 0)
        return union


Key = tuple[int, int, int, int, float]
# Shared, since most queries of a large cycle have empty facts.
_NONE: Final[Mapping[str, Any]] = {}


def without_merit(key: Key) -> bool:
    """Whether a query with this ``key`` has no merit; it never gets any, since keys only fall."""
    return key[:4] == (0, 0, 0, 0)


def by_admission(residents: Iterable[RatedEntry]) -> list[RatedEntry]:
    """Entries in order of admission: time, then the order of those that entered together, then id."""
    return sorted(residents, key=lambda resident: (resident.admitted_at, resident.order, resident.id))


class LiveSet:
    """R at one moment of a cycle, indexed for relational facts.

    It grows by :meth:`admit` (a query that entered R or the waitlist) and by :meth:`await_review` (a query that needs
    review; what it covers counts as offered for later ones: semantics, section 6).
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
        self._begin(Capabilities(names, config), fades=config.options.recency is not None)
        self.residents = by_admission(residents)
        self._enter_residents(config)

    def _enter_residents(self, config: Curation) -> None:
        """Fill it with its residents in order of admission."""
        scales = weights(self.residents, config.options.recency)
        for rank, (resident, weight) in enumerate(zip(self.residents, scales, strict=True)):
            profile = self.capabilities.profile(
                resident.id,
                resident.turns,
                resident.scores,
                resident.by_rule,
                resident.customer,
                rank=rank,
                pin=resident.pin,
            )
            self._enter(profile if weight == 1 else self.capabilities.aged(profile, weight))

    def _begin(self, capabilities: Capabilities, *, fades: bool) -> None:
        """Reset it: no members and no waiting queries; if it ``fades``, scores count less with age for champions."""
        self.capabilities = capabilities
        count = len(capabilities.names)
        self.members: list[Profile] = []
        self.champions: list[Profile | None] = [None] * count
        # Who is pinned as champion: there age does not matter.
        self.titles: list[Profile | None] = [None] * count if fades else self.champions
        # The champions' scores, below any without one: a quick test, since most new members are no champion.
        self._held: list[float] = [-1.0] * count
        self.coverers: list[int] = [0] * count
        self.covered = 0
        # Capabilities with at least one but too few competent coverers; and those that each customer covers.
        self._short = 0
        self._covered_for: dict[str | None, int] = {}
        # The score to exceed: the champion's plus margin; below any score without a champion.
        self._to_beat: list[float] = [-1.0] * count
        self._carried = CarriedCombinations(capabilities.novelty)
        self.forget_waiting()

    def forget_waiting(self) -> None:
        """Let no query wait any more."""
        self.waiting = WaitingQueries()
        # Combinations that members carry, and those that are offered.  One object until a query offers some.
        self._known = self._carried

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
            other._short = sum(
                1 << index
                for index, (coverers, floor) in enumerate(zip(self.coverers, capabilities.floors, strict=True))
                if capabilities.fills and 0 < coverers < floor
            )
            return other
        other._begin(capabilities, fades=config.options.recency is not None)
        known: Sequence[Profile] = self.members
        if config.options.recency is not None:
            # Without its newest entry R is younger.
            other.residents = [resident for resident in self.residents if resident.id != absent]
            other._enter_residents(config)
            known = self.members[len(self.residents) :]
        for member in known:
            if member.id != absent:
                other._enter(capabilities.again(member))
        familiar = {profile.id for profile in self.waiting.familiar}
        for profile in self.waiting.profiles:
            if profile.id != absent:
                other.await_review(capabilities.again(profile), familiar=profile.id in familiar)
        return other

    def profile(self, query: ScoredQuery) -> Profile:
        """``query`` prepared for comparison with this set."""
        return self.capabilities.profile(query.id, query.turns, query.scores, query.by_rule, query.customer)

    def admit(self, profile: Profile) -> None:
        """Add ``profile`` as the latest member of R."""
        self._enter(profile._replace(rank=len(self.members)))

    def await_review(self, profile: Profile, *, familiar: bool) -> None:
        """Add ``profile`` as a query that needs review; a ``familiar`` one offers what it covers to later ones."""
        if not familiar:
            self.waiting.add(profile, None)
            return
        self.waiting.add(profile, self.capabilities.carried(profile))
        if self._known is self._carried:
            self._known = self._carried.copy()
        self._known.add(profile.combined)

    def key(self, profile: Profile) -> Key:
        """key(q) without the id (semantics, section 6); while the set grows it only falls in lexicographic order."""
        to_beat, may_win = self._to_beat, profile.contested
        # With `rule_values: scored` a capability without a champion counts whatever its score.
        scored, held = self.capabilities.scored, self._held
        contested = 0
        for index, score in profile.items:
            if score > to_beat[index] and (may_win >> index & 1 or (scored and held[index] < 0)):
                contested += 1
        return (
            (profile.caps & ~self.covered).bit_count(),
            self._fills(profile).bit_count(),
            contested,
            counted(self._known.lacking(profile.combined)),
            profile.total,
        )

    def has_merit(self, profile: Profile) -> bool:
        """Whether ``profile`` has new coverage, fills a floor, wins or is novel, and is not redundant (gate 2)."""
        new, fills, _, combinations, _ = self.key(profile)
        return bool(new or fills or combinations) or next(self._beaten(profile), None) is not None

    def _beaten(self, profile: Profile) -> Iterator[tuple[int, float, Profile]]:
        """The capabilities that ``profile`` wins, each with its score and the champion."""
        for index, score in profile.items:
            champion = self.champions[index]
            if score > self._to_beat[index] and profile.contested >> index & 1 and champion is not None:
                yield index, score, champion

    def facts(self, query: ScoredQuery, profile: Profile, similarity: Similarity) -> RelationalFacts:
        """All relational facts of ``query`` at this moment."""
        named = self.capabilities.named
        names = self.capabilities.names
        new = profile.caps & ~self.covered
        fills = self._fills(profile)
        fresh = self._known.lacking(profile.combined)
        beaten = sorted(self._beaten(profile), key=lambda win: win[0])
        displaced, undominated, protected, short, sole = _replacement(self, profile, beaten) if beaten else ((),) * 5
        return RelationalFacts(
            exercised=not query.scores.keys() <= query.arbitrated,
            competent=named(profile.caps),
            new_capabilities=named(new),
            new_combinations=tuple(sorted(map(named, spelled_out(fresh)))) if fresh else (),
            fills={names[index]: self.coverers[index] for index in bits(fills)},
            wins={names[index]: champion.id for index, _, champion in beaten},
            max_similarity=similarity.value,
            most_similar=similarity.resident,
            top_score=profile.top,
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
            familiar=query.familiar,
            personal=query.personal,
            scores=query.scores,
            champion_scores=_NONE,
        )

    def wanted(self) -> int:
        """The capabilities that would be new or fill a floor by some query, and that none waits with."""
        return (~self.covered | self._short) & ~self.waiting.covered & ((1 << len(self.coverers)) - 1)

    def would_cover(self, capability: int, profile: Profile) -> bool:
        """Whether ``capability``, a single bit, would be new or fill a floor by ``profile``, and none waits with it."""
        wanted = ~self.covered | self._fillable(profile.customer)
        return bool(capability & wanted & ~self.waiting.covered)

    def is_new(self, combination: int) -> bool:
        """Whether neither R nor a familiar waiting query carries the ``combination``."""
        return bool(self._known.lacking(combination))

    def new_partners(self) -> Mapping[int, int]:
        """Each capability, as a single bit → those that form with it a pair that is new (novelty 2)."""
        combinable = bits_of(self.capabilities.combining)
        found = dict.fromkeys(combinable, 0)
        for rest, ends in self._known.lacking(self.capabilities.combining):
            # A single capability has no partner, and no rest.
            if rest:
                found[rest] |= ends
                for end in bits_of(ends):
                    found[end] |= rest
        return found

    def lacking(self, profile: Profile) -> frozenset[int]:
        """newCombos of ``profile`` as masks: its combinations that neither R nor a familiar waiting query carries."""
        return spelled_out(self._known.lacking(profile.combined))

    def offering(self, profile: Profile) -> int:
        """The waiting queries that carry a combination of ``profile`` that R lacks."""
        if not self.waiting.profiles:
            return 0
        return self.waiting.carrying(spelled_out(self._carried.lacking(profile.combined)))

    def clones(self, profiles: Sequence[Profile], cutoff: float, since: int = 0) -> Sequence[Sequence[int]]:
        """Of each of ``profiles`` the places of the waiting queries that it is a clone of, from place ``since`` on."""
        from incumbent.rater.similarity import clones_among

        texts = self.waiting.texts[since:]
        if not texts:
            return [()] * len(profiles)
        found = clones_among([profile.text for profile in profiles], texts, cutoff)
        return [[place + since for place in places] for places in found] if since else found

    def behind(self, profile: Profile, wins: Iterable[str], clones: Sequence[int] = ()) -> int:
        """The waiting queries behind which ``profile`` waits, with its ``wins`` against R; 0 if it does not.

        It waits if they offer all of its merit (semantics, section 6): what is new or filled, and its combinations; no
        win would stand if they were in R, but for one in a capability that is new or filled.  ``clones`` are the places
        of those that it is a clone of: what one of them covers counts as well, though none may be familiar, and then no
        win may stand.
        """
        needed = profile.caps & ~self.covered | self._fills(profile)
        missing, lacking = needed & ~self.waiting.covered, self.lacking(profile)
        margins, waiting = self.capabilities.margins, self.waiting
        won = [(index, profile.score(index)) for index in map(self.capabilities.index.__getitem__, wins)]
        standing = [index for index, score in won if waiting.would_stand(index, score, margins[index])]
        found = 0
        if clones:
            for place in () if standing else clones:
                other = waiting.profiles[place]
                if not missing & ~other.caps and lacking <= self.capabilities.carried(other):
                    found |= 1 << place
            if not found:
                return 0
        elif missing or lacking or any(not needed >> index & 1 for index in standing):
            return 0
        for index, score in won:
            found |= waiting.in_the_way(index, score, margins[index])
        return found | waiting.covering(bits_of(needed)) | self.offering(profile)

    def _fills(self, profile: Profile) -> int:
        """fills(q) as a mask."""
        return profile.caps & self._fillable(profile.customer)

    def _fillable(self, customer: str | None) -> int:
        """The capabilities with too few coverers that a competent query of ``customer`` would fill."""
        own = self._covered_for.get(customer, 0) & self.capabilities.filled_by_others
        return self._short & ~own

    def _enter(self, profile: Profile) -> None:
        self.members.append(profile)
        self.covered |= profile.caps
        self._covered_for[profile.customer] = self._covered_for.get(profile.customer, 0) | profile.caps
        self._carried.add(profile.combined)
        if self._known is not self._carried:
            self._known.add(profile.combined)
        caps, contested, held = profile.caps, profile.contested, self._held
        for index, score in zip(profile.places, profile.counted, strict=True):
            if caps >> index & 1:
                self._cover(index)
            if score >= held[index] and contested >> index & 1:
                self._challenge(profile, index, score)
        if self.titles is not self.champions:
            plain = profile._replace(counted=profile.values)
            for index, score in plain.items:
                holder = self.titles[index]
                if contested >> index & 1 and (holder is None or outranks(plain, holder, index, score)):
                    self.titles[index] = plain

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
        holder = live.titles[index]
        if not resident.caps >> index & 1 or holder is None or holder.id != resident.id:
            continue
        score = scores.get(index) if profile.contested >> index & 1 else None
        if score is None or not outranks(profile, holder, index, score):
            return True
    return False

"""Prune: which residents may leave R together, also in the place of a newcomer (semantics, section 7; pure).

Nothing is deleted here.  People decide on each suggestion by itself.  So what is chosen is safe in whatever part and
order it is confirmed: no floor, no pin and no combination of t capabilities is lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import ceil
from typing import Annotated, NamedTuple, TypeAlias

from pydantic import Field

from incumbent.curator.roles import EvictionKind, Grounds, Roles, roles_in
from incumbent.rater.contextualizer import LiveSet, outranks
from incumbent.rater.expected_detection import ExpectedDetection
from incumbent.rater.model import RatedEntry
from incumbent.rater.profile import Profile, bits
from incumbent.taxonomy.config import Curation

_LAST = "~~"
"""Later than any time stamp, and than those of a cycle's admissions."""

_Order: TypeAlias = tuple[bool, bool, int, float, float, int, str]
"""The place of a candidate in prune's order; the smallest is tried first."""


class Obstacles(NamedTuple):
    """What R would lose with an entry, champions aside, as masks.

    ``capabilities`` would fall below their floor.  No other entry carries ``combinations``.
    """

    capabilities: int
    combinations: tuple[int, ...]


class Newcomer(NamedTuple):
    """A query that would be the last to enter R.

    ``beats`` are the capabilities whose champion it becomes, as a mask; ``displaces`` the residents that it displaces.
    """

    entry: RatedEntry
    profile: Profile
    beats: int
    displaces: frozenset[str]


class SafeRemovals:
    """Residents that may leave R, chosen one after another; and what R keeps, whichever of them leave.

    ``roles`` and ``live`` are those of R.  ``chosen`` maps each resident that may leave by itself to the grounds,
    ``withheld`` those that could, had people not refused these grounds.  ``spared`` are those that only the option
    ``fill_to`` keeps.  ``size`` is |R|.
    """

    def __init__(
        self,
        residents: Sequence[RatedEntry],
        config: Curation,
        taxonomy_major: int,
        open_suggestions: Collection[str] = (),
        stale: Collection[str] = (),
        names: Collection[str] = (),
    ) -> None:
        """Nothing is chosen yet.

        ``open_suggestions`` are ids already suggested and open.  ``stale`` are residents whose scores are not
        all comparable: what would be lost with them is unknown, so they stay.  ``names`` are the capabilities of
        newcomers.
        """
        self.live = LiveSet.knowing(names, residents, config)
        self.roles: Roles = roles_in(self.live)
        self.chosen: dict[str, Grounds] = {}
        self.spared: set[str] = set()
        self.withheld: dict[str, Grounds] = {}
        self.size, self._filled = len(residents), None if config.filled is None else ceil(config.filled)
        self._refused: Collection[str] = ()
        self._residents, self._config, self._names = residents, config, names
        self._major = taxonomy_major
        self._stale = stale
        # Newcomers that entered by exchanges.
        self._arrivals = 0
        self._open = open_suggestions
        self._profiles = {member.id: member for member in self.live.members}
        self._kept = _Kept(self.live)
        # Resident → the capabilities whose champion it is, at or above the bar.
        self._titles: Counter[str] = Counter()
        for index, champion in enumerate(self.live.titles):
            if champion is not None and champion.caps >> index & 1:
                self._titles[champion.id] += 1 << index
        self._flakiness = config.options.flakiness
        self._movable = [resident for resident in residents if resident.pin is None and resident.id not in stale]
        self._detection = ExpectedDetection(self.live.members, self.live.capabilities, self._flakiness)
        self._losses = {item.id: self._detection.loss(self._profiles[item.id]) for item in self._movable}
        self._movable.sort(key=lambda item: self._order(item, self._profiles[item.id], self._losses[item.id]))
        # Residents that one newcomer may free, and what keeps each.
        self._nearly_free: list[tuple[str, Obstacles]] | None = None

    def choose(self, refused: Collection[str] = ()) -> None:
        """Choose each resident that may leave by itself; ``refused`` are the digests of refused grounds.

        A refusal holds while its grounds are those of R as it is.  That others are chosen, which displace the resident,
        does not change them: that would depend on who is chosen first, and so on what is open already.

        With the option ``fill_to`` no redundant one is chosen once so few others stay.  What could leave but for that
        is ``spared``; what a newcomer frees does not depend on it.
        """
        self._refused = refused
        self._nearly_free = None
        later: list[RatedEntry] = []
        for resident in self._movable:
            is_redundant = not self._displacers(resident.id, self._kept)
            if is_redundant and self._filled is not None and self.size - len(self.chosen) <= self._filled:
                later.append(resident)
            elif (grounds := self._join(resident)) is not None:
                self.chosen[resident.id] = grounds
        for resident in later:
            if self._join(resident) is not None:
                self.spared.add(resident.id)

    def _join(self, resident: RatedEntry) -> Grounds | None:
        """Let ``resident`` leave if it may, unless people refused it; the grounds if it does."""
        profile = self._profiles[resident.id]
        displacers = self._displacers(resident.id, self._kept)
        if not self._may_leave(profile, self._kept, bool(displacers)):
            return None
        in_r = self.roles.displaced.get(resident.id, ())
        grounds = [self._grounds(resident, each) for each in dict.fromkeys((displacers, in_r))]
        held = next((each for each in grounds if each.digest in self._refused), None)
        if held is not None:
            self.withheld[resident.id] = held
            return None
        self._kept.lose(profile, displacers)
        return grounds[0]

    def remaining(self, id: str) -> Mapping[str, int]:
        """Competent capability of the resident ``id`` → its coverers once all that was chosen left."""
        names, coverers = self.live.capabilities.names, list(self._kept.coverers)
        for spared in self.spared:
            for index in bits(self._profiles[spared].caps):
                coverers[index] += 1
        return {names[index]: coverers[index] for index in bits(self._profiles[id].caps)}

    def arriving(self, query: RatedEntry) -> Newcomer:
        """``query`` as a newcomer; ``names`` must hold its capabilities."""
        profile = self.live.profile(query.query)
        return Newcomer(
            entry=query,
            profile=profile,
            beats=sum(
                1 << index
                for index, score in profile.items
                if profile.contested >> index & 1
                and ((champion := self.live.titles[index]) is None or outranks(profile, champion, index, score))
            ),
            displaces=frozenset(
                id
                for id in (query.displaces if self.live.capabilities.novelty == "signature" else ())
                if (displaced := self._profiles.get(id)) is not None and not displaced.caps & ~profile.caps
            ),
        )

    def freed(self, newcomer: Newcomer) -> Mapping[str, Grounds]:
        """freed(q): the residents that may leave only once the newcomer is in, with the grounds; nothing is chosen.

        It is empty if the newcomer itself would be suggested for eviction.
        """
        if not self._may_free_any(newcomer):
            return {}
        kept = self._kept.with_newcomer(newcomer)
        candidates = [
            (resident, profile)
            for resident in self._movable
            if resident.id not in kept.leaving
            and resident.id not in self.withheld
            and self._may_leave(
                profile := self._profiles[resident.id],
                kept,
                bool(self._displacers(resident.id, kept, newcomer)),
                newcomer,
            )
        ]
        candidates.append((newcomer.entry, newcomer.profile))
        gain = self._detection.gain(newcomer.profile)

        def order(item: tuple[RatedEntry, Profile]) -> _Order:
            loss = gain if item[0] is newcomer.entry else self._losses[item[0].id]
            return self._order(*item, loss, newcomer.displaces)

        candidates.sort(key=order)
        found: dict[str, Grounds] = {}
        for resident, profile in candidates:
            if resident is newcomer.entry:
                if resident.pin is None and self._may_leave(profile, kept, False, newcomer):
                    return {}
                continue
            displacers = self._displacers(resident.id, kept, newcomer)
            if self._may_leave(profile, kept, bool(displacers), newcomer):
                grounds = self._grounds(resident, tuple(sorted(displacers)), newcomer.entry.id)
                if grounds.digest not in self._refused:
                    found[resident.id] = grounds
                    kept.lose(profile, displacers)
        return found

    def gain(self, newcomer: Newcomer) -> float:
        """ΔD of the newcomer."""
        return self._detection.gain(newcomer.profile)

    def exchange(self, newcomer: Newcomer, leaving: Iterable[str]) -> float:
        """ΔD of an exchange of the newcomer for the residents ``leaving``."""
        return self._detection.exchange([newcomer.profile], [self._profiles[id] for id in leaving])

    def scores(self, id: str) -> Mapping[str, float]:
        """The scores of the resident ``id``."""
        return next(resident.scores for resident in self._residents if resident.id == id)

    def after(self, newcomer: Newcomer, leaving: Collection[str]) -> SafeRemovals:
        """What may leave once the newcomer has entered, to stay, and the residents ``leaving`` have left.

        What is chosen now counts as open then: what people see is not taken back.
        """
        arrived = replace(newcomer.entry, admitted_at=f"{_LAST}{self._arrivals:06d}")
        taken = {*self._open, *(self.chosen if self._arrivals == 0 else ())}
        stale = {*self._stale, arrived.id}
        left = [resident for resident in self._residents if resident.id not in leaving]
        found = SafeRemovals([*left, arrived], self._config, self._major, taken, stale, self._names)
        found._arrivals = self._arrivals + 1
        found.choose(self._refused)
        return found

    def _may_free_any(self, newcomer: Newcomer) -> bool:
        """Whether the newcomer by itself removes all obstacles of a resident; a quick test, since most remove none."""
        if self._nearly_free is None:
            self._nearly_free = [(item.id, each) for item in self._movable if (each := self._near(item.id)) is not None]
        missing, lost = ~newcomer.profile.caps, ~newcomer.beats
        carried: frozenset[int] | None = None
        for id, obstacles in self._nearly_free:
            if obstacles.capabilities & missing or self._titles[id] & lost:
                continue
            if obstacles.combinations and id not in newcomer.displaces:
                carried = carried or self.live.capabilities.carried(newcomer.profile)
                if not carried.issuperset(obstacles.combinations):
                    continue
            return True
        return False

    def _near(self, id: str) -> Obstacles | None:
        """What keeps the resident ``id``, its titles aside, if one newcomer may be enough to free it."""
        if id in self._kept.leaving or id in self.withheld:
            return None
        profile, coverers, floors = self._profiles[id], self._kept.coverers, self.live.capabilities.floors
        if any(coverers[index] < floors[index] for index in bits(profile.caps)):
            return None
        obstacles = self._kept.obstacles(profile)
        return obstacles._replace(combinations=()) if self._displacers(id, self._kept) else obstacles

    def adds_nothing(self, newcomer: Newcomer) -> bool:
        """Whether R would lose nothing if the newcomer left again at once; one that a person pinned is kept."""
        kept = self._kept.with_newcomer(newcomer)
        return newcomer.entry.pin is None and self._may_leave(newcomer.profile, kept, False, newcomer)

    def losses(self, newcomer: Newcomer) -> Mapping[str, Obstacles]:
        """Resident that is not pinned → what R would lose with it once the newcomer is in; the least loss first.

        Sole competent coverers of a capability come after all others.  Of each kind the smallest ΔD comes first.
        """
        kept = self._kept.with_newcomer(newcomer)
        present = [*self.live.members, newcomer.profile]
        detection = ExpectedDetection(present, self.live.capabilities, self._flakiness)
        found = []
        for resident in self._movable:
            profile = self._profiles[resident.id]
            if not self._titles[resident.id] & ~newcomer.beats:
                is_sole = any(kept.coverers[index] == 1 for index in bits(profile.caps))
                rank = (is_sole, detection.loss(profile), profile.total, profile.rank)
                found.append((rank, resident.id, kept.obstacles(profile)))
        return {id: obstacles for _, id, obstacles in sorted(found)}

    def _order(self, entry: RatedEntry, profile: Profile, loss: float, displaced: Collection[str] = ()) -> _Order:
        """The order of candidates; ``loss`` is the ΔD of each, ``displaced`` are those that a newcomer displaces."""
        return (
            entry.id not in self._open,
            entry.id not in self.roles.displaced and entry.id not in displaced,
            entry.results,
            loss,
            profile.total,
            len(self._profiles) if profile.rank < 0 else profile.rank,
            entry.id,
        )

    def _grounds(self, resident: RatedEntry, displacers: tuple[str, ...], freed_by: str | None = None) -> Grounds:
        kind = EvictionKind.DISPLACED if displacers else EvictionKind.REDUNDANT
        return Grounds.on(resident, kind, displacers, self._major, freed_by=freed_by)

    def _displacers(self, id: str, kept: _Kept, newcomer: Newcomer | None = None) -> tuple[str, ...]:
        """The residents that displace ``id`` and stay, and the newcomer if it does."""
        found = tuple(each for each in self.roles.displaced.get(id, ()) if each not in kept.leaving)
        return found if newcomer is None or id not in newcomer.displaces else (*found, newcomer.entry.id)

    def _may_leave(self, profile: Profile, kept: _Kept, displaced: bool, newcomer: Newcomer | None = None) -> bool:
        titles = self._titles[profile.id]
        if newcomer is not None:
            titles = newcomer.beats & profile.caps if profile is newcomer.profile else titles & ~newcomer.beats
        if titles or kept.needs(profile.id):
            return False
        obstacles = kept.obstacles(profile)
        return not obstacles.capabilities and (displaced or not obstacles.combinations)


class _Kept:
    """What R keeps whichever of the residents ``leaving`` leave.

    ``coverers`` are the competent coverers of each capability: one that leaves takes its own along.  Champions need no
    check: one leaves only for a newcomer that is better, and none of its inferiors becomes champion.
    """

    def __init__(self, live: LiveSet) -> None:
        self.coverers = list(live.coverers)
        self.leaving: set[str] = set()
        self._capabilities = live.capabilities
        # Combination → its carriers.
        self._carriers = Counter(mask for member in live.members for mask in live.capabilities.carried(member))
        # Entry that leaves because it is displaced → those that displace it.
        self._because: dict[str, tuple[str, ...]] = {}

    def with_newcomer(self, newcomer: Newcomer) -> _Kept:
        """A copy in which ``newcomer`` is present."""
        other = copy(self)
        other.coverers = list(self.coverers)
        for index in bits(newcomer.profile.caps):
            other.coverers[index] += 1
        other.leaving = set(self.leaving)
        other._carriers = self._carriers.copy()
        other._carriers.update(self._capabilities.carried(newcomer.profile))
        other._because = dict(self._because)
        for id in newcomer.displaces.intersection(self.leaving):
            other._because[id] = (*self._because.get(id, ()), newcomer.entry.id)
        return other

    def obstacles(self, profile: Profile) -> Obstacles:
        """What would be lost with ``profile``, champions aside."""
        coverers, floors = self.coverers, self._capabilities.floors
        return Obstacles(
            sum(1 << index for index in bits(profile.caps) if coverers[index] <= floors[index]),
            tuple(mask for mask in profile.combinations if self._carriers[mask] < 2),
        )

    def needs(self, id: str) -> bool:
        """Whether ``id`` is the last that displaces an entry which leaves for that reason."""
        return any(
            id in displacers and all(other == id or other in self.leaving for other in displacers)
            for displacers in self._because.values()
        )

    def lose(self, profile: Profile, displacers: tuple[str, ...]) -> None:
        """Let ``profile`` be one of those that leave, because of its ``displacers`` if it has any."""
        self.leaving.add(profile.id)
        if displacers:
            self._because[profile.id] = displacers
        self._carriers.subtract(self._capabilities.carried(profile))
        for index in bits(profile.caps):
            self.coverers[index] -= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """One eviction for a person to confirm."""

    id: str
    grounds: Grounds
    remaining: Annotated[
        Mapping[str, int],
        Field(description="competent capability: coverers left once all suggestions of the prune are confirmed"),
    ]


def prune(
    residents: Sequence[RatedEntry],
    config: Curation,
    taxonomy_major: int,
    open_suggestions: Collection[str] = (),
    refused: Collection[str] = (),
    stale: Collection[str] = (),
) -> tuple[Suggestion, ...]:
    """The jointly safe evictions among ``residents``, in the order in which they were found safe.

    ``open_suggestions`` are ids already suggested and open; ``refused`` the digests of refused grounds; ``stale`` are
    residents whose scores are not all comparable.  What would be lost with these is unknown, so they stay.
    """
    removals = SafeRemovals(residents, config, taxonomy_major, open_suggestions, stale)
    removals.choose(refused)
    return tuple(
        Suggestion(id=id, grounds=grounds, remaining=removals.remaining(id)) for id, grounds in removals.chosen.items()
    )


def dispensable(
    residents: Sequence[RatedEntry],
    newcomers: Collection[str],
    config: Curation,
    taxonomy_major: int,
    stale: Collection[str] = (),
) -> tuple[str, ...]:
    """The ``newcomers`` among the ``residents`` that prune would remove, until it suggests none of them any more.

    All others stay, and count.  So R keeps every floor, pin and combination, and every champion at or above the bar.
    ``stale`` newcomers stay too: what would be lost with them is unknown.
    """
    left = list(residents)
    gone: list[str] = []
    while True:
        immovable = {item.id for item in left if item.id not in newcomers or item.id in stale}
        found = [item.id for item in prune(left, config, taxonomy_major, stale=immovable)]
        if not found:
            return tuple(gone)
        gone += found
        left = [item for item in left if item.id not in found]

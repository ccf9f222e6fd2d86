"""What the regression set loses when entries leave: floors, combinations and the best tests (pure)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from incumbent.curator.entry import Tombstone
from incumbent.curator.prune import SafeRemovals
from incumbent.curator.roles import EvictionKind, derive_roles
from incumbent.curator.store import RegressionSet
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import RatedEntry
from incumbent.rater.profile import bits
from incumbent.taxonomy.config import Curation
from incumbent.taxonomy.model import Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Competent coverers of one capability before and after entries come or go, and how many there should be."""

    capability: str
    before: int
    after: int
    floor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """What R loses with entries.

    ``shortages`` are capabilities with fewer coverers than their floor once the entries are gone.  No other entry
    carries ``combinations``.  ``best_of`` are capabilities whose champion, at or above the bar, is among the entries.
    """

    shortages: tuple[Coverage, ...]
    combinations: tuple[tuple[str, ...], ...]
    best_of: tuple[str, ...]


def losses(leaving: Collection[str], residents: Sequence[RatedEntry], config: Curation) -> Losses:
    """What R (the ``residents``) loses with those ``leaving``; sorted by capability."""
    live = LiveSet(residents, (), config)
    names, floors = live.capabilities.names, live.capabilities.floors
    going = [member for member in live.members if member.id in leaving]
    staying = [member for member in live.members if member.id not in leaving]
    after = [0] * len(names)
    for member in staying:
        for index in bits(member.caps):
            after[index] += 1
    covered = {index for member in going for index in bits(member.caps)}
    carried = {mask for member in staying for mask in live.capabilities.carried(member)}
    lost = {mask for member in going for mask in member.combinations} - carried
    champions = [(index, champion) for index, champion in enumerate(live.titles) if champion is not None]
    return Losses(
        shortages=tuple(
            Coverage(capability=names[index], before=live.coverers[index], after=after[index], floor=floors[index])
            for index in sorted(covered)
            if after[index] < floors[index]
        ),
        combinations=tuple(sorted(map(live.capabilities.named, lost))),
        best_of=tuple(
            names[index] for index, champion in champions if champion.id in leaving and champion.caps >> index & 1
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """What happens to R when queries leave the eval sets.

    ``entries`` will be suggested for eviction, each with how it lost its source.  ``pinned`` stay, since a person
    pinned them.  ``losses`` is what R loses with ``entries``.
    """

    entries: Mapping[str, EvictionKind]
    pinned: tuple[str, ...]
    losses: Losses


def departure(
    departing: Mapping[str, EvictionKind], known: RegressionSet, taxonomy: Taxonomy, config: Curation
) -> Departure | None:
    """The cost of the entries ``departing`` losing their source; ``None`` if none of them is in R."""
    present = {id: kind for id, kind in sorted(departing.items()) if id in known.entries}
    if not present:
        return None
    pinned = tuple(id for id in present if known.entries[id].pin is not None)
    entries = {id: kind for id, kind in present.items() if id not in pinned}
    residents, _ = known.residents(taxonomy)
    return Departure(entries=entries, pinned=pinned, losses=losses(entries, residents, config))


def lost_since(tombstone: Tombstone, known: RegressionSet, taxonomy: Taxonomy, config: Curation) -> Losses | None:
    """What R lacks without an entry that was evicted as displaced or redundant, if others no longer replace it.

    ``None`` if they still do, if it was evicted on other grounds, or if its scores are no longer comparable.
    """
    kind = (tombstone.evicted.grounds or {}).get("kind")
    id = tombstone.id
    if kind not in (EvictionKind.DISPLACED, EvictionKind.REDUNDANT) or id in known.entries:
        return None
    back = replace(known, entries={**known.entries, id: tombstone.entry})
    residents, stale = back.residents(taxonomy, known.identity)
    if any(item.id == id for item in stale):
        return None
    found = losses({id}, residents, config)
    if id in derive_roles(residents, config).displaced:
        found = replace(found, combinations=())
    return found if found.shortages or found.combinations or found.best_of else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What R would lose if ``id``, which cannot leave safely, left in the place of the waiting query ``admit``.

    ``capabilities`` would fall below their floor.  No other entry carries ``combinations``.
    """

    admit: str
    id: str
    capabilities: tuple[str, ...]
    combinations: tuple[tuple[str, ...], ...]


def least_loss(
    waiting: Sequence[RatedEntry],
    residents: Sequence[RatedEntry],
    config: Curation,
    taxonomy_major: int,
    stale: Collection[str] = (),
    refused: Collection[str] = (),
) -> tuple[Loss, ...]:
    """For each of the ``waiting`` queries the resident with which R would lose least once the query is in.

    That is the one of smallest ΔD, among those that are no sole competent coverer if there are any (semantics, section
    7).  Pinned residents are left out, and so are ``stale`` ones, whose loss is unknown, and those whose eviction
    people ``refused`` (digests of grounds).  Queries that would add nothing to R are left out:
    no entry should leave for them.
    """
    without_refused = SafeRemovals(residents, config, taxonomy_major, (), stale)
    without_refused.choose(refused)
    names = {name for query in waiting for name in query.scores}
    # Nothing is chosen here: the losses are those of the whole R.
    removals = SafeRemovals(residents, config, taxonomy_major, (), stale, names)
    named = removals.live.capabilities.named
    found = []
    for query in waiting:
        newcomer = removals.arriving(query)
        if removals.adds_nothing(newcomer):
            continue
        for id, lost in removals.losses(newcomer).items():
            if id not in without_refused.withheld:
                found.append(
                    Loss(
                        admit=query.id,
                        id=id,
                        capabilities=named(lost.capabilities),
                        combinations=tuple(sorted(map(named, lost.combinations))),
                    )
                )
                break
    return tuple(found)

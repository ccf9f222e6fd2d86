"""Pair coverage: which combinations are possible, which R carries, which are missing, and who could bring them.

A *pair* is a combination of as many capabilities as the option ``novelty`` says, two as shipped (semantics, section 4).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_
from typing import Annotated, Final

from pydantic import Field

from incumbent.rater.model import RatedEntry
from incumbent.rater.profile import Capabilities, Profile, bits_of
from incumbent.taxonomy.config import Curation
from incumbent.taxonomy.model import Taxonomy

NAMED_AGENTS: Final = 5
"""Maximum number of agents that are named for a missing pair."""

RuledOut = Mapping[str, Collection[str]]
"""Agent → the capabilities that its declared specification rules out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPair:
    """A pair that is possible and that no entry carries.

    ``waiting`` are the entries on the waitlist that carry it.
    """

    capabilities: tuple[str, ...]
    agents: Annotated[int, Field(ge=0, description="agents whose declared specification allows it")]
    first_agents: Annotated[tuple[str, ...], Field(description="the first of these agents, by name")]
    waiting: Annotated[tuple[str, ...], Field(description="entries on the waitlist that carry it")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCoverage:
    """How many of the possible pairs R carries.

    ``strength`` is the number of capabilities of a pair.  ``agents`` is the number of declared agents that decide what
    is possible; 0 if the taxonomy alone decides.  ``missing`` are the possible pairs that R does not carry: first those
    that an entry on the waitlist carries, then those with most parts that R covers, then those that most agents could
    bring.  ``unexpected`` pairs are carried although they count as impossible, as after their customer left;
    ``carried`` does not count them.
    """

    strength: Annotated[int, Field(ge=1, le=3, description="capabilities of a pair")]
    agents: Annotated[int, Field(ge=0, description="agents that decide what is possible; 0: the taxonomy alone")]
    possible: Annotated[int, Field(ge=0, description="pairs that a query could carry")]
    carried: Annotated[int, Field(ge=0, description="possible pairs that an entry carries")]
    missing: tuple[MissingPair, ...]
    unexpected: tuple[tuple[str, ...], ...]


def pair_coverage(
    residents: Sequence[RatedEntry],
    waiting: Sequence[RatedEntry],
    taxonomy: Taxonomy,
    config: Curation,
    agents: RuledOut | None = None,
) -> PairCoverage | None:
    """The pair coverage of ``residents``; ``None`` where a combination is a whole signature.

    A pair is possible if the taxonomy allows it, and the declared specification of at least one of ``agents``.  Without
    agents the taxonomy alone decides.  Capabilities that do not combine, and those on trial, are in no pair.
    """
    strength = config.options.novelty
    if strength == "signature":
        return None
    space = _Space.of((*residents, *waiting), taxonomy, config, strength)
    open_to = space.masks(taxonomy, config, agents or {})
    possible = space.possible(_companions(taxonomy, space.capabilities), open_to.values())
    members = [space.profile(item) for item in residents]
    carried = {mask for member in members for mask in space.carried(member)}
    tested = reduce(or_, (member.combined for member in members), 0)
    offered: dict[int, list[str]] = {}
    for item in sorted(waiting, key=lambda item: item.id):
        for mask in space.carried(space.profile(item)):
            offered.setdefault(mask, []).append(item.id)
    alike: dict[int, list[str]] = {}
    for name, allowed in open_to.items() if agents else ():
        alike.setdefault(allowed, []).append(name)
    missing = {}
    for mask in possible - carried:
        able = [names for allowed, names in alike.items() if not mask & ~allowed]
        pair = MissingPair(
            capabilities=space.capabilities.named(mask),
            agents=sum(map(len, able)),
            first_agents=tuple(sorted(name for names in able for name in names[:NAMED_AGENTS])[:NAMED_AGENTS]),
            waiting=tuple(offered.get(mask, ())),
        )
        missing[not pair.waiting, (mask & ~tested).bit_count(), -pair.agents, pair.capabilities] = pair
    return PairCoverage(
        strength=strength,
        agents=len(agents or ()),
        possible=len(possible),
        carried=len(possible & carried),
        missing=tuple(pair for _, pair in sorted(missing.items())),
        unexpected=tuple(sorted(map(space.capabilities.named, carried - possible))),
    )


@dataclass(frozen=True, slots=True)
class PossiblePairs:
    """The pairs that a query could carry, as ``masks``."""

    masks: frozenset[int]
    _space: _Space

    @property
    def named(self) -> frozenset[frozenset[str]]:
        """The capabilities of each of them."""
        return frozenset(frozenset(self._space.capabilities.named(mask)) for mask in self.masks)

    def carried(self, item: RatedEntry) -> frozenset[int]:
        """Those of them that ``item`` carries."""
        return self.masks.intersection(self._space.carried(self._space.profile(item)))


def possible_pairs(
    items: Iterable[RatedEntry], taxonomy: Taxonomy, config: Curation, agents: RuledOut | None = None
) -> PossiblePairs | None:
    """What :func:`pair_coverage` counts as possible where there are these ``items``, and who of them carries it."""
    strength = config.options.novelty
    if strength == "signature":
        return None
    space = _Space.of(items, taxonomy, config, strength)
    open_to = space.masks(taxonomy, config, agents or {})
    return PossiblePairs(space.possible(_companions(taxonomy, space.capabilities), open_to.values()), space)


@dataclass(frozen=True, slots=True)
class _Space:
    """All pairs of ``strength`` capabilities, as masks."""

    capabilities: Capabilities
    strength: int

    @classmethod
    def of(cls, items: Iterable[RatedEntry], taxonomy: Taxonomy, config: Curation, strength: int) -> _Space:
        """The pairs of the capabilities of the taxonomy and of ``items``."""
        names = set(taxonomy.by_id).union(*(item.scores for item in items))
        return cls(Capabilities(names, config), strength)

    def profile(self, item: RatedEntry) -> Profile:
        return self.capabilities.profile(item.id, item.turns, item.scores)

    def carried(self, profile: Profile) -> Iterator[int]:
        """The pairs that ``profile`` carries; smaller combinations are no pairs."""
        return (mask for mask in profile.combinations if mask.bit_count() == self.strength)

    def masks(self, taxonomy: Taxonomy, config: Curation, agents: RuledOut) -> dict[str, int]:
        """Agent, in the order of names → the combinable capabilities that it allows; one entry without agents."""
        index = self.capabilities.index
        everything = self.capabilities.combinable(
            sum(1 << index[name] for name in taxonomy.by_id if name not in config.trial)
        )
        return {
            name: everything & ~sum(1 << index[each] for each in set(ruled_out) if each in index)
            for name, ruled_out in sorted((agents or {"": ()}).items())
        }

    def possible(self, companions: Mapping[int, int], masks: Iterable[int]) -> frozenset[int]:
        """The pairs of capabilities that are ``companions`` of each other, within at least one of ``masks``."""
        return _possible(frozenset(companions.items()), frozenset(masks), self.strength)


# One page asks for the same pairs several times: of now, and of each day in the past.
@lru_cache(maxsize=2)
def _possible(companions: frozenset[tuple[int, int]], masks: frozenset[int], strength: int) -> frozenset[int]:
    distinct = sorted(masks)
    return frozenset(_grown(0, reduce(or_, distinct), distinct, strength, dict(companions)))


def _grown(mask: int, free: int, within: Sequence[int], lacking: int, companions: Mapping[int, int]) -> Iterator[int]:
    """``mask`` with ``lacking`` more bits of ``free``, each a companion of the others, inside one of ``within``."""
    if not lacking:
        yield mask
        return
    for bit in bits_of(free):
        holding = [each for each in within if each & bit]
        # Only higher bits follow, so each pair is found once.
        higher = free & companions[bit] & ~((bit << 1) - 1)
        if holding and companions[bit] & bit:
            yield from _grown(mask | bit, higher, holding, lacking - 1, companions)


def _companions(taxonomy: Taxonomy, capabilities: Capabilities) -> dict[int, int]:
    """Bit of a capability → the capabilities that one query can exercise together with it, itself included.

    Two capabilities exclude each other if they are, or require, different members of one ``exactly-one`` group.
    """
    # Members on trial take no part in groups.
    groups = {item.id: group for group, items in taxonomy.exactly_one.items() for item in items if not item.trial}
    choices = {
        1 << capabilities.index[name]: frozenset(
            (groups[each], each) for each in _needed(name, taxonomy) & groups.keys()
        )
        for name in taxonomy.by_id
    }
    return {
        bit: sum(other for other, theirs in choices.items() if _is_one_each(own | theirs))
        for bit, own in choices.items()
    }


def _needed(name: str, taxonomy: Taxonomy) -> set[str]:
    """The capability ``name`` and all that it requires, directly or not."""
    found: set[str] = set()
    step: str | None = name
    while step is not None and step not in found:
        found.add(step)
        step = taxonomy.by_id[step].requires
    return found


def _is_one_each(choices: frozenset[tuple[str, str]]) -> bool:
    """Whether ``choices``, each a group and a member of it, have one member of each group."""
    return len({group for group, _ in choices}) == len(choices)

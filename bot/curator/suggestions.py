"""What people are asked to confirm: evictions and, at the ceiling, swaps (semantics, section 7; pure).

Any subset of the suggestions made at one time, confirmed in any order, leaves every floor and every person's pin
intact.  The exception are entries whose source is gone: the person who confirms weighs what is lost.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from bot.config import Curation
from bot.consolidator.cycle import run_cycle
from bot.curator.admission import Swap, suggest_swaps
from bot.curator.entry import Entry, Evicted
from bot.curator.prune import EvictionKind, Grounds, Suggestion, prune
from bot.curator.roles import Roles, derive_roles
from bot.curator.staging import queued
from bot.curator.store import RegressionSet
from bot.rater.model import RatedEntry
from bot.taxonomy.model import Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapSuggestion:
    """Admit the waiting entry ``admit`` and remove ``evictions`` together."""

    admit: str
    evictions: tuple[Suggestion, ...]
    digest: str

    @property
    def swap(self) -> Swap:
        """The swap by ids."""
        return Swap(admit=self.admit, remove=tuple(item.id for item in self.evictions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestions:
    """The possible evictions and swaps at one time, most urgent first.

    ``refused`` are the digests of refusals that hold a suggestion back; ``roles`` are the live ones of R.
    """

    roles: Roles
    swaps: tuple[SwapSuggestion, ...]
    evictions: tuple[Suggestion, ...]
    refused: frozenset[str]


def suggest(
    known: RegressionSet,
    taxonomy: Taxonomy,
    config: Curation,
    departed: Mapping[str, EvictionKind] = MappingProxyType({}),
    open_suggestions: Collection[str] = (),
    refused: Collection[str] = (),
    undone: Mapping[str, int] = MappingProxyType({}),
) -> Suggestions:
    """All evictions and swaps that could be suggested for R now.

    ``departed`` are entries whose source is gone, and how; ``undone`` those whose admission a person wants undone, with
    that person's comment.  These are suggested whatever would be lost, unless a person pinned them.
    ``open_suggestions`` are ids that are suggested already; ``refused`` digests of refused grounds.  Prune's
    suggestions are safe whether or not the departed and swapped entries go.
    """
    residents, lags = known.residents(taxonomy)
    lagging = {lag.id for lag in lags}
    by_id = {resident.id: resident for resident in residents}
    roles = derive_roles(residents, config)
    refused = known.restored.union(refused)
    kinds = {**departed, **dict.fromkeys(undone, EvictionKind.UNDONE)}

    def urgency(item: tuple[str, EvictionKind]) -> tuple[bool, bool, str]:
        return (item[0] not in undone, item[0] not in open_suggestions, item[0])

    gone = {
        id: Grounds.on(by_id[id], kind, (), taxonomy.major, undone.get(id))
        for id, kind in sorted(kinds.items(), key=urgency)
        if id in by_id and by_id[id].pin is None
    }
    staying = tuple(resident for resident in residents if resident.id not in gone)
    holding: set[str] = {grounds.digest for grounds in gone.values()}.intersection(refused)

    def removal(admit: str, remove: Sequence[str]) -> dict[str, Grounds]:
        return {id: Grounds.on(by_id[id], EvictionKind.DISPLACED, (admit,), taxonomy.major) for id in remove}

    def may_swap(admit: str, remove: Sequence[str]) -> bool:
        if not by_id.keys() >= set(remove):
            return False  # It would displace an entry of the waitlist.
        digest = _swap_digest(known.waiting[admit], removal(admit, remove))
        if digest in refused:
            holding.add(digest)
        return digest not in refused

    swaps = []
    for swap in swaps_of(known, residents, staying, taxonomy, config, lagging, may_swap):
        removed = removal(swap.admit, swap.remove)
        swaps.append((swap, removed, _swap_digest(known.waiting[swap.admit], removed)))
    swapped = {id for _, removed, _ in swaps for id in removed}
    rest = tuple(resident for resident in staying if resident.id not in swapped)
    pruning = free = prune(rest, config, taxonomy.major, open_suggestions, (), lagging)
    held = {item.grounds.digest for item in free.suggestions}.intersection(refused)
    if held:
        holding |= held
        pruning = prune(rest, config, taxonomy.major, open_suggestions, refused, lagging)
    leaving = {*gone, *swapped, *(item.id for item in pruning.suggestions)}
    left = derive_roles([resident for resident in residents if resident.id not in leaving], config)

    def suggestion(id: str, grounds: Grounds) -> Suggestion:
        caps = [name for name, ids in sorted(roles.coverers.items()) if id in ids]
        return Suggestion(id=id, grounds=grounds, remaining={name: len(left.coverers.get(name, ())) for name in caps})

    return Suggestions(
        roles=roles,
        swaps=tuple(
            SwapSuggestion(
                admit=swap.admit,
                evictions=tuple(suggestion(id, grounds) for id, grounds in removed.items()),
                digest=digest,
            )
            for swap, removed, digest in swaps
        ),
        evictions=(
            *(suggestion(id, grounds) for id, grounds in gone.items() if grounds.digest not in refused),
            *pruning.suggestions,
        ),
        refused=frozenset(holding),
    )


def also_safe(suggestions: Suggestions, others: Suggestions) -> Suggestions:
    """Those of ``suggestions`` that are also among ``others``, which were made for another set."""
    swaps = {item.swap for item in others.swaps}
    ids = {item.id for item in others.evictions}
    return replace(
        suggestions,
        swaps=tuple(item for item in suggestions.swaps if item.swap in swaps),
        evictions=tuple(item for item in suggestions.evictions if item.id in ids),
    )


def swaps_of(
    known: RegressionSet,
    residents: Sequence[RatedEntry],
    present: Sequence[RatedEntry],
    taxonomy: Taxonomy,
    config: Curation,
    lagging: Collection[str],
    allowed: Callable[[str, Sequence[str]], bool] = lambda admit, remove: True,
) -> tuple[Swap, ...]:
    """The swaps for entries of the waitlist when R (``residents``) has no free slot, each safe in ``present``.

    ``allowed`` decides whether a swap of these ids may be suggested.
    """
    if len(residents) < config.ceiling:
        return ()
    queries = {id: queued(entry, taxonomy) for id, entry in known.waiting.items()}
    verdicts = run_cycle(tuple(queries.values()), residents, config)
    earning = [item for item in verdicts if item.admitted or known.waiting[item.id].is_wanted]
    pairs = [(queries[item.id], item) for item in earning if allowed(item.id, item.displaces)]
    return suggest_swaps(pairs, present, config, lagging)


def evicted_on(grounds: Grounds) -> Evicted:
    """The eviction record of an entry that is suggested on ``grounds``; the confirmation is filled in later."""
    reasons = {
        EvictionKind.DISPLACED: f"displaced by {', '.join(grounds.yields_to)}",
        EvictionKind.REDUNDANT: "redundant: others cover all that it covers",
        EvictionKind.SOURCE_DELETED: "its query is in no eval set any more",
        EvictionKind.CUSTOMER_LEFT: "its customer has no eval set any more",
        EvictionKind.UNDONE: "its admission was taken back",
    }
    return Evicted(reason=reasons[grounds.kind], grounds=grounds.told)


def _swap_digest(admit: Entry, removed: Mapping[str, Grounds]) -> str:
    seen = [admit.id, admit.turns, [grounds.digest for grounds in removed.values()]]
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:16]

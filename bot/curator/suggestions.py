"""What people are asked to confirm: evictions, repacks and, at the ceiling, swaps (semantics, section 7; pure).

Any subset of the suggestions made at one time, confirmed in any order, leaves every floor and every person's pin
intact.  The exception are entries whose source is gone: the person who confirms weighs what is lost.

In a swap or a repack one query enters in the place of the entries that it frees.  A swap is for a query that waits at
the ceiling.  A repack looks back at a query that was excluded once, and that could now do the work of several entries.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from pydantic import JsonValue

from bot.config import Curation
from bot.consolidator.cycle import run_cycle
from bot.consolidator.verdict import Verdict
from bot.curator import file_changes as changes
from bot.curator.entry import Entry, Evicted
from bot.curator.prune import SafeRemovals, Suggestion
from bot.curator.roles import EvictionKind, Grounds, Roles, derive_roles
from bot.curator.staging import AuditStamp, Staging, as_entering, queued
from bot.curator.store import RegressionSet
from bot.rater.model import RatedEntry
from bot.taxonomy.model import Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapSuggestion:
    """A swap or a repack: admit ``entering``, as its verdict is now, and remove ``evictions`` together."""

    entering: Entry
    evictions: tuple[Suggestion, ...]
    digest: str

    @property
    def swap(self) -> Swap:
        """The swap by ids."""
        return Swap(admit=self.entering.id, remove=tuple(item.id for item in self.evictions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestions:
    """The possible evictions, swaps and repacks at one time, most urgent first.

    ``refused`` are the digests of refusals that hold a suggestion back; ``roles`` are the live ones of R.
    """

    roles: Roles
    swaps: tuple[SwapSuggestion, ...]
    repacks: tuple[SwapSuggestion, ...]
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
    archived: Mapping[str, Entry] = MappingProxyType({}),
) -> Suggestions:
    """All evictions and swaps that could be suggested for R now, and the repacks by ``archived`` entries.

    ``departed`` are entries whose source is gone, and how; ``undone`` those whose admission a person wants undone, with
    that person's comment.  These are suggested whatever would be lost, unless a person pinned them.
    ``open_suggestions`` are ids that are suggested already, of R, of the waitlist or archived; ``refused`` digests of
    refused grounds.  ``archived`` are queries that were excluded, as entries by id.  Prune's suggestions, swaps and
    repacks are safe whether or not the departed entries go.
    """
    residents, stale = known.residents(taxonomy)
    stale_ids = {item.id for item in stale}
    by_id = {resident.id: resident for resident in residents}
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

    excess = len(residents) - config.ceiling
    able = earning(known, residents, taxonomy, config) if known.waiting and excess >= 0 else ()
    newcomers = newcomers_of(able, known, taxonomy)
    looked_back = _comparable(archived, known, taxonomy)
    names = {name for query in looked_back for name in query.scores}
    names |= {name for newcomer in newcomers.values() for name in newcomer.scores}
    # What is open of a newcomer is that it enters, not that it goes.
    to_go = by_id.keys() & set(open_suggestions)
    removals = SafeRemovals(staying, config, taxonomy.major, to_go, stale_ids, names)
    removals.choose(refused)
    roles = derive_roles(residents, config) if gone else removals.roles
    holding |= {grounds.digest for grounds in removals.withheld.values()}

    def may_enter(entry: Entry, freed: Freed) -> bool:
        digest = _swap_digest(entry, freed)
        if digest in refused:
            holding.add(digest)
        return digest not in refused

    swaps: dict[str, Freed] = {}
    for is_open in (True, False):
        # A swap that is open stays, even if others came to the waitlist since.
        line = [query for query in newcomers.values() if (query.id in open_suggestions) is is_open]
        chosen = choose_swaps(line, removals, excess, lambda admit, freed: may_enter(known.waiting[admit], freed))
        swaps |= {query.id: freed for query, freed in chosen}
    verdicts: dict[str, Verdict] = {}

    def may_repack(admit: str, freed: Freed) -> bool:
        # Earlier repacks free other entries, but are not in this R: people may merge this one alone.  Where they merge
        # a near-clone first, this one has no merit any more: the next run closes it.
        without = [resident for resident in residents if resident.id not in freed]
        (verdicts[admit],) = run_cycle([queued(archived[admit], taxonomy)], without, config)
        return verdicts[admit].decision.admits

    most = config.limits.open_repacks
    repacks: dict[str, Freed] = {}
    for is_open in (True, False):
        # What is open stays, even if others would save more by now.
        some = [query for query in looked_back if (query.id in open_suggestions) is is_open]
        found = choose_repacks(
            some, removals, most - len(repacks), may_repack, lambda admit, freed: not may_enter(archived[admit], freed)
        )
        repacks |= {query.id: freed for query, freed in found}
    entries = {entry.id: entry for entry in able}
    entries |= {id: as_entering(archived[id], verdicts[id]) for id in repacks}
    freed_by = {**swaps, **repacks}
    leaving = {*gone, *removals.chosen, *(id for freed in freed_by.values() for id in freed)}
    left = [resident for resident in residents if resident.id not in leaving]
    newcomers |= {query.id: query for query in looked_back}
    coverers = derive_roles([*left, *(newcomers[id] for id in freed_by)], config).coverers

    remaining: dict[str, dict[str, int]] = {id: {} for id in by_id}
    for name, ids in sorted(roles.coverers.items()):
        for id in ids:
            remaining[id][name] = len(coverers.get(name, ()))

    def suggestion(id: str, grounds: Grounds) -> Suggestion:
        return Suggestion(id=id, grounds=grounds, remaining=remaining[id])

    def exchange(id: str) -> SwapSuggestion:
        return SwapSuggestion(
            entering=entries[id],
            evictions=tuple(suggestion(each, grounds) for each, grounds in freed_by[id].items()),
            digest=_swap_digest(entries[id], freed_by[id]),
        )

    return Suggestions(
        roles=roles,
        swaps=tuple(map(exchange, swaps)),
        repacks=tuple(map(exchange, repacks)),
        evictions=(
            *(suggestion(id, grounds) for id, grounds in gone.items() if grounds.digest not in refused),
            *(suggestion(id, grounds) for id, grounds in removals.chosen.items()),
        ),
        refused=frozenset(holding),
    )


def also_safe(suggestions: Suggestions, others: Suggestions) -> Suggestions:
    """Those of ``suggestions`` that are also among ``others``, which were made for another set."""
    swaps = {item.digest for item in (*others.swaps, *others.repacks)}
    ids = {item.id for item in others.evictions}
    return replace(
        suggestions,
        swaps=tuple(item for item in suggestions.swaps if item.digest in swaps),
        repacks=tuple(item for item in suggestions.repacks if item.digest in swaps),
        evictions=tuple(item for item in suggestions.evictions if item.id in ids),
    )


def earning(
    known: RegressionSet, residents: Sequence[RatedEntry], taxonomy: Taxonomy, config: Curation
) -> tuple[Entry, ...]:
    """The entries of the waitlist that still earn a slot in R (the ``residents``), as they would enter now; in the
    cycle's order.
    """
    waiting = known.waiting
    verdicts = run_cycle([queued(entry, taxonomy) for entry in waiting.values()], residents, config)
    return tuple(
        as_entering(waiting[verdict.id], verdict)
        for verdict in verdicts
        if verdict.admitted or waiting[verdict.id].is_wanted
    )


def newcomers_of(waiting: Sequence[Entry], known: RegressionSet, taxonomy: Taxonomy) -> dict[str, RatedEntry]:
    """The entries ``waiting`` as the rater sees them, in this order; without stale ones, since it is not known what
    they would bring.
    """
    rated, stale = known.in_line(taxonomy)
    stale_ids = {item.id for item in stale}
    by_id = {entry.id: entry for entry in rated}
    return {
        entry.id: replace(by_id[entry.id], displaces=entry.admitted.displaces)
        for entry in waiting
        if entry.id not in stale_ids
    }


def _comparable(archived: Mapping[str, Entry], known: RegressionSet, taxonomy: Taxonomy) -> list[RatedEntry]:
    """``archived`` entries as the rater sees them, without those whose scores are not all comparable with R's."""
    rated = [known.rated(entry, taxonomy, known.identity) for entry in archived.values()]
    return [query for query, item in rated if item is None]


def confirm_swaps(swaps: Sequence[SwapSuggestion], known: RegressionSet, occasion: AuditStamp) -> Staging:
    """The ``swaps`` and repacks of R as a person confirms them, in one change."""
    admitted = tuple(
        item.entering.model_copy(
            update={"admitted": item.entering.admitted.model_copy(update={"at": occasion.at})},
        )
        for item in swaps
    )
    planned: list[changes.FileChange] = []
    for item, entry in zip(swaps, admitted, strict=True):
        planned.append(changes.admit(entry))
        if entry.id in known.waiting:
            planned.append(changes.stop_waiting(entry.id))
        for eviction in item.evictions:
            evicted = evicted_on(eviction.grounds).model_copy(update={"at": occasion.at, "by": occasion.by})
            planned += changes.evict(known.entries[eviction.id], evicted)
    return Staging(admitted=admitted, waiting=(), file_changes=tuple(planned))


def evicted_on(grounds: Grounds, group: str | None = None) -> Evicted:
    """The eviction record of an entry that is suggested on ``grounds``; the confirmation is filled in later.

    ``group`` is the group in which it is suggested: by it the pull request is found that was merged.
    """
    beside = "" if grounds.freed_by is None else f", with {grounds.freed_by}"
    reasons = {
        EvictionKind.DISPLACED: f"displaced by {', '.join(grounds.yields_to)}",
        EvictionKind.REDUNDANT: f"redundant: others cover all that it covers{beside}",
        EvictionKind.SOURCE_DELETED: "its query is in no eval set any more",
        EvictionKind.CUSTOMER_LEFT: "its customer has no eval set any more",
        EvictionKind.UNDONE: "its admission was taken back",
    }
    within: dict[str, JsonValue] = {} if group is None else {"group": group}
    return Evicted(reason=reasons[grounds.kind], grounds={**grounds.recorded, **within})


def _swap_digest(admit: Entry, removed: Mapping[str, Grounds]) -> str:
    seen = [admit.id, admit.turns, sorted(grounds.digest for grounds in removed.values())]
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """Admit ``admit`` and remove ``remove`` together, as a swap or a repack; a person confirms it."""

    admit: str
    remove: tuple[str, ...]


Freed = Mapping[str, Grounds]
"""Residents that a newcomer frees → the grounds on which they would leave."""


def choose_repacks(
    archived: Sequence[RatedEntry],
    removals: SafeRemovals,
    most: int,
    allowed: Callable[[str, Freed], bool] = lambda admit, freed: True,
    refused: Callable[[str, Freed], bool] = lambda admit, freed: False,
) -> Iterator[tuple[RatedEntry, Freed]]:
    """At most ``most`` repacks by ``archived`` queries, each with what it frees; all are safe with the ``removals``.

    A query must free two entries.  The most entries come first, then the greatest ΔD of the exchange, the lowest cost
    of the query's set-up, and the smallest id.  Each is derived with the earlier ones applied.  ``allowed`` decides
    whether a repack may be suggested.  One that people ``refused`` is not made with less either, once others are
    applied.
    """
    newcomers = [removals.arriving(query) for query in sorted(archived, key=lambda query: query.id)]
    for _ in range(most):
        found = [(newcomer, freed) for newcomer in newcomers if (freed := removals.freed(newcomer))]
        held = {newcomer.entry.id for newcomer, freed in found if refused(newcomer.entry.id, freed)}
        newcomers = [newcomer for newcomer in newcomers if newcomer.entry.id not in held]
        ranked = sorted(
            [item for item in found if item[0].entry.id not in held and len(item[1]) > 1],
            key=lambda item: (-len(item[1]), -removals.exchange(*item), item[0].entry.setup_cost),
        )
        for newcomer, freed in ranked:
            if allowed(newcomer.entry.id, freed):
                break
        else:
            return
        removals.swap(newcomer, freed)
        newcomers.remove(newcomer)
        yield newcomer.entry, freed


def choose_swaps(
    waiting: Sequence[RatedEntry],
    removals: SafeRemovals,
    excess: int,
    allowed: Callable[[str, Freed], bool] = lambda admit, freed: True,
) -> Iterator[tuple[RatedEntry, Freed]]:
    """The swaps for ``waiting`` queries, each with what it frees; all are safe with the ``removals``.

    The greatest ΔD of the exchange comes first, then the order of ``waiting``.  Each is derived with the earlier ones
    applied, and goes into ``removals``.  ``excess`` is by how many entries R exceeds its ceiling: no swap may leave it
    above.  ``allowed`` decides whether a swap may be suggested.  One that may not is not made with less either.
    """
    newcomers = {query.id: removals.arriving(query) for query in waiting}
    while True:
        found = {id: removals.freed(newcomer) for id, newcomer in newcomers.items()}
        found = {id: freed for id, freed in found.items() if freed and len(freed) > excess}
        for held in [id for id, freed in found.items() if not allowed(id, freed)]:
            del found[held], newcomers[held]
        if not found:
            return
        best = max(found, key=lambda id: removals.exchange(newcomers[id], found[id]))
        newcomer, freed = newcomers.pop(best), found[best]
        removals.swap(newcomer, freed)
        yield newcomer.entry, freed

"""What people are asked to confirm: evictions, repacks and, at the ceiling, swaps (semantics, section 7; pure).

Any subset of the suggestions made at one time, confirmed in any order, leaves every floor and every person's pin
intact, if an exchange follows those on which it rests (:mod:`incumbent.curator.exchanges`).  The exception are entries
whose source is gone: the person who confirms weighs what is lost.

In a swap or a repack one query enters in the place of the entries that it frees.  A swap is for a query that waits at
the ceiling.  A repack looks back at a query that was excluded once, and that could now do the work of several entries.
A top-up lets such a query into a free slot, since it raises expected detection (option ``fill_to``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from pydantic import JsonValue

from incumbent.consolidator.cycle import run_cycle
from incumbent.consolidator.verdict import Reason, Verdict
from incumbent.curator import file_changes as changes
from incumbent.curator.entry import Entry, Evicted
from incumbent.curator.exchanges import Exchange, Exchanges, Freed
from incumbent.curator.prune import SafeRemovals, Suggestion
from incumbent.curator.roles import EvictionKind, Grounds, Roles, derive_roles
from incumbent.curator.staging import AuditStamp, Staging, as_entering, first_place, queued
from incumbent.curator.store import RegressionSet
from incumbent.rater.model import RatedEntry
from incumbent.taxonomy.config import Curation
from incumbent.taxonomy.model import Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapSuggestion:
    """A swap or a repack: admit ``entering``, as its verdict is now, and remove ``evictions`` together.

    A top-up has no ``evictions``.  ``gain`` is ΔD of the exchange.  It rests on the exchanges that admit ``rests_on``.
    """

    entering: Entry
    evictions: tuple[Suggestion, ...]
    digest: str
    gain: float
    rests_on: tuple[str, ...] = ()

    @property
    def swap(self) -> Swap:
        """The swap by ids."""
        return Swap(admit=self.entering.id, remove=tuple(item.id for item in self.evictions), rests_on=self.rests_on)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestions:
    """The possible evictions, swaps, repacks and top-ups at one time, most urgent first.

    ``refused`` are the digests of refusals that hold a suggestion back; ``roles`` are the live ones of R.
    """

    roles: Roles
    swaps: tuple[SwapSuggestion, ...]
    repacks: tuple[SwapSuggestion, ...]
    top_ups: tuple[SwapSuggestion, ...]
    evictions: tuple[Suggestion, ...]
    refused: frozenset[str]

    @property
    def exchanges(self) -> tuple[SwapSuggestion, ...]:
        """All suggestions that admit something."""
        return (*self.swaps, *self.repacks, *self.top_ups)


def suggest(
    known: RegressionSet,
    taxonomy: Taxonomy,
    config: Curation,
    departed: Mapping[str, EvictionKind] = MappingProxyType({}),
    open_suggestions: Collection[str] = (),
    refused: Collection[str] = (),
    undone: Mapping[str, int] = MappingProxyType({}),
    archived: Mapping[str, Entry] = MappingProxyType({}),
    within: Collection[str] | None = None,
) -> Suggestions:
    """All evictions and swaps that could be suggested for R now, and repacks and top-ups by ``archived`` entries.

    ``departed`` are entries whose source is gone, and how; ``undone`` those whose admission a person wants undone, with
    that person's comment.  These are suggested whatever would be lost, unless a person pinned them.
    ``open_suggestions`` are ids that are suggested already, of R, of the waitlist or archived; ``refused`` digests of
    refused grounds.  ``archived`` are queries that were excluded, as entries by id.  Prune's suggestions, swaps and
    repacks are safe whether or not the departed entries go.  While R has no more entries than the option ``fill_to``
    asks for, there are top-ups and no repacks.  ``within``: only these ids are admitted, as if there were no others.
    """
    residents, stale = known.residents(taxonomy)
    # What lost a split capability stays until its parts count, as a stale one does.
    stale_ids = {item.id for item in stale} | known.kept_on_trial(taxonomy).keys()
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
    if within is not None:
        able = tuple(entry for entry in able if entry.id in within)
        archived = {id: entry for id, entry in archived.items() if id in within}
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

    def open_first(queries: Iterable[RatedEntry]) -> tuple[list[RatedEntry], list[RatedEntry]]:
        """``queries`` in two lines: what is open stays, even if others came since or would bring more by now."""
        line = list(queries)
        return (
            [query for query in line if query.id in open_suggestions],
            [query for query in line if query.id not in open_suggestions],
        )

    exchanges = Exchanges(removals, None if config.filled is None else config.filled - len(gone))
    swaps: list[Exchange] = []
    for line in open_first(newcomers.values()):
        swaps += exchanges.swaps(line, excess, lambda admit, freed: may_enter(known.waiting[admit], freed))
    verdicts: dict[str, Verdict] = {}

    def judged(admit: str, freed: Freed) -> Verdict:
        """The verdict on an archived query, with the exchanges so far applied and without what it frees."""
        going = freed.keys() | {id for item in exchanges.made for id in item.freed}
        present = [item for item in residents if item.id not in going] + [item.query for item in exchanges.made]
        (verdicts[admit],) = run_cycle([queued(archived[admit], taxonomy)], present, config)
        return verdicts[admit]

    repacks: list[Exchange] = []
    for line in open_first(looked_back):
        repacks += exchanges.repacks(
            line,
            config.limits.open_repacks - len(repacks),
            lambda admit, freed: judged(admit, freed).decision.admits,
            lambda admit, freed: not may_enter(archived[admit], freed),
        )
    top_ups: list[Exchange] = []
    taken = {item.query.id for item in repacks}
    for line in open_first(query for query in looked_back if query.id not in taken):
        top_ups += exchanges.top_ups(
            line,
            config.limits.open_top_ups - len(top_ups),
            lambda admit: may_enter(archived[admit], {}) and Reason.CLONE not in judged(admit, {}).reasons,
        )
    entries = {entry.id: entry for entry in able}
    entries |= {id: as_entering(archived[id], verdicts[id]) for id in (item.query.id for item in repacks)}
    entries |= {id: _topping_up(as_entering(archived[id], verdicts[id])) for id in (item.query.id for item in top_ups)}
    leaving = {*gone, *removals.chosen, *(id for item in exchanges.made for id in item.freed)}
    staying = tuple(resident for resident in residents if resident.id not in leaving)
    coverers = derive_roles([*staying, *(item.query for item in exchanges.made)], config).coverers

    remaining: dict[str, dict[str, int]] = {id: {} for id in by_id}
    for name, ids in sorted(roles.coverers.items()):
        for id in ids:
            remaining[id][name] = len(coverers.get(name, ()))

    def suggestion(id: str, grounds: Grounds) -> Suggestion:
        return Suggestion(id=id, grounds=grounds, remaining=remaining[id])

    def exchange(item: Exchange) -> SwapSuggestion:
        entry = entries[item.query.id]
        return SwapSuggestion(
            entering=entry,
            evictions=tuple(suggestion(each, grounds) for each, grounds in item.freed.items()),
            digest=_swap_digest(entry, item.freed),
            gain=item.gain,
            rests_on=item.rests_on,
        )

    return Suggestions(
        roles=roles,
        swaps=tuple(map(exchange, swaps)),
        repacks=tuple(map(exchange, repacks)),
        top_ups=tuple(map(exchange, top_ups)),
        evictions=(
            *(suggestion(id, grounds) for id, grounds in gone.items() if grounds.digest not in refused),
            *(suggestion(id, grounds) for id, grounds in removals.chosen.items()),
        ),
        refused=frozenset(holding),
    )


TOP_UP: Final = "it raises expected detection"
"""The reason that is recorded for admitting by a top-up what the verdict excludes."""


def _topping_up(entry: Entry) -> Entry:
    return entry.model_copy(update={"admitted": entry.admitted.model_copy(update={"override": TOP_UP})})


def also_safe(suggestions: Suggestions, others: Suggestions) -> Suggestions:
    """Those of ``suggestions`` that are also among ``others``, which were made for another set."""
    digests = {item.digest for item in others.exchanges}
    ids = {item.id for item in others.evictions}
    kept: dict[str, SwapSuggestion] = {}
    for item in suggestions.exchanges:
        if item.digest in digests and kept.keys() >= set(item.rests_on):
            kept[item.entering.id] = item

    def both(some: Sequence[SwapSuggestion]) -> tuple[SwapSuggestion, ...]:
        return tuple(item for item in some if item.entering.id in kept)

    return replace(
        suggestions,
        swaps=both(suggestions.swaps),
        repacks=both(suggestions.repacks),
        top_ups=both(suggestions.top_ups),
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
    """The ``swaps``, repacks and top-ups of R as a person confirms them, in one change."""
    place = first_place([(item.admitted.at, item.admitted.order) for item in known.entries.values()], occasion.at)
    admitted = tuple(
        item.entering.model_copy(
            update={"admitted": item.entering.admitted.model_copy(update={"at": occasion.at, "order": place})},
        )
        for place, item in enumerate(swaps, place)
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
    """Admit ``admit`` and remove ``remove`` together, as a swap or a repack; a person confirms it.

    A top-up removes none.  It is to be confirmed together with, or after, the swaps that admit those on which it
    ``rests_on``; without them it is derived again.
    """

    admit: str
    remove: tuple[str, ...]
    rests_on: tuple[str, ...] = ()

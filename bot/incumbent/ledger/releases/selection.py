"""Which part of the set to run: the most coverage, and the most that ever failed, for a budget (pure).

What counts are *goals*: each capability, each combination, and each entry that ever failed.  The worth of a part is the
sum of three shares: of the capabilities that it covers, of the combinations that it carries, and of those entries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import fsum, inf
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from incumbent.ledger.releases.history import EntryHistory
from incumbent.text.compare import rounded

Measure: TypeAlias = Literal["seconds", "cost"]
Kind: TypeAlias = Literal["capability", "combination", "failure"]
Goal: TypeAlias = tuple[Kind, tuple[str, ...]]
"""Its kind, and the names of the capabilities, or the id of the entry that failed."""

MEASURES: Final[tuple[Measure, ...]] = ("seconds", "cost")
KINDS: Final[tuple[Kind, ...]] = ("capability", "combination", "failure")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnableEntry:
    """An entry that can be run.

    ``capabilities`` are those that it covers, ``combinations`` those that it carries; ``price`` is what a run takes of
    the budget, at least 0; ``failure_rate`` the expected share of releases in which it fails.
    """

    id: str
    capabilities: frozenset[str]
    combinations: frozenset[tuple[str, ...]]
    price: float
    failed: bool
    failure_rate: float

    def goals(self, changed: Collection[str] | None) -> frozenset[Goal]:
        """What a run of it is worth running for; if only some capabilities have ``changed``, what has one of them."""
        touched = changed is None or not self.capabilities.isdisjoint(changed)
        found: set[Goal] = {("capability", (name,)) for name in self.capabilities if changed is None or name in changed}
        found |= {
            ("combination", names)
            for names in self.combinations
            if changed is None or any(name in changed for name in names)
        }
        if self.failed and touched:
            found.add(("failure", (self.id,)))
        return frozenset(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptGoals:
    """How many of the goals of one ``kind`` a part keeps."""

    kind: Kind
    kept: Annotated[int, Field(ge=0)]
    total: Annotated[int, Field(ge=0, description="those of all entries that can be run")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPart:
    """The chosen part of the set."""

    ids: Annotated[tuple[str, ...], Field(description="the chosen entries, sorted")]
    price: Annotated[float, Field(ge=0, description="what a run of them takes")]
    whole: Annotated[float, Field(ge=0, description="what a run of all would take")]
    goals: tuple[KeptGoals, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTotal:
    """What a run of all entries takes, as past runs show it."""

    measure: Measure
    total: Annotated[float, Field(ge=0)]
    estimated: Annotated[
        int, Field(ge=0, description="entries that no run measured: they count as the mean of the others")
    ]


def choose_part(
    entries: Sequence[RunnableEntry], budget: float | None = None, changed: Collection[str] | None = None
) -> RunPart:
    """The part of ``entries`` to run for a ``budget`` (``None``: without limit), where ``changed`` capabilities count
    alone (``None``: all).

    Greedy by worth for its price, or the best single entry where that is worth more: at least 0.31 of the best possible
    worth (Khuller, Moss and Naor, The budgeted maximum coverage problem, 1999).  What is left of the budget goes to
    entries by their expected failures for the price, unless only ``changed`` ones count.
    """
    goals = {item.id: item.goals(changed) for item in entries}
    totals = Counter(kind for kind, _ in frozenset().union(*goals.values()))
    limit = inf if budget is None else budget
    by_id = {item.id: item for item in entries}
    chosen = _greedy(by_id, goals, totals, limit)
    single = min(
        (item for item in entries if item.price <= limit),
        key=lambda item: (-_worth(goals[item.id], totals), item.id),
        default=None,
    )
    covered = frozenset[Goal]().union(*(goals[id] for id in chosen))
    if single is not None and _worth(goals[single.id], totals) > _worth(covered, totals):
        chosen = {single.id}
    if budget is not None and changed is None:
        chosen |= _filled(entries, chosen, budget)
    kept = Counter(kind for kind, _ in frozenset[Goal]().union(*(goals[id] for id in chosen)))
    return RunPart(
        ids=tuple(sorted(chosen)),
        price=_total(by_id[id].price for id in chosen),
        whole=_total(item.price for item in entries),
        goals=tuple(KeptGoals(kind=kind, kept=kept[kind], total=totals[kind]) for kind in KINDS),
    )


def run_prices(histories: Mapping[str, EntryHistory], measure: Measure) -> tuple[dict[str, float], tuple[str, ...]]:
    """Entry → the mean ``measure`` of its runs, and the entries of which none is known: they count as the mean of the
    others.

    No price is known if no run was measured: then there are none.
    """
    known = {id: value for id, item in histories.items() if (value := getattr(item, measure)) is not None}
    missing = tuple(sorted(histories.keys() - known.keys()))
    if not known:
        return {}, missing
    mean = fsum(known.values()) / len(known)
    return {id: known.get(id, mean) for id in sorted(histories)}, missing


def run_totals(histories: Mapping[str, EntryHistory]) -> tuple[RunTotal, ...]:
    """What a run of all entries takes in seconds and in cost, as far as a run was measured."""
    found = [(measure, *run_prices(histories, measure)) for measure in MEASURES]
    return tuple(
        RunTotal(measure=measure, total=_total(prices.values()), estimated=len(missing))
        for measure, prices, missing in found
        if prices
    )


def _greedy(
    entries: Mapping[str, RunnableEntry], goals: Mapping[str, frozenset[Goal]], totals: Counter[Kind], limit: float
) -> set[str]:
    chosen: set[str] = set()
    covered: set[Goal] = set()
    left = limit
    # Worth only falls as more is covered, so an entry on top whose worth did not change is the best.
    queue = [(_rank(_worth(goals[id], totals), item.price), id) for id, item in entries.items()]
    heapify(queue)
    while queue:
        rank, id = heappop(queue)
        price = entries[id].price
        worth = _worth(goals[id] - covered, totals)
        if price > left or worth == 0:
            continue
        if (now := _rank(worth, price)) != rank:
            heappush(queue, (now, id))
            continue
        chosen.add(id)
        covered |= goals[id]
        left = rounded(left - price)
    return chosen


def _filled(entries: Iterable[RunnableEntry], chosen: Collection[str], budget: float) -> set[str]:
    left = rounded(budget - fsum(item.price for item in entries if item.id in chosen))
    more = set()
    for item in sorted(entries, key=lambda item: (_rank(item.failure_rate, item.price), item.id)):
        if item.id not in chosen and item.price <= left:
            more.add(item.id)
            left = rounded(left - item.price)
    return more


def _rank(worth: float, price: float) -> tuple[float, float]:
    """Smaller is better: worth for the price, and of what is free the worthiest."""
    return (-inf, -worth) if price == 0 else (-worth / price, 0.0)


def _worth(goals: Iterable[Goal], totals: Mapping[Kind, int]) -> float:
    counts = Counter(kind for kind, _ in goals)
    return fsum(counts[kind] / totals[kind] for kind in KINDS if counts[kind])


def _total(prices: Iterable[float]) -> float:
    return rounded(fsum(prices))

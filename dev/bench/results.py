"""A simulated year of release runs with known truth: make bench ARGS="results".

Each capability breaks now and then, and is repaired some releases later.  *Live* entries fail while their capability is
broken, *flapping* ones at random, and *dead* ones never.  What the product says is compared with what each entry is.
Then the part that an export chooses for a budget is compared with the best one, by an integer programme.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final, Literal, TypeAlias

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from incumbent.curator.entry import Admitted, Entry, EntryClassification
from incumbent.ledger.releases.history import histories
from incumbent.ledger.releases.quarantine import quarantine_offers
from incumbent.ledger.releases.record import EntryResult, ReleaseRecord, content_of
from incumbent.ledger.releases.selection import RunnableEntry, choose_part
from incumbent.taxonomy.config import ResultSettings

Kind: TypeAlias = Literal["live", "dead", "flapping"]

ENTRIES: Final = 150
CAPABILITIES: Final = 15
SHARES: Final[dict[Kind, float]] = {"live": 0.7, "dead": 0.2, "flapping": 0.1}
BREAKS: Final = 0.03
"""The chance that a capability breaks in a release."""
REPAIR: Final = (1, 3)
"""Releases until it is repaired."""
FIRST: Final = 20
"""Releases in which it is looked for when an entry first counts as flapping."""
LONG: Final = 50
"""Releases in which people merge what is offered."""
STABLE: Final = (5, 10, 15)
BUDGETS: Final = (0.05, 0.1, 0.25, 0.5)
"""Shares of what a run of all entries takes."""
FAILED: Final = 0.3
"""The share of entries that ever failed, of those whose part is chosen."""
FLAPS: Final = (0.1, 0.5)
"""The share of runs in which a flapping entry fails, drawn for each."""


def main(arguments: Sequence[str]) -> int:
    """Simulate, and print what was found after so many releases."""
    parser = argparse.ArgumentParser(prog="python -m dev.bench results")
    parser.add_argument("--seeds", type=int, default=10)
    seeds: int = parser.parse_args(arguments).seeds
    print(f"{ENTRIES} entries, {seeds} years; shares of all entries of a kind")
    print("runs  releases  flapping found  live taken for flapping  dead never failed  live never failed")
    for runs in (1, 3):
        for releases in (5, 10, 20, 50):
            found = [_shares(*year(seed, releases, runs)) for seed in range(seeds)]
            means = [sum(column) / seeds for column in zip(*found, strict=True)]
            cells = (f"{mean:.0%}".rjust(width) for mean, width in zip(means, (14, 23, 17, 17), strict=True))
            print(f"{runs:4}  {releases:8}  {'  '.join(cells)}")
    print(f"\nwithin {FIRST} releases: entries that ever count as flapping, and the release in which they first do")
    print("runs  flapping found  in release: median, 90 %  live taken for flapping  in release: median, 90 %")
    for runs in (1, 3):
        print(f"{runs:4}  {'  '.join(_first_words(*found) for found in _first_flagged(seeds, runs))}")
    print(f"\n{LONG} releases in which people merge each offer of quarantine")
    print(
        "runs  stable  flapping: releases in quarantine, offers  live: releases in quarantine, offers, failures missed"
    )
    for runs in (1, 3):
        for stable in STABLE:
            print(f"{runs:4}  {stable:6}  {'  '.join(_quarantined(seeds, runs, stable))}")
    print("\nbudget  worth of the chosen part, by that of the best one: mean, worst")
    for budget in BUDGETS:
        shares = [worth_by_best(seed, budget) for seed in range(seeds)]
        print(f"{budget:6.0%}  {sum(shares) / seeds:7.1%}  {min(shares):7.1%}")
    return 0


def _first_flagged(seeds: int, runs: int) -> Iterator[tuple[list[int], int]]:
    """Of flapping and then of live entries: the releases in which one first counts as flapping, and how many there are.

    Releases are counted from 1; entries that never count so in ``FIRST`` releases have none.
    """
    firsts: dict[Kind, list[int]] = {"flapping": [], "live": []}
    counts = dict.fromkeys(firsts, 0)
    for seed in range(seeds):
        entries, kinds, records = year(seed, FIRST, runs)
        first: dict[str, int] = {}
        for number in range(1, FIRST + 1):
            known = histories(entries, records[:number], ResultSettings())
            first = {id: number for id, item in known.items() if item.flapping} | first
        for kind, found in firsts.items():
            found += [number for id, number in first.items() if kinds[id] == kind]
            counts[kind] += sum(1 for each in kinds.values() if each == kind)
    for kind, found in firsts.items():
        yield sorted(found), counts[kind]


def _quarantined(seeds: int, runs: int, stable: int) -> Iterator[str]:
    """Of flapping and then of live entries, if people merge each offer at once: how much of the releases they are in
    quarantine, and how many offers there are for each; of live ones, which share of their failing releases is missed.
    """
    settings = ResultSettings(stable=stable)
    spent, offers, missed, counts, failing = Counter[Kind](), Counter[Kind](), 0, Counter[Kind](), 0
    for seed in range(seeds):
        entries, kinds, records = year(seed, LONG, runs)
        counts.update(kinds.values())
        for number, record in enumerate(records, 1):
            hidden = {id for id, entry in entries.items() if entry.quarantined is not None}
            failed = {id for id, result in record.entries.items() if result.failed and kinds[id] == "live"}
            failing, missed = failing + len(failed), missed + len(failed & hidden)
            spent.update(kinds[id] for id in hidden)
            last = records[max(0, number - settings.window) : number]
            for offer in quarantine_offers(entries, histories(entries, last, settings), last, settings, {}):
                entries[offer.entry.id] = offer.changed
                offers[kinds[offer.entry.id]] += 1
    for kind in ("flapping", "live"):
        yield f"{spent[kind] / counts[kind] / LONG:27.0%}, {offers[kind] / counts[kind]:6.1f}"
    yield f"{missed / failing:6.0%}"


def _first_words(found: list[int], count: int) -> str:
    middle, late = (found[int(share * len(found))] if found else 0 for share in (0.5, 0.9))
    return f"{len(found) / count:14.0%}  {middle:19}, {late:4}"


def worth_by_best(seed: int, budget: float) -> float:
    """The worth of the part chosen for a ``budget``, a share of the whole run's price, by the best possible worth."""
    entries = _runnable(seed)
    limit = budget * sum(item.price for item in entries)
    goals = sorted({goal for item in entries for goal in item.goals(None)})
    totals = Counter(kind for kind, _ in goals)
    worth = np.array([1 / totals[kind] for kind, _ in goals])
    part = set(choose_part(entries, limit).ids)
    kept = frozenset().union(*(item.goals(None) for item in entries if item.id in part))
    # Which entries run, and which goals are kept: a goal needs an entry that has it, and the prices fit the budget.
    has = np.array([[goal in item.goals(None) for item in entries] for goal in goals], dtype=float)
    needs = LinearConstraint(np.hstack([has, -np.eye(len(goals))]), lb=0)
    fits = LinearConstraint(np.array([*(item.price for item in entries), *[0.0] * len(goals)]), ub=limit)
    costs = np.concatenate([np.zeros(len(entries)), -worth])
    best = milp(costs, constraints=[needs, fits], integrality=np.ones(len(costs)), bounds=Bounds(0, 1))
    if not best.success:
        raise SystemExit(f"no optimum for seed {seed} at {budget:.0%}: {best.message}")
    return float(sum(1 / totals[kind] for kind, _ in kept) / -best.fun)


def _runnable(seed: int) -> list[RunnableEntry]:
    draw = random.Random(seed)
    entries = []
    for number in range(ENTRIES):
        names = sorted(draw.sample([f"c{place:02}" for place in range(2 * CAPABILITIES)], draw.randint(1, 5)))
        entries.append(
            RunnableEntry(
                id=f"e{number:03}",
                capabilities=frozenset(names),
                combinations=frozenset(combinations(names, 2)),
                price=draw.lognormvariate(2, 0.8),
                failed=draw.random() < FAILED,
                failure_rate=draw.random(),
            )
        )
    return entries


def year(seed: int, releases: int, runs: int) -> tuple[dict[str, Entry], dict[str, Kind], list[ReleaseRecord]]:
    """Entries, what each is, and the records of ``releases`` in which each entry ran ``runs`` times."""
    draw = random.Random(seed)
    kinds: dict[str, Kind] = {
        f"e{number:03}": draw.choices(list(SHARES), list(SHARES.values()))[0] for number in range(ENTRIES)
    }
    entries = {id: _entry(id, f"c{draw.randrange(CAPABILITIES)}") for id in kinds}
    rates = {id: draw.uniform(*FLAPS) for id in kinds}
    records = []
    for number, broken in enumerate(_breaks(draw, releases)):
        results = {}
        for id, entry in entries.items():
            (capability,) = entry.scores
            chance = {"live": float(capability in broken), "dead": 0.0, "flapping": rates[id]}[kinds[id]]
            failed = sum(1 for _ in range(runs) if draw.random() < chance)
            results[id] = EntryResult(content=content_of(entry), passed=runs - failed, failed=failed)
        at = f"2026-{1 + number // 28:02}-{1 + number % 28:02}T00:00:00Z"
        records.append(ReleaseRecord(release=f"v{number}", at=at, entries=results))
    return entries, kinds, records


def _breaks(draw: random.Random, releases: int) -> Iterator[set[str]]:
    """The broken capabilities of each release."""
    left: dict[str, int] = {}
    for _ in range(releases):
        left = {name: count - 1 for name, count in left.items() if count > 1}
        for number in range(CAPABILITIES):
            if f"c{number}" not in left and draw.random() < BREAKS:
                left[f"c{number}"] = draw.randint(*REPAIR)
        yield set(left)


def _shares(
    entries: dict[str, Entry], kinds: dict[str, Kind], records: list[ReleaseRecord]
) -> tuple[float, float, float, float]:
    known = histories(entries, records, ResultSettings())

    def share(kind: Kind, flapping: bool) -> float:
        ids = [id for id in entries if kinds[id] == kind]
        said = [known[id].flapping if flapping else not known[id].failing for id in ids]
        return sum(said) / len(ids)

    return share("flapping", True), share("live", True), share("dead", False), share("live", False)


def _entry(id: str, capability: str) -> Entry:
    return Entry(
        id=id,
        turns=(f"text of {id}",),
        scores={capability: 0.9},
        classified=EntryClassification(taxonomy="1.0.0", backend="none", model="none", prompt="none", samples=1),
        admitted=Admitted(at="2026-01-01T00:00:00Z", decision="INCLUDE", route="direct"),
    )

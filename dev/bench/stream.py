"""What becomes of R while customers come aboard, one after another: make bench ARGS=stream.

Customers are drawn: each has tools with facts of their own, and queries that call some of them and ask for things, the
frequent ones often.  All suggestions are confirmed and all reviews accepted.  At the end R is held against the optimum:
the fewest queries of all that came which carry the same pairs, keep the same floors and contain the same champions
(an integer programme).  One customer comes a week.  With `--recency DAYS ...` old champions fade (semantics, section
7): that shows what fresher champions cost in admissions and evictions.

`--corpus` takes, instead, the customers of the corpus (INCUMBENT_CORPUS) in a drawn order, and their queries as the
embedded classifier tags them.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any, Final, TypeAlias

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from dev.bench.corpus_stream import corpus_customers
from incumbent.consolidator.cycle import run_cycle
from incumbent.consolidator.verdict import Verdict
from incumbent.curator.exchanges import Exchanges, Freed
from incumbent.curator.prune import SafeRemovals
from incumbent.curator.roles import derive_roles
from incumbent.files.snapshot import WorkingTree
from incumbent.pipeline.review import load_platform
from incumbent.rater.contextualizer import LiveSet, without_merit
from incumbent.rater.model import RatedEntry, ScoredQuery
from incumbent.taxonomy.config import Curation, load_config

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
REPOSITORY: Final = Path(__file__).parents[2]
FACTS: Final = tuple(f"tool-{place}" for place in range(10))
"""Capabilities that follow from the tools that a query calls."""
REQUESTS: Final = tuple(f"asks-{place}" for place in range(18))
"""Capabilities that follow from what a query asks for."""
UNCOMBINABLE: Final = frozenset({"asks-0"})
START: Final = datetime(2026, 1, 1, tzinfo=UTC)
GAP: Final = 0.01
"""How far, at most, an optimum may be from the true one."""
SETTLED: Final = 20
"""Customers after which the set has met most of what there is."""


@dataclass
class Outcome:
    """What happened while a stream went through: numbers of queries, and R at its end."""

    residents: list[RatedEntry] = field(default_factory=list)
    waiting: list[RatedEntry] = field(default_factory=list)
    evicted: set[str] = field(default_factory=set)
    seen: list[RatedEntry] = field(default_factory=list)
    reviews: int = 0
    late_reviews: int = 0
    late_queries: int = 0
    admissions: int = 0
    evictions: int = 0
    swaps: int = 0
    repacks: int = 0


def main(arguments: Sequence[str]) -> int:
    """Run every seed at every ceiling, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m dev.bench stream")
    parser.add_argument("--customers", type=int, default=60)
    parser.add_argument("--ceilings", type=int, nargs="+", default=[35, 42, 60, 1000])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--without-swaps", action="store_true")
    parser.add_argument("--without-repacks", action="store_true")
    parser.add_argument("--recency", type=float, nargs="*", default=[], metavar="DAYS", help="half-lives, beside none")
    parser.add_argument("--corpus", action="store_true", help="real queries, in the folder that INCUMBENT_CORPUS names")
    options = parser.parse_args(arguments)
    shipped = load_config(WorkingTree(REPOSITORY), None).under(UNCOMBINABLE)
    real: list[list[ScoredQuery]] = []
    if options.corpus:
        platform = load_platform(WorkingTree(REPOSITORY))
        shipped = platform.config
        real = corpus_customers(Path(os.environ["INCUMBENT_CORPUS"]), platform)
        print(f"{len(real)} customers, {sum(map(len, real))} queries; of these, {options.customers} customers a seed")
    print(
        "ceiling seed recency     R  fewest  ratio  pairs carried, at best, of all  capabilities  reviews/100  admitted"
        "  evicted  swaps  repacks  waiting  cost  champions' age"
    )
    for ceiling, seed, recency in product(options.ceilings, options.seeds, (None, *options.recency)):
        rules = shipped.options.model_copy(update={"recency": recency})
        config = shipped.model_copy(update={"ceiling": ceiling, "options": rules})
        draw = random.Random(seed)
        customers = list(real_stream(draw, real, options.customers) if real else stream(draw, options.customers))
        found = run(customers, config, not options.without_swaps, not options.without_repacks)
        print(described(found, config, seed, len(customers)), flush=True)
    return 0


def stream(draw: random.Random, customers: int) -> Iterator[list[RatedEntry]]:
    """The queries of each customer."""
    for customer in range(customers):
        tools = [draw.sample(FACTS, draw.choice((1, 1, 2, 3))) for _ in range(draw.randint(2, 6))]
        weights = [1 / (place + 1) for place in range(len(REQUESTS))]
        rare = weights[6:]
        draw.shuffle(rare)
        weights[6:] = rare
        queries = []
        for place in range(draw.randint(12, 35)):
            called = draw.sample(tools, draw.choice((0, 1, 1, 1, 2))) if len(tools) > 1 else []
            scores = {fact: _score(draw, 0.97) for facts in called for fact in facts}
            asked = draw.choices(REQUESTS, weights, k=draw.choice((1, 2, 3, 3, 4, 5)))
            scores |= {name: _score(draw, 0.85) for name in asked}
            id = f"c{customer:03d}-q{place:02d}"
            words = " ".join(str(draw.random()) for _ in range(4))
            cost = round(draw.lognormvariate(0, 0.7), 3)
            queries.append(
                RatedEntry(
                    id=id,
                    turns=(words,),
                    scores=dict(sorted(scores.items())),
                    customer=f"c{customer}",
                    admitted_at=moment(customer, 0),
                    by_rule=frozenset(fact for facts in called for fact in facts),
                    setup_cost=cost,
                )
            )
        yield queries


def real_stream(
    draw: random.Random, real: Sequence[Sequence[ScoredQuery]], customers: int
) -> Iterator[list[RatedEntry]]:
    """The queries of so many real customers, in a drawn order; costs are drawn too."""
    for place, queries in enumerate(draw.sample(real, min(customers, len(real)))):
        yield [
            RatedEntry(
                id=query.id,
                turns=query.turns,
                scores=query.scores,
                customer=query.customer,
                admitted_at=moment(place, 0),
                by_rule=query.by_rule,
                setup_cost=round(draw.lognormvariate(0, 0.7), 3),
            )
            for query in queries
        ]


def moment(customer: int, place: int) -> str:
    """When a query enters: the week of this customer, later than those of smaller ``place``."""
    return (START + timedelta(weeks=customer, seconds=place)).isoformat()


def _score(draw: random.Random, mean: float) -> float:
    return round(min(1.0, max(0.5, draw.gauss(mean, 0.08))), 6)


def run(customers: Sequence[Sequence[RatedEntry]], config: Curation, swapping: bool, repacking: bool) -> Outcome:
    """Let all ``customers`` come; people confirm whatever is suggested."""
    outcome = Outcome()
    for place, queries in enumerate(customers):
        by_id = {query.id: query for query in (*outcome.waiting, *queries)}
        before = outcome.reviews
        arrive(queries, by_id, outcome, config, place)
        if place >= SETTLED:
            outcome.late_reviews += outcome.reviews - before
            outcome.late_queries += len(queries)
        tidy(outcome, config, swapping, place)
        outcome.seen += queries
        if repacking:
            look_back(outcome, config, place)
    return outcome


def arrive(
    queries: Sequence[RatedEntry], by_id: Mapping[str, RatedEntry], outcome: Outcome, config: Curation, place: int
) -> None:
    """One eval set: direct admissions enter or wait; then people accept each review that still has merit."""
    present = [*outcome.residents, *outcome.waiting]
    verdicts = run_cycle([query.query for query in queries], present, config)
    for verdict in verdicts:
        if verdict.admitted:
            enter(verdict, by_id, outcome, config, place)
    for verdict in verdicts:
        if verdict.asks and verdict.decision.admits:
            outcome.reviews += 1
            present = [*outcome.residents, *outcome.waiting]
            (now,) = run_cycle([by_id[verdict.id].query], present, config)
            if now.decision.admits:
                enter(now, by_id, outcome, config, place)


def enter(verdict: Verdict, by_id: Mapping[str, RatedEntry], outcome: Outcome, config: Curation, place: int) -> None:
    """Into R, or at the ceiling on the waitlist."""
    entry = replace(by_id[verdict.id], displaces=verdict.displaces, admitted_at=moment(place, outcome.admissions))
    if len(outcome.residents) < config.ceiling:
        outcome.residents.append(entry)
        outcome.admissions += 1
    else:
        outcome.waiting.append(entry)


def tidy(outcome: Outcome, config: Curation, swapping: bool, place: int) -> None:
    """Evictions and swaps are merged; what waits and still has merit takes the slots that are free."""
    names = {name for query in outcome.waiting for name in query.scores}
    removals = SafeRemovals(outcome.residents, config, 1, (), (), names)
    removals.choose()
    gone = set(removals.chosen)
    earning = judged_again(outcome, config)
    swaps: dict[str, frozenset[str]] = {}
    if swapping and len(outcome.residents) >= config.ceiling:
        found = Exchanges(removals).swaps(earning, len(outcome.residents) - config.ceiling)
        swaps = {each.query.id: frozenset(each.freed) for each in found}
    outcome.evictions += len(gone)
    outcome.swaps += len(swaps)
    gone |= {id for freed in swaps.values() for id in freed}
    entering = [query for query in earning if query.id in swaps]
    outcome.evicted |= gone
    outcome.residents = [entry for entry in outcome.residents if entry.id not in gone]
    outcome.waiting = [entry for entry in outcome.waiting if entry.id not in swaps]
    for query in entering:
        outcome.residents.append(replace(query, admitted_at=moment(place, outcome.admissions)))
        outcome.admissions += 1
    waiting, outcome.waiting = judged_again(outcome, config), []
    for query in waiting:
        (now,) = run_cycle([query.query], outcome.residents, config)
        enter(now, {query.id: query}, outcome, config, place)


def look_back(outcome: Outcome, config: Curation, place: int) -> None:
    """Repacks by queries that were excluded are merged, as many as are suggested at a time."""
    present = {entry.id for entry in (*outcome.residents, *outcome.waiting)}
    known = {name for query in outcome.seen for name in query.scores}
    live = LiveSet.knowing(known, [*outcome.residents, *outcome.waiting], config)
    archived = [
        query
        for query in outcome.seen
        if query.id not in present
        and query.id not in outcome.evicted
        and without_merit(live.key(live.profile(query.query)))
    ]
    names = {name for query in archived for name in query.scores}
    removals = SafeRemovals(outcome.residents, config, 1, (), (), names)
    removals.choose()

    def has_merit(admit: str, freed: Freed) -> bool:
        left = [entry for entry in outcome.residents if entry.id not in freed]
        (verdict,) = run_cycle([by_id[admit].query], left, config)
        return verdict.decision.admits

    by_id = {query.id: query for query in archived}
    made = list(Exchanges(removals).repacks(archived, config.limits.open_repacks, has_merit))
    for query, freed, *_ in made:
        outcome.residents = [entry for entry in outcome.residents if entry.id not in freed]
        outcome.residents.append(replace(query, admitted_at=moment(place, outcome.admissions)))
        outcome.evicted |= freed.keys()
        outcome.admissions += 1
        outcome.repacks += 1


def judged_again(outcome: Outcome, config: Curation) -> list[RatedEntry]:
    """Those that wait and still have merit, on their current verdicts."""
    by_id = {entry.id: entry for entry in outcome.waiting}
    verdicts = run_cycle([entry.query for entry in outcome.waiting], outcome.residents, config)
    return [replace(by_id[each.id], displaces=each.displaces) for each in verdicts if each.decision.admits]


def described(outcome: Outcome, config: Curation, seed: int, customers: int) -> str:
    """One row of the table."""
    best = Optimum(outcome, config)
    roles = derive_roles(outcome.residents, config)
    champions = set(roles.champions.values())
    end = START + timedelta(weeks=customers)
    ages = [
        (end - datetime.fromisoformat(entry.admitted_at)) / timedelta(weeks=1)
        for entry in outcome.residents
        if entry.id in champions
    ]
    size, fewest = len(outcome.residents), best.fewest()
    carried = len(best.pairs & best.carried)
    most = best.most_pairs(config.ceiling) if config.ceiling < len(outcome.seen) else len(best.pairs)
    late = 100 * outcome.late_reviews / max(1, outcome.late_queries)
    cost = sum(entry.setup_cost for entry in outcome.residents)
    return (
        f"{config.ceiling:7d} {seed:4d} {config.options.recency or '-':>7} {size:5d} {fewest:7d} {size / fewest:6.2f} "
        f"{carried:13d} {most:8d} {len(best.pairs):7d} {sum(map(bool, roles.coverers.values())):13d} {late:12.1f} "
        f"{outcome.admissions:9d} {outcome.evictions:8d} {outcome.swaps:6d} {outcome.repacks:8d} "
        f"{len(outcome.waiting):8d} {cost:5.0f} "
        f"{mean(ages):15.1f}"
    )


class Optimum:
    """Integer programmes over all queries that came, with R's champions and its floors.

    ``pairs`` are those of all queries, ``carried`` the combinations that R carries.
    """

    def __init__(self, outcome: Outcome, config: Curation) -> None:
        live, own = LiveSet(outcome.seen, (), config), LiveSet(outcome.residents, (), config)
        roles = derive_roles(outcome.residents, config)
        self._members = live.members
        self.pairs = {mask for each in live.members for mask in each.combinations if mask.bit_count() == 2}
        index = live.capabilities.index
        self.carried = {
            sum(1 << index[name] for name in own.capabilities.named(mask))
            for member in own.members
            for mask in member.combinations
        }
        self._floors = [
            (1 << index[name], min(config.redundancy_floor(name), len(coverers)))
            for name, coverers in roles.coverers.items()
        ]
        self._least = np.array([float(member.id in roles.pinned) for member in live.members])

    def fewest(self) -> int:
        """The fewest queries that carry what R carries."""
        return round(self._solved(np.ones(len(self._members)), [(mask, 1) for mask in sorted(self.carried)], None))

    def most_pairs(self, ceiling: int) -> int:
        """The most pairs that so many queries can carry."""
        pairs = sorted(self.pairs)
        weights = np.concatenate([np.zeros(len(self._members)), -np.ones(len(pairs))])
        return round(-self._solved(weights, [(mask, 0) for mask in pairs], ceiling))

    def _solved(self, weights: Floats, carried: Sequence[tuple[int, int]], ceiling: int | None) -> float:
        """The least of ``weights`` times the queries, and times the pairs in ``carried`` if the ``ceiling`` bounds the
        queries: a pair then counts only if a query carries it.
        """
        count = len(self._members)
        rows: list[dict[int, float]] = []
        least: list[float] = []
        for place, (mask, needed) in enumerate(carried):
            row = {each: 1.0 for each, member in enumerate(self._members) if not mask & ~member.combined}
            rows.append(row if ceiling is None else row | {count + place: -1.0})
            least.append(needed)
        for bit, floor in self._floors:
            rows.append({place: 1.0 for place, member in enumerate(self._members) if member.caps & bit})
            least.append(floor)
        if ceiling is not None:
            rows.append(dict.fromkeys(range(count), -1.0))
            least.append(-ceiling)
        cells = [(row, column, value) for row, columns in enumerate(rows) for column, value in columns.items()]
        matrix = csr_array(
            ([value for _, _, value in cells], ([row for row, _, _ in cells], [column for _, column, _ in cells])),
            shape=(len(rows), len(weights)),
        )
        low = np.concatenate([self._least, np.zeros(len(weights) - count)])
        solved = milp(
            weights,
            integrality=np.concatenate([np.ones(count), np.zeros(len(weights) - count)]),
            bounds=Bounds(low, np.ones(len(weights))),
            constraints=LinearConstraint(matrix, lb=np.array(least)),
            options={"mip_rel_gap": GAP},
        )
        if solved.x is None:
            raise RuntimeError(solved.message)
        return float(solved.fun)

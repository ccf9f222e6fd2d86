"""Classifies a shard of representatives, and computes what each would add to R (pure).

There are two passes: :func:`classify_shard` by the classifier of the platform, and before it :func:`estimate_shard` by
a quick one, from which follows in which order the second goes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, TypeAlias

from incumbent.classifier.classify import classify
from incumbent.classifier.model import Backend, Identity, silent
from incumbent.intake.query import Query
from incumbent.pipeline.matching import content_of, settle
from incumbent.pipeline.review import Platform, under_corrections
from incumbent.pipeline.submission import Package
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import Doubt, RatedEntry, ScoredQuery
from incumbent.rater.profile import bits

CLASSIFIED: Final = {
    "position": "BIGINT",
    "place": "BIGINT",
    "id": "VARCHAR",
    "customer": "VARCHAR",
    "weight": "BIGINT",
    "shortfall": "VARCHAR",
    "new": "INTEGER",
    "fills": "INTEGER",
    "contested": "INTEGER",
    "combinations": "INTEGER",
    "total": "DOUBLE",
    "signature": "VARCHAR[]",
    "scores": "DOUBLE[]",
    "competent": "VARCHAR[]",
    "by_rule": "VARCHAR[]",
    "arbitrated": "VARCHAR[]",
    "doubts": "VARCHAR",
    "attempt": "BOOLEAN",
    "personal": "VARCHAR",
    "familiar": "BOOLEAN",
}
"""The columns of a classified shard, one row per undecided representative, by position.

``weight``: rows of the traffic that it represents; ``shortfall``: why it could not be classified (then the rest is
null); from ``new`` to ``total`` the parts of its key against R; ``signature`` and ``scores`` go together.
"""


MERIT: Final = "(new > 0 OR fills > 0 OR contested > 0 OR combinations > 0)"
"""A condition on rows of a classified shard: those with merit against R."""

ESTIMATED: Final = {
    "place": "BIGINT",
    "weight": "BIGINT",
    "competent": "VARCHAR[]",
    "total": "DOUBLE",
    "pieces": "VARCHAR[]",
    "strengths": "DOUBLE[]",
}
"""The columns of an estimated shard, one row per undecided representative, by place.

``competent`` and ``total`` are as in a classified shard.  ``pieces`` are what it may bring, competently or not: each of
its capabilities, and each of its combinations that R lacks.  The strength of a piece is its weakest score.
"""


@dataclass(frozen=True, kw_only=True)
class Representative:
    """One row that represents many nearly equal rows of the traffic.

    ``position`` is its turn in a pass, ``place`` that of the row in the order of the inputs, ``agent`` the agent that
    was asked, ``weight`` how many rows it represents.
    """

    position: int
    place: int
    id: str
    agent: str
    turns: tuple[str, ...]
    weight: int

    @cached_property
    def query(self) -> Query:
        """The query of an eval set for it, without set-up and expectation."""
        return Query(id=self.id, turns=self.turns, file=self.agent, line=None)


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What traffic is judged by and against.

    ``packages`` are the agents that it was sent to, without queries, by their names in rows.  ``settled`` are the ids
    of representatives that are already in R, on the waitlist or in a tombstone.  ``edited`` are the ids of entries that
    representatives would replace; the representatives are judged against R without these.
    """

    platform: Platform
    packages: Mapping[str, Package]
    identity: Identity
    settled: frozenset[str] = frozenset()
    edited: frozenset[str] = frozenset()

    @property
    def residents(self) -> tuple[RatedEntry, ...]:
        """R and the waitlist, as representatives find them."""
        present, _ = self.platform.regression_set.present(self.platform.taxonomy, self.identity)
        return tuple(item for item in present if item.id not in self.edited)

    def live(self) -> LiveSet:
        """R before the cycle, for queries that exercise any capability of the taxonomy."""
        return LiveSet.knowing(self.platform.taxonomy.by_id, self.residents, self.platform.config)


Judge: TypeAlias = Callable[[Sequence[Representative], Ground, LiveSet, Backend], list[dict[str, Any]]]
"""What a pass makes of a shard: the rows for the undecided ones of its representatives."""


def known_texts(platform: Platform, package: Package) -> frozenset[tuple[str, ...]]:
    """The turns of all records of the agent of ``package``: a representative with such turns may already be decided."""
    place = (package.submission.customer, package.submission.agent)
    return frozenset(content_of(entry)[0] for _, _, entry in platform.regression_set.by_agent.get(place, ()))


def known_items(platform: Platform, package: Package) -> frozenset[str]:
    """The ids, within their eval set, of all records of that agent."""
    place = (package.submission.customer, package.submission.agent)
    return frozenset(item for *source, item in platform.regression_set.by_source if tuple(source) == place)


def settled_by(
    platform: Platform, packages: Mapping[str, Package], concerned: Sequence[Representative]
) -> tuple[frozenset[str], frozenset[str]]:
    """Splits representatives with known texts or ids: those already decided, and the ids of entries that others would
    replace.

    These are ``settled`` and ``edited`` of a :class:`Ground`.
    """
    asked: dict[str, list[Query]] = {}
    for item in concerned:
        asked.setdefault(item.agent, []).append(item.query)
    submissions = [package_with(packages[agent], queries).submission for agent, queries in asked.items()]
    found = settle(submissions, platform.regression_set)
    return frozenset(found.settled), frozenset(found.targets.values())


def package_with(package: Package, queries: Sequence[Query]) -> Package:
    """``package`` with these ``queries``."""
    return replace(package, submission=replace(package.submission, queries=tuple(queries)))


def classify_shard(
    rows: Sequence[Representative], ground: Ground, live: LiveSet, backend: Backend
) -> list[dict[str, Any]]:
    """A row of :data:`CLASSIFIED` for each undecided one of ``rows``, by position.

    Raises what stopped ``backend``, if anything did.
    """
    found: list[dict[str, Any]] = []
    for item, query in _rated(rows, ground, backend):
        customer = ground.packages[item.agent].submission.customer
        values = {"position": item.position, "place": item.place, "id": item.id, "customer": customer}
        said = {"shortfall": query} if isinstance(query, str) else _against(query, live)
        found.append({**dict.fromkeys(CLASSIFIED), **values, "weight": item.weight, **said})
    return sorted(found, key=lambda row: row["position"])


def estimate_shard(
    rows: Sequence[Representative], ground: Ground, live: LiveSet, backend: Backend
) -> list[dict[str, Any]]:
    """A row of :data:`ESTIMATED` for each undecided one of ``rows`` that could be classified, by place."""
    capabilities = live.capabilities
    carried = live.carriers().keys()
    found: list[dict[str, Any]] = []
    for item, query in _rated(rows, ground, backend):
        if isinstance(query, str):
            continue
        profile = live.profile(query)
        scores = dict(profile.items)
        possible = profile._replace(combined=capabilities.combined(profile.signature, profile.signature))
        masks = [1 << index for index in scores]
        masks += sorted(possible.combinations - carried - set(masks))
        found.append(
            {
                "place": item.place,
                "weight": item.weight,
                "competent": capabilities.named(profile.caps),
                "total": profile.total,
                "pieces": [" ".join(capabilities.named(mask)) for mask in masks],
                "strengths": [min(scores[index] for index in bits(mask)) for mask in masks],
            }
        )
    return sorted(found, key=lambda row: row["place"])


def _rated(
    rows: Sequence[Representative], ground: Ground, backend: Backend
) -> Iterator[tuple[Representative, ScoredQuery | str]]:
    """The undecided ones of ``rows``, agent by agent, each as it is rated, or why it could not be classified."""
    platform = ground.platform
    asked: dict[str, list[Representative]] = {}
    for row in rows:
        if row.id not in ground.settled:
            asked.setdefault(row.agent, []).append(row)
    for agent, items in asked.items():
        package, queries = ground.packages[agent], [item.query for item in items]
        result = classify(queries, package.specification, platform.taxonomy, backend, silent(agent))
        if result.stopped is not None:
            raise result.stopped
        said = under_corrections(platform, queries, result).classifications
        for item in items:
            if item.id in said:
                yield item, platform.rate(said[item.id], item.query, package.submission.customer)
            else:
                yield item, result.shortfalls[item.id]


def _against(query: ScoredQuery, live: LiveSet) -> dict[str, Any]:
    profile = live.profile(query)
    new, fills, contested, combinations, total = live.key(profile)
    return {
        "new": new,
        "fills": fills,
        "contested": contested,
        "combinations": combinations,
        "total": total,
        "competent": [live.capabilities.names[index] for index in bits(profile.caps)],
        **stored(query),
    }


def stored(query: ScoredQuery) -> dict[str, Any]:
    """What :func:`scored` makes ``query`` of, besides its turns."""
    return {
        "id": query.id,
        "customer": query.customer,
        "signature": list(query.scores),
        "scores": list(query.scores.values()),
        "by_rule": sorted(query.by_rule),
        "arbitrated": sorted(query.arbitrated),
        "doubts": json.dumps([[item.capability, item.probability, item.excludes] for item in query.doubts]),
        "attempt": query.attempt,
        "personal": json.dumps(dict(query.personal)),
        "familiar": query.familiar,
    }


def scored(row: Mapping[str, Any], turns: Collection[str]) -> ScoredQuery:
    """The query of a classified ``row``, to be judged."""
    return ScoredQuery(
        id=row["id"],
        turns=tuple(turns),
        scores=dict(zip(row["signature"], row["scores"], strict=True)),
        customer=row["customer"],
        by_rule=frozenset(row["by_rule"]),
        arbitrated=frozenset(row["arbitrated"]),
        doubts=tuple(
            Doubt(capability=name, probability=probability, excludes=tuple(excludes))
            for name, probability, excludes in json.loads(row["doubts"])
        ),
        attempt=row["attempt"],
        personal=json.loads(row["personal"]),
        familiar=row["familiar"],
    )

"""The shortlist: the few queries of the traffic that would have merit, by one cycle over all that was classified."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from incumbent.classifier.model import Progress
from incumbent.consolidator.cycle import judge_arriving
from incumbent.consolidator.verdict import Verdict
from incumbent.rater.contextualizer import Key
from incumbent.rater.model import ScoredQuery
from incumbent.triage.classifying import MERIT, Ground, scored, stored
from incumbent.triage.processes import ORDERED, REPRESENTATIVES, SECOND
from incumbent.triage.shard_reading import name_looked_at
from incumbent.triage.tables import RowFiles, name, rows_of, shards, spill_folder

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


_SHOWN: Final = 1_000
_HELD: Final = 30_000
"""Queries that fell behind and are held in memory."""
_SORTED: Final = 20
"""Shards that are sorted at once: they fit into the memory that the database has by default."""


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A representative that enters, or waits for a person, with its origin.

    ``exact`` counts the rows with its text, itself included, ``near`` the additional rows with nearly that text.
    """

    query: ScoredQuery
    verdict: Verdict
    agent: str
    file: str
    row: int
    exact: int
    near: int
    masked: tuple[str, ...]

    @property
    def rows(self) -> int:
        """The number of rows of the traffic that it represents, itself included."""
        return self.exact + self.near


@dataclass(frozen=True, kw_only=True)
class Shortlist:
    """``chosen`` in the cycle's order, those that enter before the others.

    ``judged`` is how many had merit at their turn.
    """

    chosen: tuple[Chosen, ...]
    judged: Annotated[int, Field(description="representatives with merit at their turn")]


def choose(
    connection: DuckDBPyConnection, work: Path, ground: Ground, progress: Progress, looked: int | None = None
) -> Shortlist:
    """Judge the classified representatives in ``work``; the verdicts are those of a review of all of them.

    Only the first ``looked`` count, if that is set.
    """
    live = ground.live()
    name(connection, "representatives", shards(work, REPRESENTATIVES))
    name_looked_at(connection, "classified", shards(work, SECOND.target), looked)
    (found,) = rows_of(connection, f"SELECT count(*) AS merit FROM classified WHERE {MERIT}")
    judged, admitting = 0, []
    with RowFiles(spill_folder(work)) as files:
        arriving = _counted(_arriving(connection, work, files, looked), progress, found["merit"])
        for query, verdict in judge_arriving(arriving, live, ground.platform.config, _HELD, partial(_aside, files)):
            judged += 1
            if verdict.decision.admits:
                admitting.append((query, verdict))
    # As a review has it: those that enter, then those that wait.
    admitting.sort(key=lambda item: not item[1].admitted)
    wanted = (
        "SELECT id, agent, file, row, exact, near, masked FROM representatives WHERE list_contains(?::VARCHAR[], id)"
    )
    rows = {row.pop("id"): row for row in rows_of(connection, wanted, [[query.id for query, _ in admitting]])}
    return Shortlist(
        chosen=tuple(
            Chosen(query=query, verdict=verdict, **rows[query.id] | {"masked": tuple(rows[query.id]["masked"])})
            for query, verdict in admitting
        ),
        judged=judged,
    )


def _counted(
    arriving: Iterator[tuple[Key, ScoredQuery]], progress: Progress, total: int
) -> Iterator[tuple[Key, ScoredQuery]]:
    progress(0, total)
    for number, item in enumerate(arriving, 1):
        yield item
        if number % _SHOWN == 0 or number == total:
            progress(number, total)


def _arriving(
    connection: DuckDBPyConnection, work: Path, files: RowFiles, looked: int | None
) -> Iterator[tuple[Key, ScoredQuery]]:
    """Those with merit against R, sorted by key and id."""
    query = (
        "SELECT c.*, r.turns FROM some_classified c JOIN some_ordered r USING (place) "
        f"WHERE {MERIT} "
        "ORDER BY c.new DESC, c.fills DESC, c.contested DESC, c.combinations DESC, c.total DESC, c.id"
    )
    paths, parts = shards(work, SECOND.target), []
    for start in range(0, len(paths), _SORTED):
        some = paths[start : start + _SORTED]
        name_looked_at(connection, "some_classified", some, looked)
        name(connection, "some_ordered", [work / ORDERED / path.name for path in some])
        parts.append(files.write(rows_of(connection, query)))
    for row in heapq.merge(*parts, key=lambda row: (_key(row), row["id"])):
        yield _key(row), scored(row, row["turns"])


def _key(row: Mapping[str, Any]) -> Key:
    return -row["new"], -row["fills"], -row["contested"], -row["combinations"], -row["total"]


def _aside(files: RowFiles, queries: Iterable[tuple[Key, ScoredQuery]]) -> Iterator[tuple[Key, ScoredQuery]]:
    """``queries``, which are written to ``files`` and read again one by one."""
    rows = ({**stored(query), "turns": query.turns, "key": key} for key, query in queries)
    return ((tuple(row["key"]), scored(row, row["turns"])) for row in files.write(rows))

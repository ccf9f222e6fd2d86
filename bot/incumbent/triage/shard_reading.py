"""What the shards of representatives and of the second pass say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from incumbent.rater.model import ScoredQuery
from incumbent.triage.classifying import MERIT, Ground, Representative, known_items, known_texts, scored
from incumbent.triage.processes import REPRESENTATIVES, SECOND
from incumbent.triage.tables import name, rows_of, shards

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def concerned(connection: DuckDBPyConnection, work: Path, ground: Ground) -> Iterator[Representative]:
    """Representatives with a text or an id that is on record for their agent."""
    for agent, package in sorted(ground.packages.items()):
        texts, items = known_texts(ground.platform, package), known_items(ground.platform, package)
        if texts:
            name(connection, "representatives", shards(work, REPRESENTATIVES))
            query = (
                "SELECT place AS position, place, id, agent, turns, exact + near AS weight FROM representatives "
                "WHERE agent = ? AND (list_contains(?::VARCHAR[][], turns) OR list_contains(?::VARCHAR[], id)) "
                "ORDER BY place"
            )
            for row in rows_of(connection, query, [agent, [list(text) for text in sorted(texts)], sorted(items)]):
                yield Representative(**row | {"turns": tuple(row["turns"])})


def promising(
    connection: DuckDBPyConnection, classified: Path, ordered: Path
) -> tuple[Iterator[tuple[int, ScoredQuery | None]], int]:
    """Of a shard those with merit against R, by position, ``None`` where a classification is missing; and the position
    after its last one.
    """
    name(connection, "shard_classified", [classified])
    name(connection, "shard_ordered", [ordered])
    (found,) = rows_of(connection, 'SELECT coalesce(max("position") + 1, 0) AS "end" FROM shard_ordered')
    query = (
        "SELECT c.*, o.turns FROM shard_classified c JOIN shard_ordered o USING (position) "
        f"WHERE {MERIT} OR shortfall IS NOT NULL ORDER BY position"
    )
    rows = rows_of(connection, query)
    queries = ((row["position"], None if row["shortfall"] else scored(row, row["turns"])) for row in rows)
    return queries, found["end"]


def name_looked_at(connection: DuckDBPyConnection, view: str, paths: Sequence[Path], looked: int | None) -> None:
    """Define ``view`` as the rows of classified shards that count: at positions before ``looked``, if that is set.

    What processes had begun beyond it may be there or not.
    """
    name(connection, view, paths, where="" if looked is None else f"position < {looked:d}")


def missing(connection: DuckDBPyConnection, work: Path, looked: int | None, most: int) -> dict[str, str]:
    """At most ``most`` representatives that could not be classified, and why."""
    name_looked_at(connection, "classified", shards(work, SECOND.target), looked)
    query = "SELECT id, shortfall FROM classified WHERE shortfall IS NOT NULL ORDER BY position LIMIT ?"
    return {row["id"]: row["shortfall"] for row in rows_of(connection, query, [most])}

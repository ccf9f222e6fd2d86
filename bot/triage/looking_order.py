"""In which order representatives are looked at: those first that may bring most, by a quick classifier's estimate."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bot.config import Curation, TriageSettings
from bot.triage.classifying import Ground
from bot.triage.gathering import in_shards, rows_of_shard
from bot.triage.processes import FIRST, ORDERED, REPRESENTATIVES
from bot.triage.tables import RowFiles, emptied, name, row_count, rows_of, shards, spill_folder, write_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ORDERED: Final = {
    "position": "BIGINT",
    "place": "BIGINT",
    "id": "VARCHAR",
    "agent": "VARCHAR",
    "turns": "VARCHAR[]",
    "exact": "BIGINT",
    "near": "BIGINT",
}
_SORTED: Final = 20
"""Shards that are sorted at once."""


def quick_config(config: Curation) -> Curation | None:
    """``config`` with the embedded classifier without its embedding; ``None`` if that is the classifier already."""
    settings = config.classifier
    if settings.backend == "embedded" and settings.embedded.weights is None:
        return None
    embedded = settings.embedded.model_copy(update={"embedding": "none"})
    quick = settings.model_copy(update={"backend": "embedded", "embedded": embedded})
    return config.model_copy(update={"classifier": quick})


def ranked(rows: Iterable[Mapping[str, Any]], each: int) -> dict[int, tuple[int, float]]:
    """The place of each promising representative among ``rows`` (estimated shards) → its rank, smaller first (pure).

    The strongest of each piece come first, then the second of each, and so on up to ``each`` of a piece: so the first
    ones differ, and no piece hides another.  Ties go to the higher total, with its sign changed in the rank.
    """
    strongest: dict[str, list[tuple[float, float, int]]] = {}
    for row in rows:
        for piece, strength in zip(row["pieces"], row["strengths"], strict=True):
            item = (strength, row["total"], -row["place"])
            found = strongest.setdefault(piece, [])
            if len(found) < each:
                heapq.heappush(found, item)
            elif item > found[0]:
                heapq.heapreplace(found, item)
    ranks: dict[int, tuple[int, float]] = {}
    for found in strongest.values():
        for rank, (_, total, place) in enumerate(sorted(found, reverse=True)):
            ranks[-place] = min(ranks.get(-place, (rank, -total)), (rank, -total))
    return ranks


def write_order(
    connection: DuckDBPyConnection, work: Path, ground: Ground, settings: TriageSettings, processes: int
) -> None:
    """Write the undecided representatives in shards, in the order in which they are looked at.

    Promising ones come first (:func:`ranked`) if they were estimated; all others by place.
    """
    turns: dict[int, int] = {}
    if estimated := shards(work, FIRST.target):
        name(connection, "estimated", estimated)
        found = ranked(rows_of(connection, "SELECT place, total, pieces, strengths FROM estimated"), settings.strongest)
        order = sorted((rank, place) for place, rank in found.items())
        turns = {place: turn for turn, (_, place) in enumerate(order)}
    folder = emptied(work / ORDERED)
    paths = shards(work, REPRESENTATIVES)
    count = sum(row_count(connection, path) for path in paths)
    with RowFiles(spill_folder(work)) as files:
        parts = [
            files.write(_sorted(connection, paths[start : start + _SORTED], ground, turns))
            for start in range(0, len(paths), _SORTED)
        ]
        merged = heapq.merge(*parts, key=lambda row: row["turn"])
        rows = ({**row, "position": position} for position, row in enumerate(merged))
        for number, shard in enumerate(in_shards(rows, rows_of_shard(count, settings, processes))):
            write_rows(connection, folder / f"{number:06d}.parquet", _ORDERED, shard)


def _sorted(
    connection: DuckDBPyConnection, paths: Sequence[Path], ground: Ground, turns: Mapping[int, int]
) -> list[dict[str, Any]]:
    """The undecided representatives in ``paths``, by turn."""
    name(connection, "some_representatives", paths)
    rows = rows_of(connection, "SELECT place, id, agent, turns, exact, near FROM some_representatives")
    kept = [row for row in rows if row["id"] not in ground.settled]
    for row in kept:
        row["turn"] = turns.get(row["place"], len(turns) + row["place"])
    return sorted(kept, key=lambda row: row["turn"])

"""In which order representatives are looked at: those first that may bring most, by a quick classifier's estimate."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from incumbent.taxonomy.config import Curation, TriageSettings
from incumbent.triage.classifying import Ground
from incumbent.triage.processes import FIRST, ORDERED, REPRESENTATIVES, SECOND
from incumbent.triage.tables import in_shards, name, rows_of, rows_of_shard, shards, write_rows

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

_COLUMNS: Final = ", ".join(column for column in _ORDERED if column != "position")


def quick_config(config: Curation) -> Curation | None:
    """``config`` with the embedded classifier without its embedding; ``None`` if that is the classifier already."""
    settings = config.classifier
    if settings.backend == "embedded" and settings.embedded.weights is None:
        return None
    embedded = settings.embedded.model_copy(update={"embedding": "none"})
    quick = settings.model_copy(update={"backend": "embedded", "embedded": embedded})
    return config.model_copy(update={"classifier": quick})


Wants = Callable[[Sequence[str], float], bool]
"""Whether a query would bring something that exercised these capabilities alone, with this score."""


class Candidates:
    """The strongest representatives of each piece, ``each`` of a piece at most (pure).

    ``rows`` are those of estimated shards.  Among equals the higher total goes first, then the earlier place.
    ``taken`` are the places of those that are no candidates any more.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]], each: int) -> None:
        strongest: dict[str, list[tuple[float, float, int]]] = {}
        for row in rows:
            for piece, strength in zip(row["pieces"], row["strengths"], strict=True):
                item = (strength, row["total"], -row["place"])
                found = strongest.setdefault(piece, [])
                if len(found) < each:
                    heapq.heappush(found, item)
                elif item > found[0]:
                    heapq.heapreplace(found, item)
        # The next one of each is the last of its list.
        self._left = {
            tuple(piece.split()): [(strength, -place) for strength, _, place in sorted(found)]
            for piece, found in sorted(strongest.items())
        }
        self.taken: set[int] = set()

    def take(self, most: int, wants: Wants) -> list[int]:
        """The places of the next ones, ``most`` at most: in turns the next one of each piece that is wanted.

        So the first ones differ, no piece hides another, and of what was found no more is looked for.
        """
        wanted = [found for piece, found in self._left.items() if self._next(found) and wants(piece, found[-1][0])]
        places: list[int] = []
        while len(places) < most and wanted:
            for found in wanted:
                if self._next(found) and len(places) < most:
                    places.append(found.pop()[1])
                    self.taken.add(places[-1])
            wanted = [found for found in wanted if self._next(found)]
        return places

    def _next(self, found: list[tuple[float, int]]) -> bool:
        """Whether there is a next one in ``found``; what was taken for another piece is left out."""
        while found and found[-1][1] in self.taken:
            found.pop()
        return bool(found)


class LookingOrder:
    """Writes the undecided representatives in ``work``, round by round, in the order in which they are looked at.

    With an estimate a round has ``round`` of them: the candidates, and when none is wanted, others by place.  Without
    one there is one round of all, by place.
    """

    def __init__(
        self, connection: DuckDBPyConnection, work: Path, ground: Ground, settings: TriageSettings, processes: int
    ) -> None:
        self._connection = connection
        self._work = work
        self._ground = ground
        self._settings = settings
        self._processes = processes
        self._rounds = 0
        self._written = 0
        self._candidates: Candidates | None = None
        (work / ORDERED).mkdir(exist_ok=True)
        if estimated := shards(work, FIRST.target):
            name(connection, "estimated", estimated)
            rows = rows_of(connection, "SELECT place, total, pieces, strengths FROM estimated")
            self._candidates = Candidates(rows, settings.strongest)
        name(connection, "representatives", shards(work, REPRESENTATIVES))

    def write_round(self, wants: Wants) -> list[Path]:
        """The shards of the next round; none if all are written.

        What an earlier run wrote stays if the round is the same, with what was made of it.
        """
        number, self._rounds = self._rounds, self._rounds + 1
        rows: Iterable[dict[str, Any]]
        if self._candidates is None:
            (found,) = rows_of(self._connection, "SELECT count(*) AS rows FROM representatives")
            rows, size = self._undecided() if number == 0 else (), found["rows"]
        else:
            rows = self._round(self._candidates, wants)
            size = len(rows)
        paths: list[Path] = []
        for shard in in_shards(rows, rows_of_shard(size, self._settings.shard_rows, self._processes)):
            # The first is there even if it is empty: the tables have its columns.
            if shard or number == 0:
                paths.append(self._work / ORDERED / f"{number:06d}-{len(paths):06d}.parquet")
                for position, row in enumerate(shard, self._written):
                    row["position"] = position
                self._written += len(shard)
                self._write(paths[-1], shard)
        return paths

    def _round(self, candidates: Candidates, wants: Wants) -> list[dict[str, Any]]:
        places = candidates.take(self._settings.round, wants)
        if not places:
            others = (row["place"] for row in self._undecided("place, id") if row["place"] not in candidates.taken)
            places = list(islice(others, self._settings.round))
            candidates.taken.update(places)
        turns = {place: turn for turn, place in enumerate(places)}
        query = f"SELECT {_COLUMNS} FROM representatives WHERE place IN (SELECT unnest(?::BIGINT[]))"
        return sorted(rows_of(self._connection, query, [places]), key=lambda row: turns[row["place"]])

    def _undecided(self, columns: str = _COLUMNS) -> Iterator[dict[str, Any]]:
        rows = rows_of(self._connection, f"SELECT {columns} FROM representatives ORDER BY place")
        return (row for row in rows if row["id"] not in self._ground.settled)

    def _write(self, path: Path, shard: Sequence[dict[str, Any]]) -> None:
        if path.exists():
            name(self._connection, "shard", [path])
            earlier = rows_of(self._connection, "SELECT position, place FROM shard ORDER BY position")
            if [(row["position"], row["place"]) for row in earlier] == [
                (row["position"], row["place"]) for row in shard
            ]:
                return
        (self._work / SECOND.target / path.name).unlink(missing_ok=True)
        write_rows(self._connection, path, _ORDERED, shard)

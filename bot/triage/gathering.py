"""From rows to representatives: exact duplicates by digest, what is personal masked, near duplicates by MinHash."""

from __future__ import annotations

import hashlib
import itertools
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bot.errors import Problem
from bot.learning_settings import TriageSettings
from bot.masking import masked_with
from bot.personal_data.counting import personal_in
from bot.personal_data.detector import Detector
from bot.secrets import redacted
from bot.text import normalise
from bot.triage.processes import REPRESENTATIVES, shards
from bot.triage.reading import Row
from bot.triage.tables import name, rows_of, write_query, write_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

KEY: Final = "key"
_KEYS: Final = {"place": "BIGINT", "agent": "VARCHAR", "digest": "VARCHAR"}
_TEXTS: Final = {
    "place": "BIGINT",
    "id": "VARCHAR",
    "agent": "VARCHAR",
    "turns": "VARCHAR[]",
    "file": "VARCHAR",
    "row": "BIGINT",
    "exact": "BIGINT",
    "masked": "VARCHAR[]",
    "bands": "VARCHAR[]",
    "minhash": "VARCHAR",
}
COLUMNS: Final = {**{key: kind for key, kind in _TEXTS.items() if key not in ("bands", "minhash")}, "near": "BIGINT"}
"""The columns of a shard of representatives, sorted by place.

``place``: the row's number over all inputs; ``turns``: masked; ``exact``: rows with the same text, itself included;
``near``: rows with nearly that text besides; ``masked``: the kinds of what was masked.
"""
_DIGEST: Final = 16
_CHUNK: Final = 50_000
_TASK: Final = 500


def write_keys(
    connection: DuckDBPyConnection,
    work: Path,
    rows: Iterator[Row | Problem],
    listed: int,
    progress: Callable[[int], None],
) -> tuple[tuple[int, int], list[Problem]]:
    """Write what tells the texts of ``rows`` apart: of texts only digests.

    Returns how many could be read, how many could not, and what is wrong with the first ``listed`` of these.
    """
    folder = _emptied(work / "keys")
    problems: list[Problem] = []
    good = bad = 0
    found: list[dict[str, Any]] = []
    for row in rows:
        if isinstance(row, Problem):
            bad += 1
            problems += [row] if bad <= listed else []
            continue
        good += 1
        text = normalise(row.turns).encode()
        digest = hashlib.blake2b(text, digest_size=_DIGEST).hexdigest()
        found.append({"place": row.place, "agent": row.agent, "digest": digest})
        if len(found) == _CHUNK:
            write_rows(connection, folder / f"{good:012d}.parquet", _KEYS, found)
            found.clear()
            progress(good + bad)
    write_rows(connection, folder / "last.parquet", _KEYS, found)
    return (good, bad), problems


def write_distinct(connection: DuckDBPyConnection, work: Path) -> int:
    """Write the first place of each text of an agent, and how many rows have it; returns how many texts."""
    path = work / "distinct.parquet"
    name(connection, "keys", shards(work, "keys"))
    query = "SELECT min(place) AS place, count(*) AS exact FROM keys GROUP BY agent, digest ORDER BY 1"
    write_query(connection, path, query)
    name(connection, "firsts", [path])
    (found,) = rows_of(connection, "SELECT count(*) AS texts FROM firsts")
    return int(found["texts"])


@dataclass(frozen=True, kw_only=True)
class Preparing:
    """How texts are masked, agent by agent, and hashed; ``shows``: personal data is carried as it was, keys never."""

    detectors: Mapping[str, Detector]
    shows: bool
    settings: TriageSettings
    bands: tuple[int, int]

    def __call__(self, rows: Sequence[tuple[Row, int]]) -> list[dict[str, Any]]:
        """Rows of the texts' table, with how often each occurs."""
        return [self._prepared(row, exact) for row, exact in rows]

    def _prepared(self, row: Row, exact: int) -> dict[str, Any]:
        detector = self.detectors[row.agent]
        without_keys = [redacted(turn) for turn in row.turns]
        kinds = [KEY] if without_keys != [*row.turns] else []
        turns = without_keys
        if not self.shows:
            personal = personal_in(row.turns, detector)
            # Where there is neither, nothing is masked.
            turns = masked_with(detector, row.turns) if kinds or personal else turns
            kinds += personal
        values = self._minhash(normalise(turns))
        count, width = self.bands
        bands = [
            hashlib.blake2b(values[band * width : (band + 1) * width].tobytes(), digest_size=8).hexdigest()
            for band in range(count)
        ]
        kept = {"turns": turns, "exact": exact, "masked": kinds, "bands": bands}
        return {**asdict(row), **kept, "minhash": b64encode(values.tobytes()).decode()}

    def _minhash(self, text: str) -> np.ndarray[Any, Any]:
        from datasketch import MinHash

        size = self.settings.shingle
        shingles = {text[start : start + size].encode() for start in range(max(1, len(text) - size + 1))}
        found = MinHash(num_perm=self.settings.permutations)
        found.update_batch(sorted(shingles))
        return np.ascontiguousarray(found.hashvalues, dtype="<u8")


def bands_of(settings: TriageSettings) -> tuple[int, int]:
    """How many bands, of how many hashes each, find duplicates at this threshold with the fewest errors."""
    from datasketch import MinHashLSH

    index = MinHashLSH(threshold=settings.near_duplicate, num_perm=settings.permutations)
    return index.b, index.r


def write_texts(
    connection: DuckDBPyConnection,
    work: Path,
    rows: Iterator[Row | Problem],
    preparing: Preparing,
    pool: Executor | None,
    progress: Callable[[int], None],
) -> None:
    """Write the first row of each text, masked, with its hashes; ``rows`` are those of :func:`write_keys` again."""
    folder = _emptied(work / "texts")
    tasks = _batches(_firsts(connection, work, rows), _TASK)
    done = 0
    # So many at a time that no process waits, and little is held.
    while batch := list(itertools.islice(tasks, 16)):
        prepared = list((pool.map if pool else map)(preparing, batch))
        found = [row for part in prepared for row in part]
        done += len(found)
        write_rows(connection, folder / f"{done:012d}.parquet", _TEXTS, found)
        progress(done)
    if not done:
        write_rows(connection, folder / "none.parquet", _TEXTS, [])


def _firsts(connection: DuckDBPyConnection, work: Path, rows: Iterator[Row | Problem]) -> Iterator[tuple[Row, int]]:
    name(connection, "firsts", [work / "distinct.parquet"])
    wanted = rows_of(connection, "SELECT place, exact FROM firsts ORDER BY place")
    following = next(wanted, None)
    for row in rows:
        if following is None:
            return
        if isinstance(row, Row) and row.place == following["place"]:
            yield row, following["exact"]
            following = next(wanted, None)


def _batches(rows: Iterator[tuple[Row, int]], size: int) -> Iterator[list[tuple[Row, int]]]:
    while batch := list(itertools.islice(rows, size)):
        yield batch


def write_representatives(connection: DuckDBPyConnection, work: Path, settings: TriageSettings) -> None:
    """Write the texts that are near duplicates of no earlier one of their agent, in shards."""
    name(connection, "texts", shards(work, "texts"))
    candidates = (
        "WITH banded AS (SELECT place, agent, unnest(range(len(bands))) AS band, unnest(bands) AS hash FROM texts), "
        "earliest AS (SELECT place, min(place) OVER (PARTITION BY agent, band, hash) AS first FROM banded) "
        "SELECT DISTINCT f.place, f.first, one.exact, one.minhash AS mine, other.minhash AS theirs FROM earliest f "
        "JOIN texts one ON one.place = f.place JOIN texts other ON other.place = f.first "
        "WHERE f.first < f.place ORDER BY f.place, f.first"
    )
    duplicates: set[int] = set()
    near: dict[int, int] = {}
    for row in rows_of(connection, candidates):
        if row["place"] in duplicates or row["first"] in duplicates:
            continue
        if _alike(row["mine"], row["theirs"]) >= settings.near_duplicate:
            duplicates.add(row["place"])
            near[row["first"]] = near.get(row["first"], 0) + row["exact"]
    folder = _emptied(work / REPRESENTATIVES)
    taken: set[str] = set()
    found: list[dict[str, Any]] = []
    number = 0
    for row in rows_of(connection, "SELECT * EXCLUDE (bands, minhash) FROM texts ORDER BY place"):
        if row["place"] in duplicates:
            continue
        found.append({**row, "id": _named(row, taken), "near": near.get(row["place"], 0)})
        if len(found) == settings.shard_rows:
            write_rows(connection, folder / f"{number:06d}.parquet", COLUMNS, found)
            found.clear()
            number += 1
    if found or not number:
        write_rows(connection, folder / f"{number:06d}.parquet", COLUMNS, found)


def _named(row: Mapping[str, Any], taken: set[str]) -> str:
    """The row's own id, or one made of its file and number; no two have the same."""
    made = f"{row['file'].split('.')[0]}-{row['row']}"
    id = next(
        called
        for called in itertools.chain((row["id"] or made, made), (f"{made}-{count}" for count in itertools.count(2)))
        if called not in taken
    )
    taken.add(id)
    return str(id)


def _alike(mine: str, theirs: str) -> float:
    """The share of equal hashes: an estimate of how many shingles two texts share of all that they have."""
    return float(np.mean(np.frombuffer(b64decode(mine), "<u8") == np.frombuffer(b64decode(theirs), "<u8")))


def _emptied(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    return folder

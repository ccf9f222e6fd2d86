"""From rows to representatives: exact duplicates by digest, personal data masked, near duplicates by MinHash."""

from __future__ import annotations

import hashlib
import itertools
from base64 import b64encode
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from zlib import crc32

import numpy as np

from incumbent.classifier.model import Progress
from incumbent.errors import Problem
from incumbent.taxonomy.config import TriageSettings
from incumbent.text.compare import normalise
from incumbent.text.masking import masked_with
from incumbent.text.personal_data.detector import Detector, personal_in
from incumbent.text.secrets import redacted
from incumbent.triage.near_duplicates import write_near
from incumbent.triage.processes import REPRESENTATIVES
from incumbent.triage.reading import TrafficRow
from incumbent.triage.tables import emptied, in_shards, name, rows_of, rows_of_shard, shards, write_query, write_rows

if TYPE_CHECKING:
    from datasketch import MinHash
    from duckdb import DuckDBPyConnection

KEY: Final = "key"
_KEYS: Final = {"place": "BIGINT", "agent": "VARCHAR", "digest": "VARCHAR", "file": "VARCHAR", "row": "BIGINT"}
_TEXTS: Final = {
    "place": "BIGINT",
    "id": "VARCHAR",
    "made": "VARCHAR",
    "agent": "VARCHAR",
    "turns": "VARCHAR[]",
    "file": "VARCHAR",
    "row": "BIGINT",
    "exact": "BIGINT",
    "masked": "VARCHAR[]",
    "bands": "UBIGINT[]",
    "minhash": "VARCHAR",
}
COLUMNS: Final = {
    **{key: kind for key, kind in _TEXTS.items() if key not in ("made", "bands", "minhash")},
    "near": "BIGINT",
}
"""The columns of a shard of representatives, sorted by place.

``place``: the row's number over all inputs; ``turns``: masked; ``exact``: rows with the same text, itself included;
``near``: additional rows with nearly that text; ``masked``: the kinds of masked data.
"""
_DIGEST: Final = 16
_CHUNK: Final = 50_000
_TASK: Final = 250
_CHARACTERS: Final = 250_000
"""Characters of a task, without its last query: memory is bounded even if queries are long."""
_TASKS: Final = 16

Batch = TypeVar("Batch")


def write_keys(
    connection: DuckDBPyConnection,
    work: Path,
    rows: Iterator[TrafficRow | Problem],
    listed: int,
    progress: Progress,
) -> tuple[tuple[int, int], list[Problem]]:
    """Write a key for the text of each of ``rows``: a digest, never the text.

    Returns the number of readable rows, of unreadable ones, and the problems of the first ``listed`` of these.
    """
    folder = emptied(work / "keys")
    problems: list[Problem] = []
    good = bad = 0
    found: list[dict[str, Any]] = []
    progress(0, 0)
    for row in rows:
        if isinstance(row, Problem):
            bad += 1
            problems += [row] if bad <= listed else []
            continue
        good += 1
        text = normalise(row.turns).encode()
        digest = hashlib.blake2b(text, digest_size=_DIGEST).hexdigest()
        found.append({"place": row.place, "agent": row.agent, "digest": digest, "file": row.file, "row": row.row})
        if len(found) == _CHUNK:
            write_rows(connection, folder / f"{good:012d}.parquet", _KEYS, found)
            found.clear()
            progress(good + bad, 0)
    write_rows(connection, folder / "last.parquet", _KEYS, found)
    progress(good + bad, good + bad)
    return (good, bad), problems


def write_distinct(connection: DuckDBPyConnection, work: Path) -> int:
    """Write the first place of each text of an agent, and how many rows have it; returns the number of texts."""
    path = work / "distinct.parquet"
    name(connection, "keys", shards(work, "keys"))
    query = "SELECT min(place) AS place, count(*) AS exact FROM keys GROUP BY agent, digest ORDER BY 1"
    write_query(connection, path, query)
    name(connection, "firsts", [path])
    (found,) = rows_of(connection, "SELECT count(*) AS texts FROM firsts")
    return int(found["texts"])


@dataclass(frozen=True, kw_only=True)
class Preparing:
    """Masks texts, agent by agent, and hashes them; ``shows``: personal data stays unmasked, keys never do."""

    detectors: Mapping[str, Detector]
    shows: bool
    settings: TriageSettings
    bands: tuple[int, int]

    def __call__(self, rows: Sequence[tuple[TrafficRow, int]]) -> list[dict[str, Any]]:
        """Rows of the texts' table, with how often each occurs."""
        return [self._prepared(row, exact) for row, exact in rows]

    def _prepared(self, row: TrafficRow, exact: int) -> dict[str, Any]:
        detector = self.detectors[row.agent]
        without_keys = [redacted(turn) for turn in row.turns]
        kinds = [KEY] if without_keys != [*row.turns] else []
        turns = without_keys
        if not self.shows:
            personal = personal_in(row.turns, detector)
            # Without either, nothing is masked.
            turns = masked_with(detector, row.turns) if kinds or personal else turns
            kinds += personal
        values = self._minhash(normalise(turns))
        count, width = self.bands
        # Band and agent are part of the hash, so that only texts of one agent can share a band.
        bands = [
            int.from_bytes(
                hashlib.blake2b(
                    values[band * width : (band + 1) * width].tobytes() + f"{band} {row.agent}".encode(), digest_size=8
                ).digest()
            )
            for band in range(count)
        ]
        kept = {"turns": turns, "exact": exact, "masked": kinds, "bands": bands}
        said = {
            "place": row.place,
            "id": row.id,
            "made": row.made,
            "agent": row.agent,
            "file": row.file,
            "row": row.row,
        }
        return {**said, **kept, "minhash": b64encode(values.tobytes()).decode()}

    def _minhash(self, text: str) -> np.ndarray[Any, Any]:
        found = _hasher(self.settings.permutations)
        found.clear()
        found.update_batch(_checksums(text, self.settings.shingle))
        return np.array(found.hashvalues, dtype="<u4")


@cache
def _hasher(permutations: int) -> MinHash:
    """A MinHash of checksums, to be cleared before use: building its permutations takes longer than hashing a short
    text.
    """
    from datasketch import MinHash

    return MinHash(num_perm=permutations, hashfunc=int)


def _checksums(text: str, size: int) -> Collection[int]:
    """The checksums (CRC-32) of all parts of ``text`` of ``size`` characters, or of a shorter text.

    They must differ but need no cryptographic strength: CRC-32 is quicker than the SHA-1 of MinHash's default.
    """
    count = len(text) - size + 1
    if count < 1:
        return {crc32(text.encode())}
    data = np.frombuffer(text.encode("utf-32-le"), "<u4")
    found = np.full(count, 0xFFFF_FFFF, np.uint32)
    plain = np.ones(count, bool)
    # All parts of one byte per character at once, byte by byte.
    for place in range(size):
        characters = data[place : place + count]
        plain &= characters < 0x80
        found = _of_bytes()[(found ^ characters) & 0xFF] ^ (found >> 8)
    checksums: set[int] = set((~found[plain]).tolist())
    checksums.update(crc32(text[start : start + size].encode()) for start in np.flatnonzero(~plain).tolist())
    return checksums


@cache
def _of_bytes() -> np.ndarray[Any, Any]:
    """The change of a checksum by each byte value."""
    return np.array([crc32(bytes([byte])) ^ crc32(b"\0") for byte in range(256)], np.uint32)


def bands_of(settings: TriageSettings) -> tuple[int, int]:
    """The number of bands, and of hashes in each, that find duplicates at this threshold with the fewest errors."""
    from datasketch import MinHashLSH

    index = MinHashLSH(threshold=settings.near_duplicate, num_perm=settings.permutations)
    return index.b, index.r


def write_texts(
    connection: DuckDBPyConnection,
    work: Path,
    rows: Iterator[TrafficRow | Problem],
    preparing: Preparing,
    pool: Executor | None,
    progress: Callable[[int], None],
) -> None:
    """Write the first row of each text, masked, with its hashes; ``rows`` are those of :func:`write_keys`,
    read again.
    """
    folder = emptied(work / "texts")
    tasks = _tasks(_firsts(connection, work, rows))
    done = 0
    batches = iter(lambda: list(itertools.islice(tasks, _TASKS)), [])
    for prepared in _one_ahead((pool.map if pool else map)(preparing, batch) for batch in batches):
        found = [row for part in prepared for row in part]
        done += len(found)
        write_rows(connection, folder / f"{done:012d}.parquet", _TEXTS, found)
        progress(done)
    if not done:
        write_rows(connection, folder / "none.parquet", _TEXTS, [])


def _one_ahead(batches: Iterator[Batch]) -> Iterator[Batch]:
    """``batches``, each once the next one was begun: no process waits while rows are written, and little is in
    memory.
    """
    current = next(batches, None)
    while current is not None:
        following = next(batches, None)
        yield current
        current = following


def _firsts(
    connection: DuckDBPyConnection, work: Path, rows: Iterator[TrafficRow | Problem]
) -> Iterator[tuple[TrafficRow, int]]:
    name(connection, "firsts", [work / "distinct.parquet"])
    wanted = rows_of(connection, "SELECT place, exact FROM firsts ORDER BY place")
    following = next(wanted, None)
    for row in rows:
        if following is None:
            return
        if isinstance(row, TrafficRow) and row.place == following["place"]:
            yield row, following["exact"]
            following = next(wanted, None)


def _tasks(rows: Iterator[tuple[TrafficRow, int]]) -> Iterator[list[tuple[TrafficRow, int]]]:
    task: list[tuple[TrafficRow, int]] = []
    characters = 0
    for row, exact in rows:
        task.append((row, exact))
        characters += sum(map(len, row.turns))
        if len(task) == _TASK or characters > _CHARACTERS:
            yield task
            task, characters = [], 0
    if task:
        yield task


def write_representatives(
    connection: DuckDBPyConnection, work: Path, settings: TriageSettings, processes: int, progress: Progress
) -> None:
    """Write the texts that are near duplicates of no earlier one of their agent, in shards."""
    name(connection, "texts", shards(work, "texts"))
    (found,) = rows_of(connection, "SELECT count(*) AS texts, coalesce(max(place), 0) AS last FROM texts")
    progress(0, found["texts"])
    write_near(connection, work, found["texts"], found["last"], settings)
    folder = emptied(work / REPRESENTATIVES)
    # Nearly all of the texts may be representatives: how many are is known once they are written.
    most = rows_of_shard(found["texts"], settings.shard_rows, processes)
    for number, rows in enumerate(in_shards(_representatives(connection, work, found["texts"], progress), most)):
        write_rows(connection, folder / f"{number:06d}.parquet", COLUMNS, rows)


def _representatives(
    connection: DuckDBPyConnection, work: Path, texts: int, progress: Progress
) -> Iterator[dict[str, Any]]:
    """Rows of :data:`COLUMNS`, by place."""
    name(connection, "near", shards(work, "near"))
    name(connection, "names", [_write_names(connection, work)])
    # Sorted separately from the texts, which are in this order already.
    facts = rows_of(
        connection,
        "SELECT n.place, n.id, coalesce(d.near, 0) AS near FROM names n "
        'LEFT JOIN (SELECT "of" AS place, sum(exact)::BIGINT AS near FROM near GROUP BY 1) d USING (place) ORDER BY 1',
    )
    following = next(facts, None)
    for number, row in enumerate(rows_of(connection, "SELECT * EXCLUDE (made, bands, minhash) FROM texts"), 1):
        if following is not None and row["place"] == following["place"]:
            yield {**row, **following}
            following = next(facts, None)
        if number % _CHUNK == 0 or number == texts:
            progress(number, texts)


def _write_names(connection: DuckDBPyConnection, work: Path) -> Path:
    """Write a unique id for each representative: its own, or one made of its file and row.

    If several have the same id, the first that has it as its own keeps it.
    """
    folder = emptied(work / "names")
    path = folder / "0.parquet"
    write_query(
        connection,
        path,
        "SELECT place, made, coalesce(id, made) AS id, (id IS NULL)::INTEGER AS changes "
        "FROM texts WHERE place NOT IN (SELECT place FROM near)",
    )
    numbered = "(SELECT *, row_number() OVER (PARTITION BY id ORDER BY changes, place) AS number FROM names)"
    for step in itertools.count(1):
        name(connection, "names", [path])
        (found,) = rows_of(connection, f"SELECT count(*) AS shared FROM {numbered} WHERE number > 1")
        if not found["shared"]:
            break
        # A made id may equal another's own id; it is extended until it is unique.
        path = folder / f"{step}.parquet"
        write_query(
            connection,
            path,
            "SELECT place, made, CASE WHEN number = 1 THEN id WHEN changes = 0 THEN made ELSE id || '-' || number END "
            f"AS id, changes + (number > 1)::INTEGER AS changes FROM {numbered}",
        )
    return path

"""Near duplicates among the texts of a triage: MinHash with banding (Broder 1997; Leskovec et al., chapter 3).

The work grows with the number of texts, and not with its square: bands are sorted once by their hash, so that texts
that share one are neighbours, and what is read at random are the hashes of pairs alone.
"""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from incumbent.taxonomy.config import TriageSettings
from incumbent.triage.tables import columns_of, emptied, name, rows_of, shards, write_query, write_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_NEAR: Final = {"place": "BIGINT", "of": "BIGINT", "exact": "BIGINT"}
_CHUNK: Final = 50_000
"""Texts whose bands are grouped at a time, and pairs that are compared at a time."""
_HASHES: Final = 1 << 64
"""How many values the hash of a band may have."""


def write_near(connection: DuckDBPyConnection, work: Path, texts: int, last: int, settings: TriageSettings) -> None:
    """Write the near duplicates among the ``texts`` in ``work``, the last of which is at the place ``last``.

    Of each: its place, that of the text that it duplicates, and how many rows have it.  A text is a duplicate of the
    earliest one with which it shares a band and an estimated share of shingles of at least ``near_duplicate``.
    """
    name(connection, "texts", shards(work, "texts"))
    _write_pairs(connection, work, texts)
    name(connection, "pairs", shards(work, "pairs"))
    folder = emptied(work / "near")
    is_duplicate = bytearray(last + 1)
    found: list[dict[str, Any]] = []
    number = 0
    path = _write_hashes(connection, work, last, settings.permutations)
    # The share of equal hashes estimates the Jaccard similarity of the shingles of two texts.
    hashes = np.memmap(path, "<u4", "r", shape=(last + 1, settings.permutations))
    for columns in columns_of(connection, "SELECT place, first, exact FROM pairs ORDER BY place, first", _CHUNK):
        places, firsts, counts = (np.array(column, np.int64) for column in columns)
        # In the order of the file: what is read at random is read once for each batch.
        earlier, back = np.unique(firsts, return_inverse=True)
        alike = (hashes[places] == hashes[earlier][back]).mean(axis=1) >= settings.near_duplicate
        for place, first, exact in zip(*(each[alike].tolist() for each in (places, firsts, counts)), strict=True):
            if not is_duplicate[place] and not is_duplicate[first]:
                is_duplicate[place] = 1
                found.append({"place": place, "of": first, "exact": exact})
        if len(found) >= _CHUNK:
            write_rows(connection, folder / f"{number:06d}.parquet", _NEAR, found)
            found.clear()
            number += 1
    write_rows(connection, folder / f"{number:06d}.parquet", _NEAR, found)
    del hashes
    path.unlink()
    emptied(work / "pairs")


def _write_pairs(connection: DuckDBPyConnection, work: Path, texts: int) -> None:
    """Write each text with the earliest text of each of its bands, if that is another."""
    pairs = emptied(work / "pairs")
    bands = emptied(work / "bands") / "sorted.parquet"
    banded = "SELECT place, exact, unnest(bands) AS hash FROM texts"
    write_query(connection, bands, f"SELECT * FROM ({banded}) ORDER BY hash")
    name(connection, "bands", [bands])
    parts = texts // _CHUNK + 1
    # In parts: for all bands at once the database would need memory that grows with their number.  In a sorted file it
    # reads no more than the part.
    for part in range(parts):
        least, most = (part * _HASHES // parts, (part + 1) * _HASHES // parts - 1)
        query = (
            "WITH earliest AS (SELECT place, exact, min(place) OVER (PARTITION BY hash) AS first FROM bands "
            f"WHERE hash BETWEEN {least}::UBIGINT AND {most}::UBIGINT) "
            "SELECT DISTINCT place, first, exact FROM earliest WHERE first < place"
        )
        write_query(connection, pairs / f"{part:06d}.parquet", query)
    emptied(work / "bands")


def _write_hashes(connection: DuckDBPyConnection, work: Path, last: int, permutations: int) -> Path:
    """A file with the hashes of each text at its place."""
    path = work / "hashes"
    with path.open("wb") as file:
        file.truncate((last + 1) * 4 * permutations)
        for row in rows_of(connection, "SELECT place, minhash FROM texts"):
            file.seek(row["place"] * 4 * permutations)
            file.write(b64decode(row["minhash"]))
    return path

"""Near duplicates are those that comparing each pair that shares a band would find."""

from __future__ import annotations

import random
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incumbent.taxonomy.config import TriageSettings
from incumbent.triage import near_duplicates
from incumbent.triage.near_duplicates import write_near
from incumbent.triage.tables import connected, name, rows_of, shards, write_rows

pytest.importorskip("duckdb")

HASHES = 8
TEXTS = {
    "place": "BIGINT",
    "exact": "BIGINT",
    "bands": "UBIGINT[]",
    "minhash": "VARCHAR",
}


def generated(size: int) -> list[dict[str, Any]]:
    """Texts, of which many share some of their hashes, with gaps between their places; two hashes make a band."""
    draw = random.Random(11)
    rows: list[dict[str, Any]] = []
    values: list[list[int]] = []
    for number in range(size):
        own = [draw.randrange(1 << 32) for _ in range(HASHES)]
        if values and draw.random() < 0.6:
            own = [new if draw.random() < 0.2 else old for new, old in zip(own, draw.choice(values), strict=True)]
        values.append(own)
        # Over the whole range of a hash, its ends too.
        bands = [hash((band, *own[2 * band : 2 * band + 2])) % (1 << 64) for band in range(HASHES // 2)]
        bands += [0] if number in (3, 5) else [(1 << 64) - 1] if number in (4, 6) else []
        packed = b64encode(np.array(own, "<u4").tobytes()).decode()
        rows.append({"place": 3 * number, "exact": 1 + number % 4, "bands": bands, "minhash": packed})
    return rows


def expected(rows: list[dict[str, Any]], least: float) -> list[tuple[int, int, int]]:
    """By comparing each with the earliest text of each of its bands."""
    first: dict[int, dict[str, Any]] = {}
    found: dict[int, tuple[int, int, int]] = {}
    for row in rows:
        for earlier in sorted({first.setdefault(band, row)["place"] for band in row["bands"]}):
            same = sum(one == other for one, other in zip(_hashes(row), _hashes(rows[earlier // 3]), strict=True))
            if earlier != row["place"] and earlier not in found and same / HASHES >= least:
                found.setdefault(row["place"], (row["place"], earlier, row["exact"]))
    return sorted(found.values())


def _hashes(row: dict[str, Any]) -> list[int]:
    return list(np.frombuffer(b64decode(row["minhash"]), "<u4"))


@pytest.mark.parametrize("chunk", [7, 50_000])
def test_they_are_found_in_parts_as_at_once(tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_duplicates, "_CHUNK", chunk)
    rows = generated(300)
    settings = TriageSettings(permutations=HASHES, near_duplicate=0.7)
    (tmp_path / "texts").mkdir()
    with connected(tmp_path, 256) as connection:
        for start in (0, 100, 200):
            write_rows(connection, tmp_path / "texts" / f"{start:03d}.parquet", TEXTS, rows[start : start + 100])
        write_near(connection, tmp_path, len(rows), rows[-1]["place"], settings)
        name(connection, "found", shards(tmp_path, "near"))
        found = [(row["place"], row["of"], row["exact"]) for row in rows_of(connection, "FROM found ORDER BY place")]
    assert found == expected(rows, 0.7)
    assert 50 < len(found) < 250
    assert not [*tmp_path.glob("bands/*"), *tmp_path.glob("pairs/*"), *tmp_path.glob("hashes")]

"""What a triage costs: make bench ARGS="triage --size 100000".

``--characters 1000`` makes the texts at least that long; ``--parquet`` writes them to a Parquet file, as DuckDB does.
Queries are generated from the taxonomy's exemplars, with a known share of exact and of near duplicates; they are
classified without an embedding.  Memory is that of all processes together, without counting shared pages twice.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from bot.classifier.embedded.weights import SHIPPED_DIGEST
from bot.files.snapshot import WorkingTree
from bot.taxonomy.loading import load_taxonomy

REPOSITORY: Final = Path(__file__).parents[2]
EXACT: Final = 0.3
NEAR: Final = 0.2
_AGENT: Final = "examples/customers/northwind-tracker/tracker"


def main(arguments: Sequence[str]) -> int:
    """Generate, run the command once, and print what it cost and found."""
    parser = argparse.ArgumentParser(prog="python -m dev.bench triage")
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--characters", type=int, default=0)
    parser.add_argument("--parquet", action="store_true")
    given = parser.parse_args(arguments)
    size: int = given.size
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for part in ("taxonomy", "config", "regression_set"):
            shutil.copytree(REPOSITORY / part, root / part)
        config = root / "config/curation.yaml"
        config.write_text(config.read_text(encoding="utf-8").replace(SHIPPED_DIGEST, "none"), encoding="utf-8")
        traffic = root / "traffic.jsonl"
        exact, near = generate(traffic, size, given.characters)
        if given.parquet:
            traffic = as_parquet(traffic)
        seconds, megabytes, said = measured(root, traffic)
    found = said["rows"] - said["texts"], said["texts"] - said["representatives"]
    print(f"{size:,} rows: {seconds:,.0f} s, {megabytes:,.0f} MB at most")
    print(f"exact duplicates: {found[0]:,} found of {exact:,}; near duplicates: {found[1]:,} found, {near:,} made")
    print(f"{said['representatives']:,} representatives, {said['judged']:,} judged, {len(said['shortlist']):,} chosen")
    return 0 if found[0] == exact else 1


def generate(path: Path, size: int, characters: int = 0) -> tuple[int, int]:
    """Write ``size`` rows of at least so many ``characters`` to ``path``; returns how many repeat an earlier one,
    exactly and nearly.
    """
    draw = random.Random(5)
    texts = [row.turns[0] for row in load_taxonomy(WorkingTree(REPOSITORY)).exemplars if len(row.turns[0]) > 40]
    words = sorted({word for text in texts for word in text.split() if word.isalpha()})
    made: list[str] = []
    exact = near = 0
    with path.open("w", encoding="utf-8") as file:
        for _ in range(size):
            chance = draw.random() if made else 1.0
            if chance < EXACT:
                text = draw.choice(made)
                exact += 1
            elif chance < EXACT + NEAR:
                # The number tells it from every other one.
                text = f"{draw.choice(made)} {near}"
                near += 1
            else:
                # Enough words of its own to be like no other, whatever the rest is.
                own = " ".join(draw.choices(words, k=20))
                text = f"{draw.choice(texts)} {own}"
                while len(text) < characters:
                    text = f"{text} {' '.join(draw.choices(words, k=20))}"
                made.append(text)
            file.write(json.dumps({"query": text}) + "\n")
    return exact, near


def as_parquet(path: Path) -> Path:
    """The rows of the JSON Lines at ``path`` in a Parquet file beside it."""
    import duckdb

    written = path.with_suffix(".parquet")
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.execute(f"COPY (SELECT * FROM read_json('{path}')) TO '{written}' (FORMAT parquet)")
    return written


def measured(root: Path, traffic: Path) -> tuple[float, float, dict[str, Any]]:
    """Seconds, megabytes and JSON output of the command on ``traffic``, with the platform in ``root``."""
    given: dict[str, Path] = {"--agent": REPOSITORY / _AGENT, "--repo": root, "--out": root / "out"}
    command = [str(traffic), *(str(word) for pair in given.items() for word in pair)]
    begun = time.perf_counter()
    with (
        (root / "said").open("w+", encoding="utf-8") as said,
        subprocess.Popen(
            [sys.executable, "-m", "bot", "triage", *command, "--json"],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        highest = [0.0]
        watcher = threading.Thread(target=_watch, args=(process, highest), daemon=True)
        watcher.start()
        out, _ = process.communicate()
        said.seek(0)
        last = said.readlines()[-3:]
    if process.returncode != 0:
        raise SystemExit(f"the command ended with {process.returncode}:\n{''.join(last)}")
    return time.perf_counter() - begun, highest[0], json.loads(out)


def _watch(process: subprocess.Popen[str], highest: list[float]) -> None:
    while process.poll() is None:
        highest[0] = max(highest[0], _memory(process.pid))
        time.sleep(0.5)


def _memory(session: int) -> float:
    """Megabytes of all processes of a session; 0 where the system does not say."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            if os.getsid(int(folder.name)) == session:
                rollup = (folder / "smaps_rollup").read_text(encoding="utf-8")
                total += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return total / 1024

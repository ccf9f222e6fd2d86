"""What a triage costs, as it ships: make bench ARGS="triage --size 100000".

``--characters 1000`` makes the texts at least that long; ``--parquet`` writes them to a Parquet file, as DuckDB does.
Queries are generated from the taxonomy's exemplars, with a known share of exact and of near duplicates.  Memory is that
of all processes together, without counting shared pages twice.  ``--script`` runs what a user would write on the same
rows (dev/bench/triage_script.py), and prints the ratio.  ``--missed 2000`` classifies so many of those that were not
looked at, drawn at random, and prints how many would have brought something.  ``--loss`` looks at all, and prints what
several values of ``triage.stop_after`` would have lost.  ``--traffic FILE`` takes rows of your own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from incumbent.classifier.backends import make_backend
from incumbent.classifier.model import Backend
from incumbent.consolidator.cycle import run_cycle
from incumbent.files.snapshot import WorkingTree
from incumbent.pipeline.workspace import open_package, open_platform
from incumbent.rater.model import ScoredQuery
from incumbent.rater.profile import bits_of
from incumbent.taxonomy.loading import load_taxonomy
from incumbent.triage.classifying import Ground, Representative, classify_shard, package_with, scored
from incumbent.triage.processes import ORDERED, REPRESENTATIVES, SECOND
from incumbent.triage.shard_reading import name_looked_at
from incumbent.triage.stopping import StoppingRule
from incumbent.triage.tables import connected, name, rows_of, shards

STOPS: Final = (200, 500, 1_000, 2_000, 5_000)
REPOSITORY: Final = Path(__file__).parents[2]
EXACT: Final = 0.3
NEAR: Final = 0.2
_AGENT: Final = "examples/customers/northwind-tracker/tracker"


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a command took: seconds of a clock, seconds of processors, megabytes at most; and what it printed."""

    seconds: float
    processors: float
    megabytes: float
    out: str


def main(arguments: Sequence[str]) -> int:
    """Generate, run the command once, and print what it cost and found; 1 if a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m dev.bench triage")
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--characters", type=int, default=0)
    parser.add_argument("--parquet", action="store_true")
    parser.add_argument("--script", action="store_true")
    parser.add_argument("--missed", type=int, default=0)
    parser.add_argument("--loss", action="store_true")
    parser.add_argument("--traffic", type=Path)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        traffic = given.traffic or root / "traffic.jsonl"
        exact, near = (0, 0) if given.traffic else generate(traffic, given.size, given.characters)
        rows = as_parquet(traffic) if given.parquet else traffic
        repository = _looking_at_all(root / "repository") if given.loss else REPOSITORY
        places = {"--agent": REPOSITORY / _AGENT, "--repo": repository, "--out": root / "out"}
        options = [str(word) for pair in places.items() for word in pair]
        cost = measured(root, ["-m", "incumbent", "triage", str(rows), *options, "--json"])
        said = json.loads(cost.out)
        found = said["rows"] - said["texts"], said["texts"] - said["representatives"]
        print(f"{said['rows']:,} rows: {_shown(cost)}")
        print(f"exact duplicates: {found[0]:,} found of {exact:,}; near duplicates: {found[1]:,} found, {near:,} made")
        print(
            f"{said['representatives']:,} representatives, {said['looked']:,} looked at, {said['merit']:,} with merit"
        )
        print(f"{said['judged']:,} judged, {len(said['shortlist']):,} chosen")
        if given.script:
            other = measured(root, [str(Path(__file__).with_name("triage_script.py")), str(traffic)])
            print(f"a script of a user: {_shown(other)}; {other.out.strip()}")
            print(f"ratio: {cost.processors / other.processors:.1f} of its processor seconds")
        if given.missed:
            print(missed(root / "out.work", said["looked"], given.missed))
        if given.loss:
            print("\n".join(lost(root / "out.work", said["looked"])))
    return 0 if given.traffic or found[0] == exact else 1


def _shown(cost: Cost) -> str:
    return f"{cost.seconds:,.0f} s, {cost.processors:,.0f} s of processors, {cost.megabytes:,.0f} MB at most"


def _looking_at_all(folder: Path) -> Path:
    """The platform of this repository in ``folder``, whose triage estimates and then looks at everything."""
    for part in ("taxonomy", "config", "regression_set"):
        shutil.copytree(REPOSITORY / part, folder / part)
    with (folder / "config/curation.yaml").open("a", encoding="utf-8") as file:
        file.write("\ntriage: {stop_after: 1000000000}\n")
    return folder


def _ground() -> tuple[Ground, Backend]:
    platform = open_platform(REPOSITORY, "config/curation.yaml")
    backend = make_backend(platform.config.classifier, platform.taxonomy)
    agent = REPOSITORY / _AGENT
    package = package_with(open_package(platform, REPOSITORY, agent, agent.parent.name, agent.name), ())
    return Ground(platform=platform, packages={agent.name: package}, identity=backend.identity), backend


def _looked(work: Path, count: int) -> list[ScoredQuery]:
    """What was looked at, in its order: so many."""
    with connected(work, 256) as connection:
        name(connection, "ordered", shards(work, ORDERED))
        name_looked_at(connection, "classified", shards(work, SECOND.target), count)
        joined = "SELECT c.*, o.turns FROM classified c JOIN ordered o USING (position) ORDER BY position"
        return [scored(row, row["turns"]) for row in rows_of(connection, joined)]


def missed(work: Path, count: int, size: int) -> str:
    """How many of ``size`` representatives would have brought something, of those beyond the first ``count``."""
    ground, backend = _ground()
    looked = _looked(work, count)
    rule = StoppingRule(ground.live(), ground.platform.config, None)
    rule.follow(enumerate(looked), len(looked))
    with connected(work, 256) as connection:
        name(connection, "representatives", shards(work, REPRESENTATIVES))
        name_looked_at(connection, "classified", shards(work, SECOND.target), count)
        unseen = (
            "SELECT place AS position, place, id, agent, turns, exact + near AS weight "
            "FROM representatives ANTI JOIN classified USING (place) ORDER BY place"
        )
        rows = [Representative(**row | {"turns": tuple(row["turns"])}) for row in rows_of(connection, unseen)]
    sample = random.Random(6).sample(rows, min(size, len(rows)))
    turns = {row.id: row.turns for row in sample}
    rated = classify_shard(sample, ground, ground.live(), backend)
    brought = sum(rule.brings(scored(row, turns[row["id"]])) for row in rated)
    return f"of {len(sample):,} of {len(rows):,} that were not looked at, {brought:,} would have brought something"


def lost(work: Path, count: int) -> Iterator[str]:
    """What several values of ``triage.stop_after`` find of all that R lacks and the traffic has."""
    ground, _ = _ground()
    looked = _looked(work, count)
    whole = _brought(looked, ground)
    yield f"looking at all {len(looked):,} brings {whole:,} capabilities and combinations"
    for most in STOPS:
        rule = StoppingRule(ground.live(), ground.platform.config, most)
        rule.follow(enumerate(looked), len(looked))
        found = _brought(looked[: rule.looked], ground)
        yield f"stop_after {most:,}: {rule.looked:,} looked at, {found:,} brought, {1 - found / max(1, whole):.1%} lost"


def _brought(queries: Sequence[ScoredQuery], ground: Ground) -> int:
    """The capabilities and combinations that R lacks, and that enter or wait with one review of ``queries``."""
    live = ground.live()
    by_id = {query.id: live.profile(query) for query in queries}
    verdicts = run_cycle(queries, ground.residents, ground.platform.config)
    admitted = [by_id[verdict.id] for verdict in verdicts if verdict.decision.admits]
    masks = {mask for profile in admitted for mask in live.capabilities.carried(profile)}
    masks |= {mask for profile in admitted for mask in bits_of(profile.caps)}
    known = set(live.carriers()) | set(bits_of(live.covered))
    return len(masks - known)


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


def measured(root: Path, arguments: Sequence[str]) -> Cost:
    """What Python with these ``arguments`` cost, in processes of its own."""
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with (
        (root / "said").open("w+", encoding="utf-8") as said,
        subprocess.Popen(
            [sys.executable, *arguments],
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
    # 1: some rows could not be read.
    if process.returncode not in (0, 1):
        raise SystemExit(f"the command ended with {process.returncode}:\n{''.join(last)}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processors = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(seconds=time.perf_counter() - begun, processors=processors, megabytes=highest[0], out=out)


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

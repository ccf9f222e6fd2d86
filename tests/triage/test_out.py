"""From representatives to a shortlist: the same as a review of all of them."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.model import silent
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.eval_sets.folder import read_eval_sets
from incumbent.intake.query import Query
from incumbent.pipeline.review import Platform, review
from incumbent.pipeline.submission import Package
from incumbent.pipeline.workspace import open_backend, open_package, open_platform
from incumbent.triage import shortlist as module
from incumbent.triage.classifying import Ground, package_with, settled_by
from incumbent.triage.looking_order import LookingOrder
from incumbent.triage.outcome import render_eval_set, render_triage
from incumbent.triage.processes import FIRST, ORDERED, REPRESENTATIVES, SECOND, TriageWorkers, make_pass
from incumbent.triage.shard_reading import concerned, name_looked_at, promising
from incumbent.triage.shortlist import choose
from incumbent.triage.stopping import StoppingRule
from incumbent.triage.summary import summarise
from incumbent.triage.tables import connected, rows_of, shards, write_rows
from tests.factories import REPOSITORY
from tests.triage.quick_platform import quick_platform

pytest.importorskip("duckdb")

# INCUMBENT_TRIAGE=5000 compares so many.
SIZE = int(os.environ.get("INCUMBENT_TRIAGE", "500"))
MEGABYTES = 256
WORKERS = TriageWorkers(processes=1, megabytes=MEGABYTES)
COLUMNS = {
    "place": "BIGINT",
    "id": "VARCHAR",
    "agent": "VARCHAR",
    "turns": "VARCHAR[]",
    "file": "VARCHAR",
    "row": "BIGINT",
    "exact": "BIGINT",
    "near": "BIGINT",
    "masked": "VARCHAR[]",
}
KEYS = {"place": "BIGINT", "agent": "VARCHAR", "digest": "VARCHAR", "file": "VARCHAR", "row": "BIGINT"}
NEAR = {"place": "BIGINT", "of": "BIGINT", "exact": "BIGINT"}


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Platform:
    return open_platform(quick_platform(tmp_path_factory.mktemp("platform"), "{}"), "config/curation.yaml")


@pytest.fixture(scope="module")
def package(platform: Platform) -> Package:
    return open_package(
        platform,
        REPOSITORY,
        REPOSITORY / "examples/customers/northwind-tracker/tracker",
        "northwind-tracker",
        "tracker",
    )


@pytest.fixture(scope="module")
def backend(platform: Platform) -> EmbeddedBackend:
    """That of the platform, which has no embedding."""
    found = open_backend(platform)
    assert isinstance(found, EmbeddedBackend)
    return found


def shown(done: int) -> None:
    """Nobody looks."""


def generated(platform: Platform, size: int) -> list[Query]:
    """Texts of the taxonomy's exemplars, alone, joined, and with a word of their own."""
    draw = random.Random(4)
    texts = [row.turns for row in platform.taxonomy.exemplars]
    found = []
    for number in range(size):
        turns = [*draw.choice(texts)]
        if draw.random() < 0.3:
            turns[-1] += " " + draw.choice(texts)[0]
        if draw.random() < 0.2:
            turns.append(draw.choice(texts)[0])
        turns[0] = f"{turns[0]} {number}"
        found.append(Query(id=f"q{number:05d}", turns=tuple(turns), file="traffic.jsonl", line=number + 1))
    return found


def written(work: Path, queries: Sequence[Query], each: int) -> None:
    (work / REPRESENTATIVES).mkdir(parents=True)
    with connected(work, MEGABYTES) as connection:
        for start in range(0, len(queries), each):
            rows: list[dict[str, Any]] = [
                {
                    "place": start + place,
                    "id": query.id,
                    "agent": "tracker",
                    "turns": query.turns,
                    "file": query.file,
                    "row": query.line,
                    "exact": 1 + place % 3,
                    "near": place % 2,
                    "masked": [],
                }
                for place, query in enumerate(queries[start : start + each])
            ]
            write_rows(connection, work / REPRESENTATIVES / f"{start // each:05d}.parquet", COLUMNS, rows)
        for folder, columns in (("keys", KEYS), ("near", NEAR)):
            (work / folder).mkdir()
            write_rows(connection, work / folder / "0.parquet", columns, [])


def test_a_shortlist_is_what_a_review_of_all_representatives_lets_in_or_asks_about(
    tmp_path: Path,
    platform: Platform,
    package: Package,
    backend: EmbeddedBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queries = generated(platform, SIZE)
    written(tmp_path, queries, 170)
    ground = Ground(platform=platform, packages={"tracker": package_with(package, ())}, identity=backend.identity)
    with connected(tmp_path, MEGABYTES) as connection:
        settled, edited = settled_by(platform, ground.packages, list(concerned(connection, tmp_path, ground)))
        ground = replace(ground, settled=settled, edited=edited)
        every = shards(tmp_path, REPRESENTATIVES)
        make_pass(FIRST, tmp_path, every, ground, backend, WORKERS, shown)
        order = LookingOrder(connection, tmp_path, ground, platform.config.triage, 1)
        rule = StoppingRule(ground.live(), platform.config, None)
        while every := order.write_round(rule.wants):
            make_pass(SECOND, tmp_path, every, ground, backend, WORKERS, shown)
            for path in every:
                classified = tmp_path / SECOND.target / path.name
                assert not rule.follow(*promising(connection, classified, path))
        assert rule.looked == SIZE
        shortlist = choose(connection, tmp_path, ground, silent(""))
        with monkeypatch.context() as small:
            small.setattr(module, "_HELD", 2)
            small.setattr(module, "_SORTED", 1)
            assert choose(connection, tmp_path, ground, silent("")) == shortlist
        assert not list(tmp_path.glob("spill-*"))
        out = tmp_path / "out"
        out.mkdir()
        summary = summarise(connection, tmp_path, out, ground, shortlist, 30)
    expected = review(platform, package_with(package, queries), backend, silent(""))
    assert [item.verdict for item in shortlist.chosen] == [
        verdict for verdict in expected.verdicts if verdict.decision.admits
    ]
    assert shortlist.chosen
    assert summary.counts.rows == sum(1 + place % 170 % 3 + place % 170 % 2 for place in range(SIZE))
    (out / "eval_set.yaml").write_text(render_eval_set(shortlist.chosen), encoding="utf-8")
    (read,) = read_eval_sets(WorkingTree(out, "out"), platform.config.limits)
    assert [(query.id, query.turns) for query in read.queries] == [
        (item.query.id, item.query.turns) for item in shortlist.chosen
    ]
    names = {id: item.name for id, item in platform.taxonomy.by_id.items()}
    report = render_triage(summary, shortlist, names, [("rows", SIZE)], 5)
    assert f"**{len(shortlist.chosen):,}** of " in report
    before = [path.read_bytes() for path in sorted((tmp_path / SECOND.target).iterdir())]
    every = shards(tmp_path, ORDERED)
    (tmp_path / SECOND.target / every[1].name).unlink()
    make_pass(SECOND, tmp_path, every, ground, backend, WORKERS, shown)
    assert [path.read_bytes() for path in sorted((tmp_path / SECOND.target).iterdir())] == before

    # With an end to looking, the shortlist is that of those that were looked at, and the others are counted.
    with connected(tmp_path, MEGABYTES) as connection:
        rule = StoppingRule(ground.live(), platform.config, SIZE // 20)
        assert any(
            rule.follow(*promising(connection, path, tmp_path / ORDERED / path.name))
            for path in shards(tmp_path, SECOND.target)
        )
        name_looked_at(connection, "looked", shards(tmp_path, SECOND.target), rule.looked)
        looked = {row["id"] for row in rows_of(connection, "SELECT id FROM looked")}
        assert SIZE // 20 < len(looked) == rule.looked < SIZE
        fewer = choose(connection, tmp_path, ground, silent(""), rule.looked)
        (tmp_path / "less").mkdir()
        counts = summarise(connection, tmp_path, tmp_path / "less", ground, fewer, 30, rule.looked).counts
    expected = review(
        platform, package_with(package, [query for query in queries if query.id in looked]), backend, silent("")
    )
    assert [item.verdict for item in fewer.chosen] == [
        verdict for verdict in expected.verdicts if verdict.decision.admits
    ]
    assert counts.looked == len(looked)
    assert counts.unseen == SIZE - len(looked)
    assert counts.rows == summary.counts.rows
    assert counts.unseen_rows == sum(
        1 + place % 170 % 3 + place % 170 % 2 for place, query in enumerate(queries) if query.id not in looked
    )

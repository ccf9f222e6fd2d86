"""In which order representatives are looked at."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from incumbent.classifier.model import Identity
from incumbent.curator.store import RegressionSet
from incumbent.files.snapshot import WorkingTree
from incumbent.pipeline.review import Platform
from incumbent.taxonomy.config import TriageSettings, load_config
from incumbent.triage.classifying import ESTIMATED, Ground
from incumbent.triage.looking_order import Candidates, LookingOrder, Wants, quick_config
from incumbent.triage.tables import connected, name, rows_of, write_rows
from tests.classifier.factories import openai_settings
from tests.factories import REPOSITORY, make_config, make_taxonomy

pytest.importorskip("duckdb")

IDENTITY = Identity(backend="embedded", model="m1", prompt="p1", samples=5)
PLATFORM = Platform(taxonomy=make_taxonomy("a", "b"), config=make_config(), regression_set=RegressionSet({}, {}, {}))


def estimate(place: int, **pieces: float) -> dict[str, Any]:
    return {
        "place": place,
        "total": sum(pieces.values()),
        "pieces": list(pieces),
        "strengths": list(pieces.values()),
    }


def everything(names: Sequence[str], score: float) -> bool:
    return True


@pytest.mark.parametrize(
    ("rows", "each", "order"),
    [
        ([], 3, []),
        # The strongest of each piece first, then the second of each.
        ([estimate(0, a=0.5), estimate(1, a=0.9), estimate(2, a=0.7), estimate(3, b=0.2)], 3, [1, 3, 2, 0]),
        # One that is the strongest of a rare piece is not behind those of a frequent one, and comes once.
        ([*(estimate(place, a=0.9) for place in range(4)), estimate(4, a=0.1, b=0.3)], 9, [0, 4, 1, 2, 3]),
        # Among equals the higher total, then the earlier place; beyond so many of each piece, none is a candidate.
        ([*(estimate(place, a=0.9) for place in range(5)), estimate(5, a=0.9, b=0.1), estimate(9)], 2, [5, 0]),
        ([*(estimate(place, a=0.9) for place in reversed(range(5)))], 2, [0, 1]),
    ],
)
def test_the_strongest_of_each_piece_come_first(rows: list[dict[str, Any]], each: int, order: list[int]) -> None:
    assert Candidates(rows, each).take(9, everything) == order


def test_of_a_piece_that_is_not_wanted_none_is_taken_until_it_is() -> None:
    rows = [estimate(0, a=0.9), estimate(1, a=0.8), estimate(2, b=0.7), estimate(3, **{"a b": 0.6})]
    candidates = Candidates(rows, 9)
    asked: list[tuple[Sequence[str], float]] = []

    def wants(names: Sequence[str], score: float) -> bool:
        asked.append((tuple(names), score))
        return "b" in names

    assert candidates.take(9, wants) == [3, 2]
    assert asked == [(("a",), 0.9), (("a", "b"), 0.6), (("b",), 0.7)]
    assert candidates.take(9, wants) == []
    assert candidates.take(9, everything) == [0, 1]


UNDECIDED = (0, 1, 3, 4, 5, 6, 7, 8, 9)
TEXTS = {
    "place": "BIGINT",
    "id": "VARCHAR",
    "agent": "VARCHAR",
    "turns": "VARCHAR[]",
    "exact": "BIGINT",
    "near": "BIGINT",
}


def test_rounds_have_all_undecided_once_and_stay_where_they_are_the_same(tmp_path: Path) -> None:
    settings = TriageSettings(round=4, strongest=2, shard_rows=3)
    ground = Ground(platform=PLATFORM, packages={}, identity=IDENTITY, settled=frozenset({"t2"}))
    estimates = [
        estimate(place, **({"a": place / 10} if place % 2 else {"b": 0.5})) for place in range(10) if place != 2
    ]

    def rounds(wants: Wants, most: int = 9) -> list[list[tuple[int, int]]]:
        order = LookingOrder(connection, tmp_path, ground, settings, 1)
        found = []
        for paths in islice(iter(lambda: order.write_round(wants), []), most):
            name(connection, "round", paths)
            found.append(
                [(row["position"], row["place"]) for row in rows_of(connection, "FROM round ORDER BY position")]
            )
        return found

    with connected(tmp_path, 256) as connection:
        (tmp_path / "representatives").mkdir()
        texts = [
            {"place": place, "id": f"t{place}", "agent": "x", "turns": ["?"], "exact": 1, "near": 0}
            for place in range(10)
        ]
        write_rows(connection, tmp_path / "representatives/0.parquet", TEXTS, texts)
        # Without an estimate, all at once.
        assert rounds(everything) == [list(enumerate(UNDECIDED))]
        shutil.rmtree(tmp_path / "ordered")
        (tmp_path / "estimated").mkdir()
        write_rows(connection, tmp_path / "estimated/0.parquet", ESTIMATED, estimates)
        whole = [[(0, 9), (1, 0), (2, 7), (3, 4)], [(4, 1), (5, 3), (6, 5), (7, 6)], [(8, 8)]]
        assert rounds(everything) == whole
        classified = [tmp_path / "classified" / path.name for path in sorted((tmp_path / "ordered").iterdir())]
        (tmp_path / "classified").mkdir()
        for path in classified:
            path.write_bytes(b"")
        assert rounds(everything) == whole
        assert all(path.exists() for path in classified)
        # What was made of a round that is another now does not count.
        other = rounds(lambda names, score: "b" in names, 2)
        assert other == [[(0, 0), (1, 4)], [(2, 1), (3, 3), (4, 5), (5, 6)]]
        assert not classified[0].exists()


def test_the_estimate_is_the_embedded_classifiers_without_its_embedding() -> None:
    config = load_config(WorkingTree(Path(REPOSITORY)), None)
    quick = quick_config(config)
    assert quick is not None
    assert quick.classifier.embedded.weights is None
    assert quick_config(quick) is None
    openai = config.classifier.model_copy(update={"backend": "openai", "openai": openai_settings()})
    other = quick_config(config.model_copy(update={"classifier": openai}))
    assert other is not None
    assert other.classifier == quick.classifier.model_copy(update={"openai": openai.openai})

"""In which order representatives are looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.config import load_config
from bot.files.snapshot import WorkingTree
from bot.triage.looking_order import quick_config, ranked
from tests.classifier.factories import openai_settings
from tests.factories import REPOSITORY


def estimate(place: int, **pieces: float) -> dict[str, Any]:
    return {
        "place": place,
        "total": sum(pieces.values()),
        "pieces": list(pieces),
        "strengths": list(pieces.values()),
    }


@pytest.mark.parametrize(
    ("rows", "each", "order"),
    [
        ([], 3, []),
        # The strongest of each piece first, then the second of each; among equals the higher total.
        ([estimate(0, a=0.5), estimate(1, a=0.9), estimate(2, a=0.7), estimate(3, b=0.2)], 3, [1, 3, 2, 0]),
        # One that is the strongest of a rare piece is not behind those of a frequent one.
        ([*(estimate(place, a=0.9) for place in range(4)), estimate(4, a=0.1, b=0.3)], 9, [0, 4, 1, 2, 3]),
        # Beyond so many of each piece, none is ranked; among equals the earlier place goes first.
        ([*(estimate(place, a=0.9) for place in range(5)), estimate(9)], 2, [0, 1]),
        ([*(estimate(place, a=0.9) for place in reversed(range(5)))], 2, [0, 1]),
    ],
)
def test_the_strongest_of_each_piece_come_first(rows: list[dict[str, Any]], each: int, order: list[int]) -> None:
    found = ranked(rows, each)
    assert [place for _, place in sorted((rank, place) for place, rank in found.items())] == order


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

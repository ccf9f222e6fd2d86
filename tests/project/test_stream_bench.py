"""The bench of a stream of customers, with queries whose capabilities are not those of its generated ones."""

from __future__ import annotations

import random

from dev.bench.stream import REPOSITORY, described, real_stream, run
from incumbent.files.snapshot import WorkingTree
from incumbent.rater.model import ScoredQuery
from incumbent.taxonomy.config import load_config

NAMES = [f"text.kind-{place}" for place in range(4)]

WEAK = "text.weak"
"""A capability that no admitted query has."""


def test_it_runs_with_the_capabilities_of_real_queries() -> None:
    draw = random.Random(1)
    real = [
        [
            ScoredQuery(
                id=f"{customer}-{place}",
                turns=(f"{customer} {place} {draw.random()}",),
                scores={name: round(draw.uniform(0.6, 1), 3) for name in sorted(draw.sample(NAMES, 3))}
                if place
                else {WEAK: 0.55},
                customer=customer,
            )
            for place in range(12)
        ]
        for customer in ("acme", "globex", "initech", "umbrella")
    ]
    config = load_config(WorkingTree(REPOSITORY), None).model_copy(update={"ceiling": 30})
    customers = list(real_stream(draw, real, len(real)))
    outcome = run(customers, config, swapping=True, repacking=True)
    assert len(outcome.seen) == 48
    assert 0 < len(outcome.residents) < 30
    assert described(outcome, config, 1, len(customers)).split()[:2] == ["30", "1"]

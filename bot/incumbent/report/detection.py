"""Expected detection as it is published: which share of faults the regression set is expected to show."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated

from pydantic import BaseModel, Field

from incumbent.files.validation import Score
from incumbent.pipeline.review import Platform
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.expected_detection import ExpectedDetection
from incumbent.rater.model import ScoredQuery
from incumbent.report.verdict_text import counted

Scores = Mapping[str, float]


class Detection(BaseModel):
    """D: the mean chance that the set shows a fault, of one capability and of two together (semantics, section 4).

    It is the mean over what some query on record exercises competently, and 1 if no such thing is known.
    """

    single: Annotated[Score, Field(description="D_1: over single capabilities")]
    pairs: Annotated[Score, Field(description="D_2: over pairs")]
    on_record: Annotated[int, Field(ge=0, description="queries on which it rests: entries, the waitlist, the ledger's")]

    def __str__(self) -> str:
        queries = counted(self.on_record, "query", "queries")
        return f"{self.single:.2f} for single capabilities, {self.pairs:.2f} for pairs, by {queries} on record"


def detection_of(platform: Platform, others: Collection[Scores] = ()) -> Detection:
    """D of R, by the entries, the waitlist and the scores of ``others``."""
    config, known = platform.config, platform.regression_set
    residents, _ = known.residents(platform.taxonomy)
    waiting, _ = known.in_line(platform.taxonomy)
    queries = [*(item.query for item in waiting), *(ScoredQuery(id="", turns=(), scores=scores) for scores in others)]
    live = LiveSet.knowing({name for query in queries for name in query.scores}, residents, config)
    on_record = [*live.members, *map(live.profile, queries)]
    expected = ExpectedDetection(live.members, live.capabilities, config.options.flakiness)
    single, pairs = (expected.share(size, on_record) for size in (1, 2))
    return Detection(single=single, pairs=pairs, on_record=len(on_record))

"""From classified queries to what extension candidates are found in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bot.classifier.model import Classification
from bot.config import ExtensionSettings
from bot.curator.entry import Entry
from bot.extension.model import Belief, Observed
from bot.intake.query import Query
from bot.pipeline.submission import Submission
from bot.taxonomy.model import Taxonomy
from bot.text.compare import rounded

EVEN: Final = 0.5
"""The confidence at which as much speaks for a capability as against it."""


def observe(
    query: Query, submission: Submission, found: Classification, taxonomy: Taxonomy, settings: ExtensionSettings
) -> Observed:
    """What the classifier ``found`` of ``query``, a query of ``submission``.

    What is kept of the samples is their majority and the mean of their probabilities: they count as torn on a
    capability where the mean is within ``settings.split`` of :data:`EVEN`.  Doubt about which tool is called is none
    about what the query exercises.
    """
    judged = {item.id: found.judgements[item.id] for item in taxonomy.capabilities if item.is_judged_from_text}
    return Observed(
        id="/".join(submission.source(query.id)),
        customer=submission.customer,
        turns=query.turns,
        beliefs={name: Belief(value=item.value, confidence=item.probability) for name, item in judged.items()},
        split=frozenset(
            name
            for name, item in judged.items()
            if item.path == "inference" and rounded(abs(item.confidence - EVEN)) < settings.split
        ),
        off_taxonomy=found.off_taxonomy,
    )


def observe_all(
    submission: Submission, found: Iterable[Classification], taxonomy: Taxonomy, settings: ExtensionSettings
) -> list[Observed]:
    """What was ``found`` of the queries of ``submission``, without those that argue with the classifier.

    Such a query is a person's to judge, and nothing to learn a capability from.
    """
    queries = {query.id: query for query in submission.queries}
    return [observe(queries[item.query_id], submission, item, taxonomy, settings) for item in found if not item.attempt]


def observe_entry(entry: Entry, taxonomy: Taxonomy) -> Observed:
    """``entry`` as far as its file says how it was classified: of what it does not exercise no probability is kept."""
    place = (entry.id,) if entry.source is None else entry.source.place
    scores = entry.scores
    return Observed(
        id="/".join(place),
        customer=place[0],
        turns=entry.turns,
        beliefs={
            item.id: Belief(value=item.id in scores, confidence=scores.get(item.id, 0.0))
            for item in taxonomy.capabilities
            if item.is_judged_from_text
        },
    )

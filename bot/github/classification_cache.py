"""Classifications that are in the ledger, so that the classifier is not asked again."""

from __future__ import annotations

from collections.abc import Mapping

from bot.classifier.caching_backend import conditions_of, knowing
from bot.classifier.called_tools import expectation
from bot.classifier.findings import Findings
from bot.classifier.model import Backend
from bot.intake.query import Query
from bot.intake.specification import Specification
from bot.ledger.keys import classification_key
from bot.ledger.model import StoredClassification
from bot.pipeline.review import Platform


def with_findings(backend: Backend, known: Mapping[str, StoredClassification]) -> Backend:
    """``backend`` with the findings of ``known`` classifications, if it can cache them."""
    kept: dict[str, Findings] = {}
    for stored in known.values():
        kept |= {key: kept.get(key, Findings()) | item for key, item in stored.findings.items()}
    return knowing(backend, kept)


def under(known: Mapping[str, StoredClassification], questions: Mapping[str, str]) -> dict[str, StoredClassification]:
    """``known`` with the answers to earlier questions as answers to the present form of these questions."""
    return {
        key: stored.model_copy(update={"findings": {id: item.under(questions) for id, item in stored.findings.items()}})
        if stored.findings and questions
        else stored
        for key, stored in known.items()
    }


def key_of(query: Query, specification: Specification, platform: Platform, backend: Backend) -> str:
    """The ledger's key of what ``backend`` says of ``query``."""
    conditions = conditions_of(backend)
    return classification_key(
        query.classified_turns,
        specification.digest,
        platform.taxonomy.definitions,
        backend.identity,
        conditions,
        attachments=query.attachment_kinds,
        expected=expectation(query, specification),
    )

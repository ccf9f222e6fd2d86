"""People's corrections, by the digests of texts, joined with their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.classifier.corrections import Corrections
from bot.evaluation.labels import LabelledQuery, LabelVocabulary
from bot.ledger.model import CORRECTIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedQueries:
    """The queries that people corrected.

    ``lost`` are digests of texts that are no longer known.  ``unlabelled`` are the capabilities of corrections that the
    taxonomy no longer has, or that need an agent.
    """

    queries: tuple[LabelledQuery, ...]
    lost: tuple[str, ...]
    unlabelled: tuple[str, ...]


def corrected(said: Corrections, texts: Mapping[str, tuple[str, ...]], vocabulary: LabelVocabulary) -> CorrectedQueries:
    """Corrections as labels; ``texts`` maps the digests of the known texts to their turns.

    A person corrects single tags: all others of the query stay unknown.
    """
    known = set(vocabulary.capabilities)
    queries = [
        LabelledQuery(
            turns=texts[key],
            values={name: item.value for name, item in sorted(tags.items()) if name in known},
            file=CORRECTIONS,
            line=None,
        )
        for key, tags in sorted(said.items())
        if key in texts
    ]
    return CorrectedQueries(
        queries=tuple(query for query in queries if query.values),
        lost=tuple(sorted(said.keys() - texts.keys())),
        unlabelled=tuple(sorted({name for tags in said.values() for name in tags} - known)),
    )

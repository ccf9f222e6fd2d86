"""People's corrections in the ledger, which holds digests, joined with the texts that they are about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.evaluation.labels import LabelledQuery, Vocabulary
from bot.ledger.model import CORRECTIONS, CorrectionRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """The queries that people corrected.

    ``lost`` are digests of texts that are not here any more; ``unlabelled`` are the capabilities of corrections that
    the taxonomy no longer has, or that need an agent.
    """

    queries: tuple[LabelledQuery, ...]
    lost: tuple[str, ...]
    unlabelled: tuple[str, ...]


def corrected(record: CorrectionRecord, texts: Mapping[str, tuple[str, ...]], vocabulary: Vocabulary) -> Corrected:
    """``record`` as labels; ``texts`` maps the digests of the texts at hand to their turns.

    A person corrects single tags: all others of the query stay unknown, and so does one of which nobody can tell.
    """
    known = set(vocabulary.capabilities)
    queries = [
        LabelledQuery(
            turns=texts[key],
            values={
                name: item.value for name, item in sorted(tags.items()) if item.value is not None and name in known
            },
            file=CORRECTIONS,
            line=None,
        )
        for key, tags in sorted(record.texts.items())
        if key in texts
    ]
    return Corrected(
        queries=tuple(query for query in queries if query.values),
        lost=tuple(sorted(record.texts.keys() - texts.keys())),
        unlabelled=tuple(sorted({name for tags in record.texts.values() for name in tags} - known)),
    )

"""Corrections in the ledger, joined with the texts that they are about."""

from __future__ import annotations

from bot.evaluation.corrections import corrected
from bot.ledger.migrated import corrections_in
from bot.ledger.model import CorrectionRecord, StoredCorrection
from bot.taxonomy.migration import Lineage
from bot.text.compare import text_key
from tests.evaluation.factories import vocabulary

SAID = "0" * 24


def correction(value: bool | None) -> StoredCorrection:
    return StoredCorrection(value=value, by="robin", comment=1, said=SAID)


def test_a_correction_labels_what_it_speaks_of_and_nothing_else() -> None:
    here, gone, doubtful = (text_key([text]) for text in ("One query", "gone", "doubtful"))
    record = CorrectionRecord(
        texts={
            here: {"a": correction(True), "b": correction(False), "c": correction(None), "old": correction(True)},
            gone: {"a": correction(True)},
            doubtful: {"a": correction(None)},
        }
    )
    texts = {here: ("one  QUERY",), doubtful: ("doubtful",)}
    found = corrected(corrections_in(record, Lineage(())), texts, vocabulary("a", "b", "c", "d", spec=["s"]))
    (query,) = found.queries
    assert (query.turns, dict(query.values), query.line) == (("one  QUERY",), {"a": True, "b": False}, None)
    assert query.key == here
    assert (found.lost, found.unlabelled) == ((gone,), ("old",))


def test_nothing_was_corrected() -> None:
    found = corrected({}, {}, vocabulary("a"))
    assert (found.queries, found.lost, found.unlabelled) == ((), (), ())

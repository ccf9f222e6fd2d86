"""The detector on texts that others wrote and labelled; its figures are published in docs/personal-data.md."""

from __future__ import annotations

from dev.bench.personal_data import labelled_files, measure
from incumbent.text.personal_data.model import PersonalDataKind

FOUND_UNASKED = [kind for kind in PersonalDataKind if kind is not PersonalDataKind.NAME]


def share(right: int, of: int) -> float:
    return right / of


def test_it_finds_most_and_hardly_anything_else() -> None:
    files = labelled_files()
    counts = measure(text for texts in files.values() for text in texts)
    assert share(*counts.precision(FOUND_UNASKED)) >= 0.96
    assert share(*counts.recall(FOUND_UNASKED)) >= 0.95
    for kind in FOUND_UNASKED:
        assert share(*counts.precision([kind])) >= 0.9, kind
        assert share(*counts.recall([kind])) >= 0.85, kind
    assert share(counts.alarms, counts.clean) <= 0.02

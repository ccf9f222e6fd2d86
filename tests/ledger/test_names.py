"""The names on the ledger's branch: another name would be another ledger, on which nothing is known."""

from __future__ import annotations

import pytest

from incumbent.ledger import model
from incumbent.ledger.counted import counted_path
from incumbent.ledger.events import SET_EVENTS, events_path
from incumbent.text.digests import digest


def test_the_files_at_the_top_keep_their_names() -> None:
    named = {
        "RECONCILED": "reconciled.json",
        "SUGGESTIONS": "suggestions.json",
        "RUNS": "runs.json",
        "REQUESTS": "requests.json",
        "CORRECTIONS": "corrections.json",
        "CANDIDATES": "candidates.json",
        "QUARANTINES": "quarantines.json",
        "INDEX": "folders.json",
        "AGREEMENT": "agreement.json",
        "ABILITIES": "abilities.json",
        "MODELS": "models.json",
    }
    assert {name: getattr(model, name) for name in named} == named
    assert set(named.values()) <= set(model.FILES)
    assert model.BRANCH == "incumbent/ledger"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (model.record_path(7), "pull_requests/7.json"),
        (model.folder_path("eval_sets/acme/desk"), f"folders/{digest('eval_sets/acme/desk')}.json"),
        (events_path(7), "events/7.jsonl"),
        (SET_EVENTS, "events/regression_set.jsonl"),
        (counted_path("123.jsonl"), "agreement/1.json"),
    ],
)
def test_files_in_folders_keep_their_places(path: str, expected: str) -> None:
    assert path == expected

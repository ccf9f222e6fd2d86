"""What was merged while the classifier was away, or fell short, is asked about again and never lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from incumbent.classifier.model import Finding, InferenceRequest
from incumbent.errors import OutsideError
from incumbent.github.git_state import folders_of, records_of
from tests.reconcile import runs
from tests.reconcile.hub import MAIN, Hub
from tests.reconcile.runs import Reader, agent_files, config_text, imported, platform_files, reconcile, review, text_of

WELL = Reader
QUERIES = {name: text_of(word, {name: 0.9}) for name, word in (("b", "one"), ("c", "two"), ("d", "three"))}


class Away(Reader):
    """Answers nobody."""

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        if requests:
            raise OutsideError("the endpoint failed (HTTP 503)")
        yield from ()


class Tired(Reader):
    """Answers the first query, and then nobody."""

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        yield from list(super().infer(requests))[:1]
        if len(requests) > 1:
            raise OutsideError("the endpoint failed (HTTP 503)")


class Unsure(Reader):
    """Gives no valid samples on the second query."""

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        for place, finding in super().infer(requests):
            yield place, Finding(shortfall="0 of 5 samples are valid") if "two" in requests[place].turns[0] else finding


@pytest.fixture
def hub() -> Hub:
    found = Hub(platform_files([imported("r0", text_of("zero", {"a": 0.6}), "2026-01-01T00:00:00Z")], config_text()))
    assert reconcile(found)
    return found


def entries(hub: Hub) -> int:
    return len([path for path in hub.repository.files(MAIN) if path.startswith("regression_set/")])


@pytest.mark.parametrize("reader", [Away, Tired, Unsure])
@pytest.mark.parametrize("reviewed", [False, True], ids=["not reviewed", "reviewed"])
def test_merged_queries_without_a_verdict_are_judged_by_the_next_run(
    hub: Hub, reader: type[Reader], reviewed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.push("topic", agent_files(("acme", "desk"), QUERIES), hub.repository.branches[MAIN])
    pull = hub.offer("topic", "mara")
    if reviewed:
        review(hub, pull.number)
    hub.merge(pull, "mara", False)
    monkeypatch.setattr(runs, "Reader", reader)
    assert reconcile(hub)
    ledger = hub.repository.snapshot(hub.repository.branches["incumbent/ledger"])
    if not reviewed:
        assert list(records_of(ledger)) == [pull.number], "it waits to be judged"
        assert "has no verdict" in hub.comments(pull.number)[0].body
        assert "incumbent: incomplete" in hub.pulls[pull.number].labels

    monkeypatch.setattr(runs, "Reader", WELL)
    assert reconcile(hub)
    (comment,) = hub.comments(pull.number)
    assert "has no verdict" not in comment.body
    assert "incumbent: incomplete" not in hub.pulls[pull.number].labels
    if reviewed:
        assert entries(hub) == 1 + len(QUERIES)
    else:
        assert "UNSEEN" in comment.body, "nobody saw what they were admitted as"


def test_pushed_queries_without_a_verdict_are_remembered(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "Reader", Away)
    hub.push(MAIN, agent_files(("acme", "desk"), QUERIES))
    assert reconcile(hub)
    (known,) = folders_of(hub.repository.snapshot(hub.repository.branches["incumbent/ledger"]), ()).values()
    assert known is not None
    assert len(known.left) == len(QUERIES)

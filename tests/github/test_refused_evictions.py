"""Evictions by hand that people refused before: what the ledger says of them, looked up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from incumbent.github.judgement import RefusedEviction
from incumbent.github.models import IssueComment, PullRequest, ThreadComment
from incumbent.github.refused_evictions import refused_before
from incumbent.ledger.model import Refusal, Request, RequestRecord, SuggestionRecord
from incumbent.text.digests import digest
from tests.reconcile.merges import make_comment, make_pull

ONE, TWO = "1" * 16, "2" * 16
AT = "2026-11-28T05:00:00Z"
EVICT, GROUP = f"incumbent/evict/x-{ONE}", f"incumbent/group/mixed-{TWO}"
RECORD = SuggestionRecord(
    refusals=(
        Refusal(pull_request=5, branch=EVICT),
        Refusal(pull_request=6, branch=GROUP, entries={"y": "3" * 16}),
    )
)
PULL = replace(make_pull(5), branch=EVICT, closed=True, closed_at=AT)
WORDS = "/incumbent keep w: an audit"
KEEP = Request(entry="w", action="keep", by="cora", comment=9, said=digest(WORDS), grounds="4" * 16, pull_request=7)
ALL = {"x": ONE, "y": "3" * 16, "w": "4" * 16, "free": "5" * 16, "first of a group": TWO}


def found(
    pulls: dict[int, PullRequest], comment: IssueComment | None = None, requests: RequestRecord | None = None
) -> list[tuple[str, int, str | None]]:
    remark = None if comment is None else ThreadComment(number=7, comment=comment)
    requests = requests or RequestRecord(since=AT, requests=(KEEP,))
    items = refused_before(ALL, RECORD, requests, pulls.get, lambda key: remark)
    return [(item.entry, item.pull_request, item.by) for item in items]


def test_what_people_refused_is_told_with_the_pull_request_and_the_time() -> None:
    group = replace(make_pull(6), branch=GROUP, closed=True, closed_at=AT)
    comment = make_comment(9, "cora", WORDS)
    assert found({5: PULL, 6: group}, comment) == [("w", 7, "cora"), ("x", 5, None), ("y", 6, None)]
    (told,) = refused_before({"x": ONE}, RECORD, None, {5: PULL}.get, lambda key: None)
    assert told == RefusedEviction(entry="x", pull_request=5, at=AT)


@pytest.mark.parametrize(
    ("pull", "comment"),
    [
        (None, None),
        (replace(PULL, closed=False, closed_at=None), make_comment(9, "cora", "/incumbent keep w")),
        (replace(PULL, branch="main"), make_comment(9, "dora", WORDS)),
        (replace(PULL, branch=None), None),
    ],
)
def test_what_the_ledger_says_of_others_is_not_believed(pull: PullRequest | None, comment: IssueComment | None) -> None:
    assert found({} if pull is None else {5: pull}, comment) == []


def test_what_curators_asked_for_since_is_refused_by_nobody() -> None:
    again = Request(entry="x", action="suggest", by="cora", comment=10, said="0" * 24, grounds=ONE, pull_request=5)
    assert found({5: PULL}, requests=RequestRecord(since=AT, requests=(again,))) == []


def test_without_a_ledger_nothing_was_refused() -> None:
    assert refused_before(ALL, None, None, {5: PULL}.get, lambda key: None) == ()

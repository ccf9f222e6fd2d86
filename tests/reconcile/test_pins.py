"""Pins that curators spoke of: which entry is meant, and when nothing is left to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.github.judgement import ReviewJudgement, judge_facts
from bot.ledger.model import DecisionRecord
from bot.pipeline.review import Platform
from bot.reconcile.entry_updates import is_done, pinned
from tests.github.scenes import make_analysis, make_platform, make_query
from tests.reconcile.merges import decided, entry_of, settled, with_set

Q1 = make_query("q1", {"d": 0.9})
SETTLED = (settled(Q1),)
ENTRY = entry_of(Q1)
PINNED = ENTRY.model_copy(update={"pin": "an audit"})


def said(action: str = "pin", reason: str | None = "an audit", item: str = "q1") -> DecisionRecord:
    return decided(action, item, reason=reason)


def judged(platform: Platform, *decisions: DecisionRecord, queries: Any = SETTLED) -> ReviewJudgement:
    return replace(judge_facts(make_analysis(queries).judged, platform, None, ()), decisions=decisions)


@pytest.mark.parametrize(
    ("before", "decision", "after"),
    [
        (ENTRY, said(), PINNED),
        (ENTRY, said("unpin", None), None),
        (PINNED, said(), None),
        (PINNED, said(reason="another"), ENTRY.model_copy(update={"pin": "another"})),
        (PINNED, said("unpin", None), ENTRY),
        (ENTRY, said("accept"), None),
        (ENTRY, said(item="q2"), None),
    ],
)
@pytest.mark.parametrize("waits", [False, True])
def test_an_entry_gets_the_pin_that_was_said_where_it_has_another(
    before: Any, decision: DecisionRecord, after: Any, waits: bool
) -> None:
    platform = with_set(make_platform(), waiting=[before]) if waits else with_set(make_platform(), before)
    found = pinned(judged(platform, decision), platform)
    assert found == ({} if after is None else {ENTRY.id: after})


@pytest.mark.parametrize(
    ("decision", "done"),
    [(said(), True), (said(reason="other"), False), (said("unpin", None), False), (said("accept"), False)],
)
def test_a_pin_is_done_once_the_entry_bears_it(decision: DecisionRecord, done: bool) -> None:
    platform = with_set(make_platform(), PINNED)
    assert is_done(decision, judged(platform, decision), platform) is done


def test_an_update_of_an_entry_is_meant_by_the_id_that_it_has() -> None:
    platform = with_set(make_platform(), ENTRY)
    edited = make_query("q1", {"d": 0.9}, text="another text by now")
    assert pinned(judged(platform, said(), queries=(edited,)), platform) == {ENTRY.id: PINNED}


def test_what_has_no_entry_yet_or_no_review_is_pinned_by_nothing() -> None:
    platform = make_platform()
    judgement = judged(platform, said(), queries=(Q1,))
    assert pinned(judgement, platform) == {}
    assert not is_done(said(), judgement, platform)
    assert pinned(replace(judgement, review=None), with_set(platform, ENTRY)) == {}

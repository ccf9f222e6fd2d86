"""Counts of what people made of verdicts: the same whether files of events were counted before or not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from incumbent.files.git import blob_id
from incumbent.ledger.agreement.agreement import Tally, agreement_in, agreement_of, tally_of
from incumbent.ledger.agreement.responses import responses_of
from incumbent.ledger.counted import AgreementRecord, ResponseGroup
from incumbent.ledger.event_files import appended, recorded_in
from incumbent.ledger.events import LedgerEvent, Suggested
from incumbent.ledger.store import record_text
from incumbent.reconcile import agreement_counts
from incumbent.reconcile.agreement_counts import EventCounts, carried_to, count, counts_in, recorded
from tests.agreement.factories import (
    ADMIT,
    LEAVE,
    answered,
    by_hand,
    corrected,
    day,
    decided,
    facts,
    passed,
    requested,
    settled,
    shown,
    withdrawn,
)
from tests.factories import make_taxonomy

TWO = ((1, "ann"), (2, "bob"))
TREE, CONDITIONS = "a" * 40, "b" * 24
SET = "regression_set.jsonl"


class Folder:
    """The files of events, of which it is noted which were read."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.texts = files
        self.files = {name: text.encode() for name, text in files.items()}
        self.read: set[str] = set()

    def contents(self, names: Collection[str]) -> list[tuple[str, bytes]]:
        self.read.update(names)
        return [(name, self.files[name]) for name in sorted(names)]

    def count(self, before: EventCounts | None = None) -> EventCounts:
        blobs = {name: blob_id(content) for name, content in self.files.items()}
        return count(blobs, before, self.contents, tuple)


def kept(counts: EventCounts) -> EventCounts:
    """``counts`` as the next run finds them on the ledger."""
    record, parts = recorded(counts, TREE, CONDITIONS)
    record = type(record).model_validate_json(record_text(record), strict=False)
    found = counts_in(record, [type(part).model_validate_json(record_text(part)) for part in parts.values()])
    assert found is not None
    return found


def own(number: int, entry: str, codes: str = ADMIT, **more: Any) -> list[LedgerEvent]:
    """What is told of a query that a merge let pass."""
    return [shown(entry, codes, pull_request=number, **more), passed(entry, codes, pull_request=number)]


def test_a_file_that_was_counted_is_not_read_again() -> None:
    files = {f"{number}.jsonl": appended(None, own(number, f"q{number}")) for number in range(1, 40)}
    first = kept(Folder(files).count())
    again = Folder(files)
    assert again.count(first) == first
    assert again.read == set()
    more = Folder({**files, "40.jsonl": appended(None, own(40, "q7"))})
    assert more.count(first) == Folder(more.texts).count()
    # The same query in another pull request is the same question.
    assert more.read == {"40.jsonl", "7.jsonl"}
    assert more.count(first).tally.people == {"max": 39}


def test_what_people_took_out_by_hand_is_looked_for_where_it_was_let_in() -> None:
    files = {"1.jsonl": appended(None, own(1, "q1")), "2.jsonl": appended(None, own(2, "q2"))}
    first = kept(Folder(files).count())
    undone = Folder({**files, SET: appended(None, [by_hand(removed=("q1",))])})
    found = undone.count(first)
    assert undone.read == {SET, "1.jsonl"}
    assert found == Folder(undone.texts).count()
    assert (found.tally.gone[False], found.tally.people["max"]) == (1, 1)


@pytest.mark.parametrize("at_once", [1, 100])
def test_a_question_of_several_pull_requests_is_one_however_few_events_are_counted_at_once(at_once: int) -> None:
    files = {
        f"{number}.jsonl": appended(None, own(number, entry)) for number, entry in ((1, "q1"), (2, "q2"), (3, "q1"))
    }
    with mock.patch.object(agreement_counts, "AT_ONCE", at_once):
        assert Folder(files).count().tally.people == {"max": 2}


def test_what_did_not_last_is_kept_apart_by_who_had_spoken_explicitly() -> None:
    counts = EventCounts(tally=Tally(gone=Counter({True: 2, False: 1})), files={})
    assert kept(counts) == counts


@pytest.mark.parametrize("change", [{"1.jsonl": "rewritten\n"}, {"1.jsonl": None}])
def test_where_lines_were_changed_or_went_all_is_counted(change: dict[str, str | None]) -> None:
    files = {"1.jsonl": appended(None, own(1, "q1")), "2.jsonl": appended(None, own(2, "q2"))}
    first = kept(Folder(files).count())
    changed = Folder({name: text for name, text in {**files, **change}.items() if text is not None})
    assert changed.count(first) == Folder(changed.texts).count()
    assert "2.jsonl" in changed.read


def test_counts_of_other_files_are_no_counts() -> None:
    record, parts = recorded(Folder({"1.jsonl": appended(None, own(1, "q1"))}).count(), TREE, CONDITIONS)
    assert counts_in(record, parts.values()) is not None
    assert counts_in(record, ()) is None


ANSWER = {
    "decision": "INCLUDE",
    "route": "direct",
    "reasons": ["NEW_COVERAGE"],
    "month": "2026-03",
    "explicit": True,
    "agrees": True,
    "count": 2,
}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"count": 0}, ("answers", 0, "count")),
        ({"explicit": 1}, ("answers", 0, "explicit")),
        ({"more": 1}, ("answers", 0, "more")),
        ({}, None),
    ],
)
def test_counts_are_rows_in_the_file_and_strict(change: dict[str, Any], fault: tuple[str | int, ...] | None) -> None:
    data = {"events": TREE, "conditions": CONDITIONS, "files": "0" * 24, "answers": [ANSWER | change]}
    if fault is None:
        record = AgreementRecord.model_validate(data)
        assert record.answers == {ResponseGroup("INCLUDE", "direct", ("NEW_COVERAGE",), "2026-03", True, True): 2}
        assert json.loads(record_text(record))["answers"] == [ANSWER]
        return
    with pytest.raises(ValidationError) as caught:
        AgreementRecord.model_validate(data)
    assert [item["loc"] for item in caught.value.errors()] == [fault]


def test_where_counts_were_edited_all_is_counted() -> None:
    files = {"1.jsonl": appended(None, [shown("q1", ADMIT, pull_request=1)])}
    judged = [decided("q1", ADMIT, action="accept", by=by, pull_request=1, comment=place) for place, by in TWO]
    files["1.jsonl"] = appended(files["1.jsonl"], judged)
    first = kept(Folder(files).count())
    assert first.tally.is_possible
    assert first.tally.questions
    more = Folder({"1.jsonl": appended(files["1.jsonl"], [withdrawn(judged[0])])})
    emptied = replace(first, tally=replace(first.tally, people=Counter(), answers=Counter()))
    many = replace(first.tally, questions=Counter(dict.fromkeys(first.tally.questions, 10**8)))
    unwanted = Counter(item._replace(wanted=item.judged + 1) for item in first.tally.questions)
    beyond = replace(first.tally, questions=unwanted)
    assert not many.is_possible
    assert not beyond.is_possible
    for edited in (emptied, replace(first, tally=many), replace(first, tally=beyond)):
        assert more.count(edited) == more.count()


def test_files_of_a_hundred_pull_requests_are_kept_together() -> None:
    names = ["7.jsonl", "99.jsonl", "100.jsonl", SET, "x/7.jsonl"]
    _, parts = recorded(Folder(dict.fromkeys(names, "")).count(), TREE, CONDITIONS)
    assert {path: set(part.files) for path, part in parts.items()} == {
        "agreement/0.json": {"7.jsonl", "99.jsonl"},
        "agreement/1.json": {"100.jsonl"},
        "agreement/set.json": {SET, "x/7.jsonl"},
    }


def test_what_was_renamed_before_counts_under_the_name_of_now() -> None:
    events = (shown(facts=facts(scores={"x": 0.9}, new=("x",))), decided("q1", action="reject", reason="No."))
    now = make_taxonomy("a", "b")
    renamed = now.capabilities[0].model_copy(update={"was": "x"})
    before = now.model_copy(update={"retired": ("x",), "capabilities": (renamed, *now.capabilities[1:])})
    text = appended(None, events)
    for previous, name in ((tuple, "x"), (lambda: (before,), "a")):
        found = count(
            {"7.jsonl": blob_id(text)}, None, lambda _: [("7.jsonl", text.encode())], carried_to(now, previous)
        )
        assert [item.capability for item in agreement_in(found.tally).overridden] == [name]


# Any course of events ------------------------------------------------------------------------------------------------

QUERIES = st.sampled_from(["q1", "q2", "q3"])
CODES = st.sampled_from([ADMIT, LEAVE, "REPLACE review DOMINATES"])
WHO = st.sampled_from(["ann", "Bob", "ghost", "ci[bot]"])
DAYS = st.integers(1, 28).map(day)
NUMBERS = st.integers(1, 3)
COMMENTS = st.integers(1, 4)
WORDS = st.builds(
    lambda entry, codes, **more: decided(entry, codes, **more),
    QUERIES,
    CODES,
    action=st.sampled_from(["accept", "reject", "pin"]),
    by=WHO,
    at=DAYS,
    comment=COMMENTS,
    pull_request=NUMBERS,
    reason=st.sampled_from([None, "No.", "no."]),
)
ON_PULL_REQUESTS = st.one_of(
    st.builds(
        lambda entry, codes, new, **more: shown(entry, codes, facts=facts(new=new), **more),
        QUERIES,
        CODES,
        st.sampled_from([(), ("a",), ("b",)]),
        at=DAYS,
        pull_request=NUMBERS,
    ),
    WORDS,
    WORDS.map(withdrawn),
    st.builds(
        lambda entry, codes, **more: passed(entry, codes, **more), QUERIES, CODES, by=WHO, at=DAYS, pull_request=NUMBERS
    ),
    st.builds(lambda entry, **more: corrected(entry, **more), QUERIES, by=WHO, at=DAYS),
)
ON_THE_SET = st.one_of(
    st.builds(lambda entry, **more: answered(entry, **more), QUERIES, agrees=st.booleans(), by=WHO, at=DAYS),
    st.builds(
        lambda number, entry, admits: Suggested(
            at=day(1), pull_request=number, branch="b", suggestion="swap", entries=(entry,), admits=admits
        ),
        st.sampled_from([20, 21]),
        QUERIES,
        QUERIES,
    ),
    st.builds(
        lambda entry, action, **more: requested(entry, action, **more),
        QUERIES,
        st.sampled_from(["undo", "restore"]),
        at=DAYS,
        comment=COMMENTS,
    ),
    st.builds(lambda entry, comment: settled(entry, comment=comment), QUERIES, COMMENTS),
    st.builds(lambda added, removed, at: by_hand(added=(added,), removed=(removed,), at=at), QUERIES, QUERIES, DAYS),
)
# Somebody may have put any line into any file.
PLACES = st.sampled_from(["1.jsonl", "2.jsonl", "3.jsonl", SET])
LINES = st.lists(
    st.one_of(st.tuples(PLACES, ON_PULL_REQUESTS), st.tuples(st.just(SET), ON_THE_SET), st.tuples(PLACES, ON_THE_SET)),
    max_size=25,
)


@given(LINES, st.lists(st.integers(0, 25), max_size=3), st.integers(1, 10))
def test_counts_are_the_same_whatever_was_counted_before(lines: Any, stops: list[int], at_once: int) -> None:
    with mock.patch.object(agreement_counts, "AT_ONCE", at_once):
        counted_step_by_step(lines, stops)


def counted_step_by_step(lines: Any, stops: list[int]) -> None:
    """Some lines are counted after others, each time also anew."""
    before: EventCounts | None = None
    texts: dict[str, str] = {}
    for start, stop in pairwise([0, *sorted(stops), len(lines)]):
        for name, event in lines[start:stop]:
            texts[name] = appended(texts.get(name), [event])
        anew = Folder(texts).count()
        counted = Folder(texts).count(before)
        assert counted == anew
        assert anew.tally.is_possible
        before = kept(counted)
        assert before == counted
    # Of a comment that decided twice, a file has the first line alone.
    events = [event for name in sorted(texts) for event in recorded_in(texts[name].encode(), name).events]
    spaced = {
        name: "\n".join(json.dumps(json.loads(line)) for line in text.splitlines()) for name, text in texts.items()
    }
    assert Folder(spaced).count().tally == anew.tally
    assert anew.tally == tally_of(responses_of(events))
    assert agreement_in(anew.tally) == agreement_of(responses_of(events))

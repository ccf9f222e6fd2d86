"""Scores that come back: what of them is settled, and against whom the others are judged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.classifier.classify import ClassifierResult
from incumbent.classifier.model import Classification, Identity, Judgement
from incumbent.curator.entry import Entry, Evicted, Source, Tombstone, entry_id
from incumbent.curator.store import RegressionSet
from incumbent.intake.query import Query, Setup
from incumbent.pipeline.consolidate import Consolidation, consolidate
from incumbent.pipeline.matching import asked, content_key, settle
from incumbent.pipeline.review import ClassifiedSubmission, Platform, judge
from incumbent.pipeline.submission import Submission
from incumbent.rater.adapter import rate
from incumbent.rater.scores import KeptScores
from tests.factories import make_config, make_entry, make_taxonomy, query

TAXONOMY = make_taxonomy("a", "b", "c")
TEXTS = ["Where is my parcel?", "Cancel the order of yesterday.", "Which invoices are overdue by now?"]
AGENT = ("acme", "desk")
M1 = Identity(backend="embedded", model="m1", prompt="p1", samples=5)
M2 = Identity(backend="embedded", model="m2", prompt="p1", samples=5)
TX, OTHER = TEXTS[:2]


def known(entries: list[Entry], waiting: list[Entry] | None = None, graves: list[Entry] | None = None) -> RegressionSet:
    evicted = Evicted(at="2026-01-01T00:00:00Z", reason="redundant")
    return RegressionSet(
        {item.id: item for item in sorted(entries, key=lambda item: item.id)},
        {item.id: item for item in sorted(waiting or [], key=lambda item: item.id)},
        {item.id: Tombstone(id=item.id, evicted=evicted, restore="x", entry=item) for item in graves or []},
    )


def platform(regression_set: RegressionSet) -> Platform:
    return Platform(taxonomy=TAXONOMY, config=make_config(), regression_set=regression_set)


def held(id: str, text: str, scores: dict[str, float] | None = None, **more: Any) -> Entry:
    return make_entry(id, {"a": 0.9} if scores is None else scores, text=text, **more)


def said(found: Consolidation) -> dict[str, str]:
    """What became of each query, in a word or two."""
    return {
        **{name: f"settled {record.id}" for name, record in found.settled.items()},
        **{verdict.id: " ".join(verdict.reasons) for verdict in found.verdicts},
    }


KEPT = KeptScores(queries=(query("x", {"a": 0.9}, text=TX),), entries={"x": "e"})


@pytest.mark.parametrize(
    ("regression_set", "expected"),
    [
        (known([held("e", TX)]), "settled e"),
        (known([], waiting=[held("e", TX)]), "settled e"),
        (known([], graves=[held("e", TX)]), "settled e"),
        (known([held("e", OTHER)]), "NEW_COVERAGE"),
        (known([], waiting=[held("e", OTHER)]), "NEW_COVERAGE"),
        (known([], graves=[held("e", OTHER)]), "NEW_COVERAGE"),
        (known([]), "NEW_COVERAGE"),
        (known([held("f", TX)]), "CLONE"),
        (known([held("e", OTHER), held("f", TX)]), "CLONE"),
    ],
    ids=["in R", "in line", "evicted", "edits", "edits in line", "new text after an eviction", "new", "a copy", "both"],
)
def test_an_entry_settles_what_says_the_same_and_no_query_is_judged_against_its_own(
    regression_set: RegressionSet, expected: str
) -> None:
    assert said(consolidate(platform(regression_set), KEPT)) == {"x": expected}


def test_who_names_no_entry_is_judged_against_everybody() -> None:
    nobodys = KeptScores(queries=KEPT.queries)
    assert said(consolidate(platform(known([held("e", TX)])), nobodys)) == {"x": "CLONE"}


@pytest.mark.parametrize(
    ("text", "attachments", "expected"),
    [(TX, (), "settled e"), (OTHER, (), "NEW_COVERAGE"), (TX, ("boat.png",), "NEW_COVERAGE")],
    ids=["the same", "another text", "something else attached"],
)
def test_what_was_scored_decides_where_the_turns_came_back_otherwise(
    text: str, attachments: tuple[str, ...], expected: str
) -> None:
    entry = held("e", text, setup=Setup(attachments=attachments))
    shown = KeptScores(
        queries=(query("x", {"a": 0.9}, text="[looks like a secret]"),),
        entries={"x": "e"},
        contents={"x": content_key(((TX,), (), None))},
    )
    assert said(consolidate(platform(known([entry])), shown)) == {"x": expected}


def test_what_an_entry_settles_stays_settled_when_that_is_taken_for_gone() -> None:
    assert said(consolidate(platform(known([held("e", TX)])), KEPT, gone=["e"])) == {"x": "settled e"}
    others = platform(known([held("e", OTHER), held("f", TX)]))
    assert said(consolidate(others, KEPT, gone=["f"])) == {"x": "NEW_COVERAGE"}


@pytest.mark.parametrize(
    ("identity", "stale", "expected"),
    [(None, ["n"], "REDUNDANT"), (M1, ["n"], "REDUNDANT"), (M2, ["f", "g", "w"], "NEW_COVERAGE")],
    ids=["not said", "that of the set", "another"],
)
def test_scores_are_compared_with_those_of_their_own_classifier(
    identity: Identity | None, stale: list[str], expected: str
) -> None:
    newer = held("n", TEXTS[2])
    newer = newer.model_copy(update={"classified": newer.classified.model_copy(update={"model": "m2"})})
    line = [held("w", "Freeze the card at once, please.", {"b": 0.8})]
    regression_set = known([held("f", OTHER), held("g", "Close the branch on Monday.", {"b": 0.7})], [*line, newer])
    kept = KeptScores(queries=(query("x", {"a": 0.9}, text=TX),), identity=identity)
    found = consolidate(platform(regression_set), kept)
    assert [item.id for item in found.stale] == stale
    if identity == M2:
        expected = "REDUNDANT"  # ``n`` counts now, and covers the same.
    assert said(found) == {"x": expected}


SCORES = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.sampled_from([0.3, 0.7, 0.9]), max_size=3)
ITEMS = st.sampled_from(["x", "y", "z"])


@st.composite
def submissions(draw: st.DrawFn) -> tuple[Submission, dict[str, dict[str, float]]]:
    """An eval set, and the scores of its queries."""
    texts = draw(st.dictionaries(ITEMS, st.sampled_from(TEXTS), min_size=1))
    attached = draw(st.sampled_from([(), ("boat.png",)]))
    queries = tuple(
        Query(id=name, turns=(text,), setup=Setup(attachments=attached if name == "x" else ()), file="e", line=1)
        for name, text in texts.items()
    )
    brought = Submission(customer=AGENT[0], agent=AGENT[1], folder="f", queries=queries)
    return brought, {name: draw(SCORES) for name in texts}


@st.composite
def sets(draw: st.DrawFn) -> RegressionSet:
    """Entries of the same agent and of another, in the set, in line and evicted; some of another classifier."""
    places = draw(st.lists(st.tuples(st.sampled_from([AGENT, ("bolt", "till")]), ITEMS), unique=True, max_size=5))
    parts: tuple[list[Entry], list[Entry], list[Entry]] = ([], [], [])
    for agent, item in places:
        source = Source(customer=agent[0], agent=agent[1], eval_set="e", item=item)
        entry = held(entry_id(*source.place), draw(st.sampled_from(TEXTS)), draw(SCORES), source=source)
        model = draw(st.sampled_from(["m1", "m1", "m2"]))
        entry = entry.model_copy(update={"classified": entry.classified.model_copy(update={"model": model})})
        draw(st.sampled_from(parts)).append(entry)
    return known(*parts)


def classified(submission: Submission, scores: dict[str, dict[str, float]]) -> dict[str, Classification]:
    return {
        item.id: Classification(
            judgements={name: Judgement(True, score, "inference") for name, score in scores[item.id].items()},
        )
        for item in submission.queries
    }


@given(submissions(), sets(), st.sampled_from([M1, M2]), st.data())
def test_kept_scores_are_judged_as_the_folder_is_whatever_has_entered_since(
    brought: tuple[Submission, dict[str, dict[str, float]]],
    before: RegressionSet,
    identity: Identity,
    data: st.DataObject,
) -> None:
    submission, scores = brought
    found = classified(submission, scores)
    by_id = {item.id: item for item in submission.queries}
    settling = settle([submission], before)
    kept = KeptScores(
        queries=tuple(rate(id, by_id[id].turns, item, TAXONOMY, "acme", personal={}) for id, item in found.items()),
        entries=settling.entries,
        contents={item.id: content_key(asked(item)) for item in submission.queries},
        identity=identity,
    )
    texts = [item.turns for item in submission.queries]
    # Of copies either may be the one that entered.
    new = sorted(name for name in settling.targets if texts.count(by_id[name].turns) == 1)
    entered = data.draw(st.sets(st.sampled_from(new))) if new else set()
    entries = {
        settling.targets[name]: make_entry(
            settling.targets[name],
            scores[name],
            text=by_id[name].turns[0],
            source=Source(customer=AGENT[0], agent=AGENT[1], eval_set="e", item=name),
            setup=by_id[name].setup,
        )
        for name in sorted(entered)
    }
    after = RegressionSet(
        {**before.entries, **entries},
        {id: item for id, item in before.waiting.items() if id not in entries},
        {id: item for id, item in before.tombstones.items() if id not in entries},
    )
    review = judge(
        platform(after),
        [ClassifiedSubmission(submission=submission, result=ClassifierResult(classifications=found))],
        identity,
    )
    consolidation = consolidate(platform(after), kept)
    assert {item.id: item for item in consolidation.verdicts} == {item.id: item for item in review.verdicts}
    assert consolidation.settled == review.settled
    assert consolidation.stale == review.stale

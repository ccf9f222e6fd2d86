"""What an import does to the regression set, and what the rules say of it: tables of cases, and properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from incumbent.classifier.model import Identity
from incumbent.curator.entry import Entry, Evicted, Imported, Source, Tombstone, entry_id
from incumbent.curator.file_changes import render
from incumbent.curator.staging import AuditStamp
from incumbent.curator.store import RegressionSet
from incumbent.errors import InputError
from incumbent.intake.query import Query, Setup
from incumbent.pipeline.import_plan import (
    NOT_DECLARED,
    Bundle,
    ImportedAgent,
    ImportItem,
    ImportPlan,
    ImportVerdicts,
    Origin,
    appraise,
    compare,
    gone,
    plan_import,
)
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import Submission
from incumbent.rater.model import ScoredQuery
from tests.factories import make_config, make_entry, make_taxonomy

IDENTITY = Identity(backend="embedded", model="m1", prompt="p1", samples=5)
TAXONOMY = make_taxonomy("a", "b")
NOW = AuditStamp(at="2026-03-03T00:00:00Z", commit="c" * 40, by="Robin")
LATER = AuditStamp(at="2026-04-04T00:00:00Z", commit="d" * 40, by="Cora")
DECLARED = ImportedAgent(imported=Imported(declared=True, folder="agents/desk"), shown="agents/desk")
EMPTY = RegressionSet({}, {}, {})


def id_of(item: str, agent: str = "desk") -> str:
    return entry_id("acme", agent, item)


def bundle(
    texts: Mapping[str, str],
    agent: str = "desk",
    spoken: ImportedAgent | None = None,
    file: str = "old.csv",
    **more: Any,
) -> Bundle:
    """The queries of one file of acme's, by name; ``more`` goes to each query."""
    queries = tuple(
        Query(id=name, turns=(text,), file=f"in/{file}", line=line, **more)
        for line, (name, text) in enumerate(texts.items(), 2)
    )
    origin = Origin(eval_set=file, spoken=spoken or ImportedAgent())
    return Bundle(
        submission=Submission(customer="acme", agent=agent, folder="in", queries=queries),
        origins={query.id: origin for query in queries},
    )


def test_a_bundle_says_which_specifications_speak_for_its_queries() -> None:
    texts = {"q1": "Show my orders", "q2": "Pay my bill"}
    declared, undeclared = bundle(texts, spoken=DECLARED), bundle(texts)
    assert (declared.specifications, declared.undeclared) == (("agents/desk",), 0)
    assert (undeclared.specifications, undeclared.undeclared) == ((), 2)


def brought(
    known: RegressionSet,
    *bundles: Bundle,
    scores: Mapping[str, Mapping[str, float]] | None = None,
    texts: Mapping[str, str] | None = None,
    occasion: AuditStamp = NOW,
) -> ImportPlan:
    """The plan of an import of ``bundles``; every query has the same score unless said otherwise, by item."""
    items = compare(bundles, known)
    return plan_import(items, scored(items, scores), known, texts or {}, TAXONOMY, IDENTITY, occasion)


def scored(
    items: Sequence[ImportItem], scores: Mapping[str, Mapping[str, float]] | None = None
) -> dict[str, ScoredQuery]:
    return {
        item.id: ScoredQuery(id=item.id, turns=item.query.turns, scores=(scores or {}).get(item.query.id, {"a": 0.9}))
        for item in items
        if item.classify
    }


def standings(known: RegressionSet, *bundles: Bundle) -> dict[str, str]:
    return {item.query.id: item.standing.value for item in compare(bundles, known)}


def theirs(item: str, text: str, **more: Any) -> Entry:
    """The entry of a query that its customer's own eval set holds."""
    source = Source(customer="acme", agent="desk", eval_set="eval_sets/acme/desk/evals.yaml", item=item)
    return make_entry(id_of(item), {"a": 0.9}, text=text, source=source, **more)


def known(*entries: Entry, waiting: Sequence[Entry] = (), graves: Sequence[Entry] = ()) -> RegressionSet:
    evicted = Evicted(at="2026-01-01T00:00:00Z", reason="redundant")
    return RegressionSet(
        {entry.id: entry for entry in entries},
        {entry.id: entry for entry in waiting},
        {entry.id: Tombstone(id=entry.id, evicted=evicted, restore="x", entry=entry) for entry in graves},
    )


def platform(regression_set: RegressionSet) -> Platform:
    return Platform(taxonomy=TAXONOMY, config=make_config(ceiling=3), regression_set=regression_set)


def test_every_query_enters_whatever_the_ceiling() -> None:
    plan = brought(EMPTY, bundle({f"q{place}": f"text {place}" for place in range(9)}))
    assert list(plan.written) == [id_of(f"q{place}") for place in range(9)]
    assert set(plan.after.entries) == set(plan.written)
    assert [change.path for change in plan.file_changes] == [f"regression_set/{id}.yaml" for id in plan.written]


def test_an_entry_says_who_imported_it_from_where() -> None:
    setup = Setup(cost=2.0, attachments=("photo.png",))
    (entry,) = brought(EMPTY, bundle({"q": "text"}, setup=setup, expected={"x": [1]})).written.values()
    assert entry.source == Source(
        customer="acme", agent="desk", eval_set="old.csv", item="q", commit=NOW.commit, imported=NOT_DECLARED
    )
    assert (entry.admitted.at, entry.admitted.by, entry.admitted.reasons) == (NOW.at, "Robin", ("IMPORTED",))
    assert (entry.admitted.decision, entry.admitted.route) == ("INCLUDE", "review")
    assert (entry.scores, entry.expected, entry.setup) == ({"a": 0.9}, {"x": [1]}, setup)
    assert entry.classified.definitions == {"a": TAXONOMY.by_id["a"].definition}


def test_where_nobody_is_named_a_person_did_it() -> None:
    (entry,) = brought(
        EMPTY, bundle({"q": "text"}), occasion=AuditStamp(at=NOW.at, commit=None, by=None)
    ).written.values()
    assert (entry.admitted.by, entry.source and entry.source.commit) == ("a person", None)


def test_a_query_without_any_score_enters_too() -> None:
    (entry,) = brought(EMPTY, bundle({"q": "text"}), scores={"q": {}}).written.values()
    assert entry.scores == {}


FIRST = {"q1": "one", "q2": "two"}


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (bundle(FIRST), {"q1": "unchanged", "q2": "unchanged"}),
        (bundle({"q2": "two", "q1": "one"}), {"q2": "unchanged", "q1": "unchanged"}),
        (bundle({"q1": "other", "q2": "two"}), {"q1": "updated", "q2": "unchanged"}),
        (bundle({**FIRST, "q3": "one"}), {"q1": "unchanged", "q2": "unchanged", "q3": "added"}),
        (bundle({"renamed": "one"}), {"renamed": "updated"}),
        (bundle(FIRST, file="moved.csv"), {"q1": "updated", "q2": "updated"}),
        (bundle(FIRST, expected="an answer"), {"q1": "updated", "q2": "updated"}),
        (bundle(FIRST, setup=Setup(cost=2.0)), {"q1": "updated", "q2": "updated"}),
        (bundle(FIRST, spoken=DECLARED), {"q1": "updated", "q2": "updated"}),
        (bundle(FIRST, agent="shop"), {"q1": "added", "q2": "added"}),
    ],
)
def test_a_second_import_finds_what_the_first_brought(second: Bundle, expected: dict[str, str]) -> None:
    assert standings(brought(EMPTY, bundle(FIRST)).after, second) == expected


@pytest.mark.parametrize(
    ("second", "asked"),
    [
        (bundle(FIRST, expected="an answer"), []),
        (bundle({"q1": "other", "q2": "two"}), ["q1"]),
        (bundle(FIRST, spoken=DECLARED), ["q1", "q2"]),
    ],
)
def test_only_what_a_score_rests_on_is_classified_again(second: Bundle, asked: list[str]) -> None:
    first = brought(EMPTY, bundle(FIRST)).after
    assert [item.query.id for item in compare([second], first) if item.classify] == asked


def test_an_update_keeps_what_people_did_with_the_entry() -> None:
    first = brought(EMPTY, bundle({"q": "one"})).after
    kept = {id: entry.model_copy(update={"pin": "an audit"}) for id, entry in first.entries.items()}
    text = f"# a remark\n{render(kept[id_of('q')])}"
    again = RegressionSet(kept, {}, {})
    plan = brought(again, bundle({"q": "two"}), scores={"q": {"b": 0.7}}, texts={id_of("q"): text}, occasion=LATER)
    (entry,), (change,) = plan.written.values(), plan.file_changes
    assert (entry.turns, entry.scores, entry.pin, entry.admitted.at) == (("two",), {"b": 0.7}, "an audit", NOW.at)
    assert entry.source is not None
    assert entry.source.commit == LATER.commit
    assert change.content is not None
    assert change.content.startswith("# a remark\n")
    assert Entry.model_validate(yaml.safe_load(change.content)) == entry


def test_an_update_without_a_new_text_keeps_its_scores() -> None:
    first = brought(EMPTY, bundle({"q": "one"})).after
    (entry,) = brought(first, bundle({"q": "one"}, expected="yes"), occasion=LATER).written.values()
    assert (entry.scores, entry.expected) == ({"a": 0.9}, "yes")


def test_a_number_that_is_none_is_equal_to_itself() -> None:
    first = brought(EMPTY, bundle({"q": "one"}, expected=float("nan"))).after
    assert standings(first, bundle({"q": "one"}, expected=float("nan"))) == {"q": "unchanged"}
    assert standings(first, bundle({"q": "one"}, expected=1)) == {"q": "updated"}


def test_a_query_of_a_customers_own_eval_set_keeps_its_entry() -> None:
    assert standings(known(theirs("q", "one")), bundle({"q": "one"}, expected="other")) == {"q": "unchanged"}
    unsourced = theirs("q", "one").model_copy(update={"source": None})
    assert standings(known(unsourced), bundle({"q": "one"})) == {"q": "unchanged"}


@pytest.mark.parametrize("place", ["entries", "waiting"])
def test_another_text_of_a_customers_own_query_is_a_fault(place: str) -> None:
    entry = theirs("q", "one")
    there = known(entry) if place == "entries" else known(waiting=[entry])
    with pytest.raises(InputError) as caught:
        compare([bundle({"q": "other", "fine": "text"}), bundle({"q": "fine too"}, agent="shop")], there)
    assert [(item.file, item.line) for item in caught.value.problems] == [("in/old.csv", 2)]


def test_what_waits_or_was_evicted_stays_as_it_is() -> None:
    there = known(waiting=[theirs("w", "one")], graves=[theirs("g", "two")])
    assert standings(there, bundle({"w": "one", "g": "two"})) == {"w": "waiting", "g": "evicted"}
    plan = brought(there, bundle({"w": "one", "g": "two"}))
    assert (plan.written, plan.file_changes, plan.after) == ({}, (), there)


def test_another_text_under_the_name_of_an_evicted_query_is_a_new_one() -> None:
    plan = brought(known(graves=[theirs("g", "two")]), bundle({"g": "other"}))
    assert plan.after.tombstones == {}
    assert [(change.path.split("/")[1], change.content is None) for change in plan.file_changes] == [
        (f"{id_of('g')}.yaml", False),
        ("evicted", True),
    ]


def test_an_imported_query_that_waits_enters_with_another_text() -> None:
    """It was evicted, and came back while the set was full."""
    waiting = brought(EMPTY, bundle({"q": "one"})).written[id_of("q")]
    plan = brought(known(waiting=[waiting]), bundle({"q": "other"}))
    assert (list(plan.after.entries), plan.after.waiting) == ([id_of("q")], {})
    assert [change.path for change in plan.file_changes if change.content is None] == [
        f"regression_set/waiting/{id_of('q')}.yaml"
    ]


def test_what_left_its_file_is_named() -> None:
    first = bundle({"q1": "one", "q2": "two", "q3": "three"})
    there = brought(EMPTY, first, bundle({"q9": "nine"}, agent="shop", file="other.csv")).after
    entries = {**there.entries, "theirs": theirs("t", "t"), "nobody": make_entry("nobody", {})}
    there = RegressionSet(entries, {}, {})
    again = bundle({"q1": "one", "q2": "two!"})
    assert gone([again], compare([again], there), there) == (id_of("q3"),)
    elsewhere = bundle({"q1": "one"}, file="another.csv")
    assert gone([elsewhere], compare([elsewhere], there), there) == ()


def appraised(there: RegressionSet, *bundles: Bundle, **scores: Mapping[str, float]) -> ImportVerdicts:
    items = compare(bundles, there)
    return appraise(items, scored(items, scores), platform(there), IDENTITY)


def test_the_rules_judge_the_import_against_the_set_without_it() -> None:
    resident = make_entry("r", {"a": 0.95})
    scores = {"q1": {"a": 0.9}, "q2": {"b": 0.9}, "q3": {"a": 0.9}}
    texts = {"q1": "one " * 9, "q2": "two " * 9, "q3": resident.turns[0]}
    found = appraised(known(resident), bundle(texts), **scores)
    assert {verdict.id: [reason.value for reason in verdict.reasons] for verdict in found.verdicts} == {
        id_of("q1"): ["FILLS_FLOOR"],
        id_of("q2"): ["NEW_COVERAGE"],
        id_of("q3"): ["CLONE"],
    }
    assert found.origins[id_of("q1")].agent == "desk"


def test_what_waits_counts_as_present() -> None:
    waiting = make_entry("w", {"b": 0.95})
    (verdict,) = appraised(known(waiting=[waiting]), bundle({"q": "two"}), q={"b": 0.9}).verdicts
    assert verdict.reasons == ("FILLS_FLOOR",)


def test_what_stays_out_is_not_judged() -> None:
    there = known(waiting=[theirs("w", "one")], graves=[theirs("g", "two")])
    assert appraised(there, bundle({"w": "one", "g": "two"})).verdicts == ()


TEXTS = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3", "q4"]), st.sampled_from(["one " * 9, "one " * 8, "two " * 9, "x"]), min_size=1
)
SCORES = st.dictionaries(st.sampled_from("ab"), st.sampled_from([0.3, 0.6, 0.9]))


@given(TEXTS, st.lists(SCORES, min_size=4, max_size=4), TEXTS)
def test_an_import_run_again_plans_nothing_and_says_the_same(
    texts: dict[str, str], scores: list[dict[str, float]], others: dict[str, str]
) -> None:
    by_item = dict(zip(("q1", "q2", "q3", "q4"), scores, strict=True))
    before = brought(EMPTY, bundle(others, agent="shop"), scores=by_item).after
    first = brought(before, bundle(texts), scores=by_item)
    again = brought(first.after, bundle(texts), occasion=LATER)
    assert (again.file_changes, again.after) == ((), first.after)
    assert appraised(first.after, bundle(texts)).verdicts == appraised(before, bundle(texts), **by_item).verdicts


@given(TEXTS, TEXTS)
def test_whatever_was_imported_before_every_query_of_the_file_is_in_the_set(
    texts: dict[str, str], others: dict[str, str]
) -> None:
    plan = brought(brought(EMPTY, bundle(others)).after, bundle(texts))
    own = [entry for entry in plan.after.entries.values() if entry.source is not None]
    held = {(entry.source.item, entry.turns[0]) for entry in own if entry.source is not None}
    assert set(texts.items()) <= held


def test_a_file_that_gives_the_same_ids_as_another_takes_nobodys_place() -> None:
    there = brought(EMPTY, bundle({"q": "text"})).after
    assert standings(there, bundle({"q": "text"}, file="renamed.csv")) == {"q": "updated"}
    with pytest.raises(InputError) as caught:
        compare([bundle({"q": "quite another"}, file="other.csv")], there)
    (problem,) = caught.value.problems
    assert problem.message == f"its entry {id_of('q')} has another text, and was imported from old.csv"

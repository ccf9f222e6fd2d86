"""What was merged and is not settled: by which pull request, in which order, and what is judged again later."""

from __future__ import annotations

from dataclasses import replace

import pytest

from incumbent.classifier.model import Classification, Findings
from incumbent.github.facts import QueryFacts
from incumbent.ledger.model import Merged
from incumbent.reconcile.merged_submissions import (
    DISPUTED,
    MergedSubmission,
    agreed,
    cases_of,
    disputed,
    has_merit,
    judged_again,
    settled_in,
    undisputed,
    without,
)
from tests.github.scenes import make_platform, make_query, reworded
from tests.reconcile.merges import (
    MERGE,
    MERGED_AT,
    TIP,
    commit,
    decided,
    facts,
    id_of,
    make_inventory,
    make_left,
    make_pull,
    make_record,
    merge_of,
    settled,
    text_of,
    with_set,
)
from tests.reconcile.merges import entry_of as merged_entry

NEVER = Classification(judgements={})
Q1, Q2, Q3 = (make_query(f"q{place}", {"d": 0.9}) for place in (1, 2, 3))


def names(case: MergedSubmission) -> list[str]:
    """The queries of ``case``, as it calls them."""
    return [query.query.id for item in case.submissions for query in item.queries]


def numbers(cases: tuple[MergedSubmission, ...]) -> list[int | None]:
    return [None if case.pull is None else case.pull.number for case in cases]


def test_a_merge_is_one_case_with_the_pull_request_that_it_merged() -> None:
    inventory = make_inventory(facts(Q1, Q2), merges=[merge_of(Q1, Q2)])
    record = make_record()
    (case,) = cases_of(inventory, inventory.merges, {MERGE: make_pull()}, {7: record})
    assert (case.head, case.at, case.pull, case.record) == (MERGE, MERGED_AT, make_pull(), record)
    assert (case.pull_request, case.base, case.head) == (7, TIP, MERGE)
    assert names(case) == ["q1", "q2"]
    assert case.texts == {id_of("q1"): text_of(Q1), id_of("q2"): text_of(Q2)}


def test_what_was_pushed_is_a_case_of_nobody() -> None:
    inventory = make_inventory(facts(Q1), merges=[merge_of(Q1)])
    (case,) = cases_of(inventory, inventory.merges, {}, {})
    assert (case.pull, case.record, case.pull_request) == (None, None, None)


def test_what_was_pushed_belongs_to_the_pull_request_that_brought_the_same_text() -> None:
    merges = [merge_of(Q1, Q2, by=commit(2)), merge_of(Q1)]
    inventory = make_inventory(facts(Q1, Q2), merges=merges)
    pushed, merged = cases_of(inventory, merges, {MERGE: make_pull()}, {})
    assert (names(pushed), pushed.texts) == (["q2"], {id_of("q2"): text_of(Q2)})
    assert (names(merged), numbers((merged,))) == (["q1"], [7])


def test_of_two_that_brought_the_same_text_the_first_has_the_query() -> None:
    merges = [merge_of(Q1, by=commit(2)), merge_of(Q1, Q2)]
    inventory = make_inventory(facts(Q1, Q2), merges=merges)
    cases = cases_of(inventory, merges, {commit(2): make_pull(6, merge=commit(2)), MERGE: make_pull()}, {})
    assert numbers(cases) == [6, 7]
    assert [names(case) for case in cases] == [["q1"], ["q2"]]


def test_once_it_is_settled_it_is_told_of_in_every_case_that_brought_it() -> None:
    merges = [merge_of(Q1, Q3, by=commit(2)), merge_of(Q1, Q2)]
    inventory = make_inventory(facts(Q1, Q2, Q3), merges=merges)
    pulls = {commit(2): make_pull(6, merge=commit(2)), MERGE: make_pull()}
    platform = with_set(make_platform(), merged_entry(Q1))
    cases = cases_of(inventory, merges, pulls, {}, settled_in(inventory, platform.regression_set))
    assert [names(case) for case in cases] == [["q1", "q3"], ["q1", "q2"]]


@pytest.mark.parametrize("now", [reworded(Q1, turns=("another text by now",)), settled(Q1)])
def test_a_text_that_changed_since_or_is_settled_makes_no_case(now: QueryFacts) -> None:
    inventory = make_inventory(facts(now), merges=[merge_of(Q1)])
    assert cases_of(inventory, inventory.merges, {MERGE: make_pull()}, {}) == ()


def test_what_a_merge_brought_and_is_settled_stays_in_its_case_unlike_what_others_brought() -> None:
    inventory = make_inventory(facts(Q1, settled(Q2), settled(Q3)), merges=[merge_of(Q1, Q2)])
    (case,) = cases_of(inventory, inventory.merges, {MERGE: make_pull()}, {})
    assert names(case) == ["q1", "q2"]


@pytest.mark.parametrize(("action", "found"), [("pin", [7]), ("unpin", [7]), ("accept", [])])
def test_a_pin_that_was_spoken_of_makes_a_case_of_what_is_settled(action: str, found: list[int]) -> None:
    record = make_record(seen={}, decisions=(decided(action),))
    inventory = make_inventory(facts(settled(Q1)))
    assert numbers(cases_of(inventory, (), {MERGE: make_pull()}, {7: record})) == found


def test_what_was_left_open_comes_first_in_the_order_of_merging() -> None:
    earlier = make_record(9, texts={id_of("q2"): text_of(Q2)})
    earlier = earlier.model_copy(update={"merged": Merged(commit=commit(9), at="2026-11-01T00:00:00Z")})
    later = make_record(8, texts={id_of("q1"): text_of(Q1)})
    later = later.model_copy(update={"merged": Merged(commit=commit(8), at="2026-11-02T00:00:00Z")})
    unmerged = make_record(5, texts={id_of("q3"): text_of(Q3)})
    merges = [merge_of(Q3)]
    inventory = make_inventory(facts(Q1, Q2, Q3), merges=merges)
    pulls = {commit(number): make_pull(number, merge=commit(number)) for number in (8, 9)}
    cases = cases_of(inventory, merges, pulls, {8: later, 9: earlier, 5: unmerged})
    assert numbers(cases) == [9, 8, None]
    assert [case.head for case in cases] == [commit(9), commit(8), MERGE]


@pytest.mark.parametrize("by", [MERGE, commit(3)], ids=["the merge itself", "a commit of its rebase"])
def test_a_merge_that_a_record_knows_is_no_case_of_its_own(by: str) -> None:
    record = make_record(seen={}, texts={id_of("q1"): text_of(Q1)})
    merges = [merge_of(Q1, Q2, by=by)]
    inventory = make_inventory(facts(Q1, Q2), merges=merges)
    (case,) = cases_of(inventory, merges, {by: make_pull(), MERGE: make_pull()}, {7: record})
    assert names(case) == ["q1"]


def test_a_pull_request_that_a_rebase_made_several_commits_of_is_one_case() -> None:
    merges = [merge_of(Q1, by=commit(2), at="2026-11-01T00:00:00Z"), merge_of(Q2)]
    inventory = make_inventory(facts(Q1, Q2), merges=merges)
    (case,) = cases_of(inventory, merges, {commit(2): make_pull(), MERGE: make_pull()}, {})
    assert (case.head, case.at, names(case)) == (MERGE, MERGED_AT, ["q1", "q2"])


def test_with_one_agent_left_queries_are_called_as_its_eval_set_does() -> None:
    one, other = facts(Q1, prefix="acme/desk/"), facts(Q2, agent="shop", prefix="acme/shop/")
    both = [merge_of(Q1, by=commit(2)), merge_of(Q2, agent="shop", by=commit(2))]
    inventory = make_inventory(one, other, merges=both)
    pulls = {commit(2): make_pull()}
    (case,) = cases_of(inventory, both[:1], pulls, {})
    assert names(case) == ["q1"]
    (case,) = cases_of(inventory, both, pulls, {})
    assert names(case) == ["acme/desk/q1", "acme/shop/q2"]
    assert [item.entry_of(item.queries[0]) for item in case.submissions] == [id_of("q1"), id_of("q2", "shop")]


def test_queries_are_taken_out_of_a_case_by_their_names() -> None:
    inventory = make_inventory(facts(Q1, Q2), merges=[merge_of(Q1, Q2)])
    (case,) = cases_of(inventory, inventory.merges, {}, {})
    assert without(case, ()) is case
    assert names(without(case, {"q1"})) == ["q2"]


# What did not enter is judged again --------------------------------------------------------------------------------


def test_what_did_not_enter_is_a_case_again_by_the_pull_request_that_brought_it() -> None:
    left = {
        id_of("q1"): make_left(Q1, 8, commit(8)),
        id_of("q2"): make_left(Q2, 7, commit(6), at="2026-11-01T00:00:00Z"),
        id_of("q3"): make_left(Q3, 7),
    }
    found = judged_again(make_inventory(facts(Q1, Q2, Q3)), left, ())
    assert [(number, names(case), case.head, case.at) for number, case in found] == [
        (7, ["q2", "q3"], MERGE, MERGED_AT),
        (8, ["q1"], commit(8), MERGED_AT),
    ]
    assert all(case.pull is None and case.record is None for _, case in found)


def test_what_was_pushed_or_changed_or_is_spoken_of_already_is_not_judged_again() -> None:
    inventory = make_inventory(facts(Q1, Q2, Q3), merges=[merge_of(Q1)])
    cases = cases_of(inventory, inventory.merges, {MERGE: make_pull()}, {})
    left = {
        id_of("q1"): make_left(Q1, 8),
        id_of("q2"): make_left(Q2, 7),
        id_of("q3"): make_left(Q3, None),
    }
    assert judged_again(inventory, left, cases) == ()
    other = {id_of("q3"): make_left(Q2, 8)}
    assert judged_again(inventory, other, cases) == ()


@pytest.mark.parametrize(("scores", "merit"), [({"d": 0.9}, True), ({"a": 0.9, "b": 0.8}, True), ({"a": 0.6}, False)])
def test_a_query_has_merit_if_it_would_enter_once_a_person_let_it(scores: dict[str, float], merit: bool) -> None:
    asked = make_query("q1", scores)
    ((_, case),) = judged_again(make_inventory(facts(asked)), {id_of("q1"): make_left(asked)}, ())
    assert case.again
    assert has_merit(case, make_platform(), ()) is merit


def test_what_a_person_rejected_has_no_merit() -> None:
    inventory = make_inventory(facts(Q1))
    ((_, case),) = judged_again(inventory, {id_of("q1"): make_left(Q1)}, ())
    content = inventory.submissions[0].contents["q1"]
    assert not has_merit(case, make_platform(), [decided("reject", content=content)])
    assert has_merit(case, make_platform(), [decided("reject", content="0" * 24)])


def test_of_what_two_jobs_say_different_things_nobody_believes_either() -> None:
    same, other, model, odd, new = (make_query(f"q{place}", {"d": 0.9}, f"text {place}") for place in range(1, 6))
    model, odd = (
        item.model_copy(
            update={"classification": replace(item.classification or NEVER, findings={"a" * 24: Findings()})}
        )
        for item in (model, odd)
    )
    said = ((same, {"d": 0.9}), (other, {"d": 0.8}), (model, {"d": 0.7}), (odd, {"c": 0.9}))
    reviewed = {item.key or "": make_query("x", each).classification or NEVER for item, each in said}
    queries = (same, other, model, odd, new)
    inventory = make_inventory(facts(*queries), merges=[merge_of(*queries)])
    (case,) = cases_of(inventory, inventory.merges, {MERGE: make_pull()}, {})
    assert disputed(case, "run 1") == agreed(case) == frozenset()
    case = replace(case, reviewed=reviewed)
    assert disputed(case, "run 1") == {other.key, odd.key}
    assert disputed(replace(case, is_same_version=False), "run 1") == frozenset(), "another version may differ"
    assert agreed(case) == {"q1", "q3"}, "a model may say how likely it is in another way, not what there is"
    found = undisputed(case.submissions, {other.key or ""})
    assert [item.classification is None for item in found[0].queries] == [False, True, False, False, False]
    assert found[0].queries[1].shortfall == DISPUTED
    # A later run that disagrees again is believed, and a person decides.
    noted = replace(case, record=make_record(disputed={other.key: "run 1", odd.key: "run 2"}))
    assert disputed(noted, "run 2") == {odd.key}

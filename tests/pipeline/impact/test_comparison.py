"""Two sides, one beside the other: what differs is told, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.classifier.classify import ClassifierResult
from incumbent.classifier.model import Classification, Contradiction, Judgement
from incumbent.curator.entry import Entry
from incumbent.intake.query import Query
from incumbent.pipeline.impact.comparison import compare, config_changes
from incumbent.pipeline.impact.model import Effect
from incumbent.pipeline.review import ClassifiedSubmission, Platform, Review, judge
from incumbent.pipeline.submission import Submission
from incumbent.taxonomy.migration import NOTHING, Migration, migration_between
from incumbent.taxonomy.model import Taxonomy
from tests.factories import make_config
from tests.pipeline.impact.platforms import BASE, capability, grown, member, platform
from tests.reconcile.runs import IDENTITY

RENAMED = grown(BASE, "1.1.0", capability("z", "a", was="a"), without=["a"])


def side(known: Platform, *classified: ClassifiedSubmission) -> Review:
    return judge(known, classified, IDENTITY)


def effect(before: Platform, after: Platform, migration: Migration = NOTHING) -> Effect:
    return compare(side(before), side(after), migration)


def entries(taxonomy: Taxonomy = BASE, first: str = "a") -> list[Entry]:
    return [member("r1", {first: 0.9, "b": 0.6}, taxonomy), member("r2", {first: 0.8}, taxonomy)]


def test_a_new_capability_stands_alone_and_a_removed_one_too() -> None:
    new = grown(BASE, "2.0.0", capability("f"), without=["e"])
    found = effect(platform(BASE, *entries()), platform(new, *entries()))
    assert [(item.before, item.after) for item in found.capabilities] == [(None, "f"), ("e", None)]
    assert (found.pins, found.suggestions, found.verdicts) == ((), (), ())
    (added, removed) = found.capabilities
    assert (added.floor_before, added.floor_after, removed.floor_before, removed.floor_after) == (0, 2, 2, 0)


def test_a_renamed_capability_keeps_champion_score_and_pins() -> None:
    found = effect(
        platform(BASE, *entries()), platform(RENAMED, *entries(RENAMED, "z")), migration_between(BASE, RENAMED)
    )
    (item,) = found.capabilities
    assert (item.before, item.after) == ("a", "z")
    assert (item.champion_before, item.champion_after, item.score_before, item.score_after) == ("r1", "r1", 0.9, 0.9)
    assert (item.coverers_before, item.coverers_after) == (2, 2)
    assert found.pins == ()


def test_pins_of_people_are_compared_as_they_are() -> None:
    (first, second) = entries()
    pinned = second.model_copy(update={"pin": "b:a"})
    found = effect(platform(BASE, first, second), platform(BASE, first, pinned))
    assert [(item.entry, item.before, len(item.after)) for item in found.pins] == [("r2", (), 1)]


def test_a_champion_that_changes_is_told_with_its_pins() -> None:
    lower = member("r1", {"a": 0.7, "b": 0.6}, BASE)
    found = effect(platform(BASE, *entries()), platform(BASE, lower, entries()[1]))
    (item,) = found.capabilities
    assert (item.champion_before, item.champion_after) == ("r1", "r2")
    assert [(item.entry, item.before, item.after) for item in found.pins] == [
        ("r1", ("champion:a", "champion:b"), ("champion:b",)),
        ("r2", (), ("champion:a",)),
    ]


@pytest.mark.parametrize(
    ("score", "shown"), [(0.9, False), (0.902, False), (0.8951, False), (0.9051, True), (0.89, True), (0.5, True)]
)
def test_a_score_that_reports_would_show_alike_is_no_change(score: float, shown: bool) -> None:
    other = member("r1", {"a": score, "b": 0.6}, BASE)
    alone = platform(BASE, member("r1", {"a": 0.9, "b": 0.6}, BASE))
    found = effect(alone, platform(BASE, other)).capabilities
    assert [(item.champion_before, item.score_before, item.score_after) for item in found] == (
        [("r1", 0.9, score)] if shown else []
    )


def test_a_floor_that_falls_lets_suggestions_appear() -> None:
    known = [*entries(), member("r3", {"a": 0.7}, BASE)]
    found = effect(platform(BASE, *known, redundancy_floor=3), platform(BASE, *known, redundancy_floor=1))
    assert {(item.before, item.floor_before, item.floor_after) for item in found.capabilities} == {
        (name, 3, 1) for name in "abcde"
    }
    assert [(item.entry, item.before, item.after) for item in found.suggestions] == [
        ("r2", None, "redundant"),
        ("r3", None, "redundant"),
    ]


def test_a_swap_names_what_would_be_admitted() -> None:
    set_up: dict[str, Any] = {"waiting": [member("w1", {"a": 0.95}, BASE)], "redundancy_floor": 0}
    weaker = member("r1", {"a": 0.6}, BASE)
    found = effect(platform(BASE, weaker, ceiling=2, **set_up), platform(BASE, weaker, ceiling=1, **set_up))
    assert [(item.entry, item.before, item.after) for item in found.suggestions] == [("r1", None, "swap with w1")]


SCORES = st.dictionaries(st.sampled_from("abcde"), st.sampled_from([0.4, 0.5, 0.6, 0.9]), min_size=1, max_size=3)


def test_remarks_are_told_where_they_come_or_go() -> None:
    query = Query(id="q", turns=("Pay it",), file="", line=None)
    submission = Submission(customer="acme", agent="desk", folder="", queries=(query,))
    judgements = {name: Judgement(name == "a", 0.9, "inference") for name in BASE.by_id}

    def side_with(**remarks: Any) -> Review:
        found = Classification(judgements=judgements, **remarks)
        result = ClassifierResult(classifications={"q": found})
        return side(platform(BASE, *entries()), ClassifiedSubmission(submission=submission, result=result))

    found = compare(
        side_with(contradiction=Contradiction(probability=0.5)), side_with(unfamiliar="code"), NOTHING
    ).remarks
    assert [(item.query, item.remark, item.after) for item in found] == [
        ("q", "contradiction", False),
        ("q", "unfamiliar", True),
    ]
    assert compare(side_with(unfamiliar="code"), side_with(unfamiliar="code"), NOTHING).remarks == ()


@given(scores=st.lists(SCORES, max_size=5), floor=st.integers(0, 3))
def test_nothing_differs_from_itself_and_a_rename_changes_no_more_than_a_name(
    scores: list[dict[str, float]], floor: int
) -> None:
    known = platform(
        BASE, *(member(f"r{place}", item, BASE) for place, item in enumerate(scores)), redundancy_floor=floor
    )
    assert effect(known, known) == Effect(capabilities=(), pins=(), suggestions=(), verdicts=())
    moved = [{"z" if name == "a" else name: score for name, score in item.items()} for item in scores]
    after = platform(
        RENAMED, *(member(f"r{place}", item, RENAMED) for place, item in enumerate(moved)), redundancy_floor=floor
    )
    found = effect(known, after, migration_between(BASE, RENAMED))
    assert [(item.before, item.after) for item in found.capabilities] == [("a", "z")]
    assert found.capabilities[0].champion_before == found.capabilities[0].champion_after
    assert (found.pins, found.suggestions, found.verdicts) == ((), (), ())


@given(first=st.lists(SCORES, max_size=4), second=st.lists(SCORES, max_size=4))
def test_the_way_back_tells_the_same_the_other_way_round(
    first: list[dict[str, float]], second: list[dict[str, float]]
) -> None:
    one, other = (
        platform(BASE, *(member(f"r{place}", item, BASE) for place, item in enumerate(scores)))
        for scores in (first, second)
    )
    there, back = effect(one, other), effect(other, one)
    assert [(item.champion_before, item.champion_after) for item in there.capabilities] == [
        (item.champion_after, item.champion_before) for item in back.capabilities
    ]
    assert [(item.entry, item.before, item.after) for item in there.suggestions] == [
        (item.entry, item.after, item.before) for item in back.suggestions
    ]


BEFORE = make_config()

CASES: list[tuple[str, dict[str, Any], list[tuple[str, str | None, str | None]]]] = [
    ("nothing", {}, []),
    ("a knob", {"competence_bar": 0.6}, [("knobs.competence_bar", "0.5", "0.6")]),
    ("ceiling", {"ceiling": 7}, [("ceiling", str(BEFORE.ceiling), "7")]),
    ("a text", {"honesty_scope": "all"}, [("options.honesty_scope", '"evidence"', '"all"')]),
    ("a truth", {"block_on_review": True}, [("block_on_review", "false", "true")]),
    ("a list", {"curators": ("é",)}, [("curators", "[]", '["é"]')]),
    (
        "overrides that are new",
        {"per_capability": {"a.b": {"redundancy_floor": 0}}},
        [("per_capability.a.b.redundancy_floor", None, "0")],
    ),
    ("an override that says nothing", {"per_capability": {"a.b": {}}}, []),
]


@pytest.mark.parametrize(("values", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_each_key_is_told_that_differs(
    values: dict[str, Any], expected: list[tuple[str, str | None, str | None]]
) -> None:
    changed = make_config(**values)
    assert [(item.key, item.before, item.after) for item in config_changes(BEFORE, changed)] == expected
    back = [(item.key, item.after, item.before) for item in config_changes(changed, BEFORE)]
    assert back == expected


def test_keys_are_sorted() -> None:
    found = config_changes(BEFORE, make_config(winning_margin=0.2, ceiling=7, competence_bar=0.6))
    assert [item.key for item in found] == ["ceiling", "knobs.competence_bar", "knobs.winning_margin"]

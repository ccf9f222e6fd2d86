"""The oracle's cycle, roles and prune against cases worked out by hand."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.oracle.builders import PAPER, PAPER_KNOBS, SHIPPED, SWAP, item, run, said, unlike
from tests.oracle.reference import facts, grounds, key, pinned, prune
from tests.oracle.values import Grounds, Item


def test_the_greatest_key_is_taken_first_and_the_file_does_not_matter() -> None:
    queries = [
        item("a-narrow", {"a": 0.9}),
        item("b-wide", {"a": 0.7, "b": 0.7}),
        item("c-wide", {"a": 0.7, "b": 0.7}),
        item("d-wide-strong", {"a": 0.8, "b": 0.7}),
        item("e-nothing", {}),
    ]
    expected = ["d-wide-strong", "a-narrow", "b-wide", "c-wide", "e-nothing"]
    for _ in range(5):
        random.Random(0).shuffle(queries)
        assert [v.id for v in run(queries)] == expected


def test_the_five_parts_of_the_key() -> None:
    residents = [item("r", {"a": 0.5, "b": 0.9})]
    query = item("q", {"a": 0.6, "b": 0.9, "c": 0.4, "d": 0.5})
    # new: d; filled: a, b, each with one coverer; without champion: c, d; won: a; ab is carried, ad and bd are not
    assert key(query, residents, [], PAPER_KNOBS, SHIPPED) == (1, 0, 3, 2, 2.4)
    others = [replace(each, customer="other") for each in residents]
    assert key(query, others, [], PAPER_KNOBS, replace(SHIPPED, fill_floor=True)) == (1, 2, 3, 2, 2.4)
    waiting = [item("w", {"a": 0.5, "d": 0.5})]
    assert key(query, residents, waiting, PAPER_KNOBS, SHIPPED) == (1, 0, 3, 1, 2.4)


def test_a_query_whose_only_merit_waits_already_is_an_alternate() -> None:
    residents = [item("r", {"a": 0.9}), item("s", {"b": 0.9}), item("t", {"c": 0.9})]
    first, second = item("q1", {"a": 0.6, "b": 0.6, "c": 0.6}), item("q2", {"a": 0.6, "b": 0.6})
    verdicts = run([second, first], residents)
    assert [said(v) for v in verdicts] == ["INCLUDE review NOVEL_COMBO", "EXCLUDE direct REDUNDANT"]
    assert verdicts[1].alternate_of == ("q1",)
    assert verdicts[1].facts.new_combinations == ()


def test_an_alternate_names_every_waiting_query_that_holds_a_part_of_its_merit() -> None:
    residents = [item(c, {c: 0.9}) for c in "abcd"]
    queries = [
        item("q1", {"a": 0.8, "b": 0.8, "c": 0.8}),
        item("q2", {"b": 0.8, "c": 0.8, "d": 0.8}),
        item("q3", {"a": 0.6, "d": 0.6}),
        item("q4", {"a": 0.5, "b": 0.5, "d": 0.5}),
        item("q5", {"b": 0.5, "c": 0.5}),
    ]
    verdicts = {v.id: v for v in run(queries, residents)}
    assert list(verdicts) == ["q1", "q2", "q4", "q3", "q5"]
    assert [said(verdicts[id]) for id in ("q1", "q2", "q4")] == ["INCLUDE review NOVEL_COMBO"] * 3
    assert verdicts["q4"].facts.new_combinations == (("a", "d"),)
    assert verdicts["q3"].alternate_of == ("q4",)
    assert verdicts["q5"].alternate_of == ("q1", "q2")


def test_a_waiting_query_that_shares_only_what_r_has_leads_no_alternate() -> None:
    residents = [item("r", {"a": 0.9, "b": 0.9}), item("s", {"c": 0.9}), item("t", {"d": 0.9})]
    queries = [item("q1", {"a": 0.8, "b": 0.8, "c": 0.8}), item("q2", {"a": 0.7, "b": 0.7, "d": 0.7})]
    verdicts = run([*queries, item("q3", {"a": 0.6, "b": 0.6, "d": 0.6})], residents)
    assert [v.id for v in verdicts] == ["q1", "q2", "q3"]
    assert verdicts[2].alternate_of == ("q2",)


def test_equal_keys_are_taken_by_id() -> None:
    texts = {"q1": ("z",), "q2": ("y",), "q3": ("x",)}
    queries = [item(id, {"a": 0.9}, turns=text) for id, text in texts.items()]
    assert [v.id for v in run(queries)] == ["q1", "q2", "q3"]


def test_a_query_waits_behind_those_that_offer_as_much_and_not_for_a_part_of_it() -> None:
    low = {"a": 0.55}
    verdicts = run([item("q1", low), item("q2", low), item("q3", {"b": 0.55})])
    asked = "INCLUDE review NEW_COVERAGE LOW_CONFIDENCE"
    assert [said(v) for v in verdicts] == [asked, asked, "EXCLUDE direct REDUNDANT"]
    assert [v.id for v in verdicts] == ["q1", "q3", "q2"]
    assert verdicts[2].alternate_of == ("q1",)
    assert [v.facts.new_combinations for v in verdicts] == [(("a",),), (("b",),), ()]


def test_what_is_not_familiar_offers_nothing_and_stands_behind_nobody() -> None:
    low = {"a": 0.55}
    verdicts = run([item("q1", low, familiar=False), item("q2", low), item("q3", low, familiar=False)])
    asked = "INCLUDE review NEW_COVERAGE LOW_CONFIDENCE"
    assert [said(v) for v in verdicts] == [f"{asked} UNFAMILIAR", asked, f"{asked} UNFAMILIAR"]


def test_a_close_call_names_what_would_have_given_merit() -> None:
    doubts = {"b": (0.3, ()), "c": (0.4, ("a",)), "d": (0.45, ())}
    options = replace(SHIPPED, close_call=0.3)
    residents = [item("r", {"a": 0.9}), item("s", {"a": 0.5, "d": 0.9})]
    (verdict,) = run([item("q", {"a": 0.9}, doubts=doubts)], residents, options)
    assert said(verdict) == "EXCLUDE direct REDUNDANT"
    assert verdict.close_call == (("c",), 0.4)


def test_a_close_call_names_what_it_exercises_below_the_bar_too() -> None:
    scores = {"a": 0.9, "f": 0.6, "e": 0.6, "d": 0.7, "c": 0.75, "g": 0.1}
    residents = [item("r", {"a": 0.9, "c": 0.9, "d": 0.9}), item("s", {"e": 0.6, "f": 0.6, "g": 0.6})]
    more: dict[str, Any] = {"competence_bar": 0.75, "per_capability": {"b": {"competence_bar": 0.4}}}
    options = replace(SHIPPED, close_call=0.2, novelty=1)
    (verdict,) = run([item("q", scores, doubts={"b": (0.45, ())})], residents, options, **more)
    assert said(verdict) == "EXCLUDE direct REDUNDANT"
    assert verdict.close_call == (("e",), 0.6)
    (verdict,) = run([item("q", scores)], residents, options, competence_bar=0.1)
    assert verdict.close_call is None


def test_a_redundant_query_without_waiting_ones_is_nobodys_alternate() -> None:
    verdicts = run([item("q1", {"a": 0.9}), item("q2", {"a": 0.9})])
    assert [said(v) for v in verdicts] == ["INCLUDE direct NEW_COVERAGE", "EXCLUDE direct REDUNDANT"]
    assert verdicts[1].alternate_of == ()


def test_newcomers_are_cloned_and_displaced_like_residents() -> None:
    same = ("the same words",)
    verdicts = run([item("q1", {"a": 0.9}, turns=same), item("q2", {"a": 0.9}, turns=same)])
    assert [said(v) for v in verdicts] == ["INCLUDE direct NEW_COVERAGE", "EXCLUDE direct CLONE"]
    # q1 opens two capabilities and so goes first; q2 then beats it on both
    verdicts = run([item("q1", {"a": 0.7, "b": 0.7, "c": 0.3}), item("q2", {"a": 0.9, "b": 0.9})], redundancy_floor=1)
    assert [said(v) for v in verdicts] == ["INCLUDE direct NEW_COVERAGE", SWAP]
    assert verdicts[1].displaces == ("q1",)


@pytest.mark.parametrize(
    ("query", "wins", "contested"),
    [
        (item("q", {"a": 0.9}), {"a": "r"}, 1),
        (item("q", {"a": 0.9}, by_rule=frozenset("a")), {}, 0),  # a rule decided it
        (item("q", {"b": 0.45}), {}, 0),  # it is not competent in b
        (item("q", {"b": 0.6}), {}, 1),  # nobody is: b is new, and has no champion
        (item("q", {"c": 0.9}), {}, 1),  # r covers c by a rule, and is no champion of it
    ],
)
def test_only_inferred_and_competent_scores_win(query: Item, wins: Mapping[str, str], contested: int) -> None:
    residents = [item("r", {"a": 0.6, "b": 0.3, "c": 0.7}, by_rule=frozenset("c"))]
    knobs = replace(PAPER_KNOBS, rule_values="counted", win_needs_bar=True)
    assert facts(query, residents, knobs, SHIPPED, unlike).wins == wins
    assert key(query, residents, [], knobs, SHIPPED)[2] == contested


def test_who_waits_behind_whom() -> None:
    weak, same = replace(SHIPPED, fill_floor=False), ("the same words",)
    queries = [
        item("q1", {"a": 0.55, "b": 0.55, "c": 0.55}, turns=same),
        item("q2", {"a": 0.55, "b": 0.55}),
        item("q3", {"a": 0.55, "d": 0.55}),
        item("q4", {"a": 0.55}, turns=same),
        item("q5", {"b": 0.55}, turns=same, familiar=False),
    ]
    found = {v.id: (said(v), v.alternate_of) for v in run(queries, options=weak)}
    assert found == {
        "q1": ("INCLUDE review NEW_COVERAGE LOW_CONFIDENCE", ()),
        "q2": ("EXCLUDE direct REDUNDANT", ("q1", "q3")),
        "q3": ("INCLUDE review NEW_COVERAGE LOW_CONFIDENCE", ()),
        "q4": ("EXCLUDE direct CLONE", ("q1", "q3")),
        "q5": ("EXCLUDE direct CLONE", ("q1",)),
    }


def test_what_a_direct_admission_covers_meanwhile_is_no_question_any_more() -> None:
    queries = [
        item("q1", {"a": 0.55, "b": 0.9}),  # new, and weak in a: it waits
        item("q2", {"a": 0.9}),
        item("q3", {"b": 0.9}),
    ]
    verdicts = run(queries)
    assert [(v.id, said(v)) for v in verdicts] == [
        ("q2", "INCLUDE direct NEW_COVERAGE"),
        ("q3", "INCLUDE direct NEW_COVERAGE"),
        ("q1", "INCLUDE review NOVEL_COMBO"),
    ]


# Curator


def test_pins_are_a_persons_or_a_champions_at_or_above_the_bar() -> None:
    entries = [
        item("r", {"a": 0.9, "b": 0.5}, admitted_at=1),
        item("s", {"a": 0.8, "b": 0.5}, admitted_at=2, pin="a reason"),
        item("t", {"c": 0.49}, admitted_at=3),
    ]
    assert pinned(entries, PAPER_KNOBS) == {"r": ("a", "b"), "s": ("person",)}


def named(chosen: Sequence[Grounds]) -> list[tuple[str, str]]:
    return [(suggestion.id, suggestion.kind) for suggestion in chosen]


def test_prune_goes_down_to_the_floor_by_expected_detection_then_age_then_id() -> None:
    entries = [
        item("best", {"a": 0.9}, admitted_at=1),
        item("first", {"a": 0.45}, admitted_at=9, setup_cost=0.5),
        item("weak", {"a": 0.5}, admitted_at=3),
        item("strong", {"a": 0.6}, admitted_at=1),
        item("old-y", {"a": 0.55}, admitted_at=1),
        item("old-x", {"a": 0.55}, admitted_at=1),
        item("young", {"a": 0.55}, admitted_at=2),
        item("last", {"a": 0.8}, admitted_at=2, setup_cost=2.0),
    ]
    order = ["first", "weak", "old-x", "old-y", "young", "strong", "last"]
    for floor in (1, 2, 3):
        chosen = prune(entries, (), (), replace(PAPER_KNOBS, redundancy_floor=floor), SHIPPED)
        assert named(chosen) == [(id, "redundant") for id in order[: 8 - floor]]
    chosen = prune(entries, {"last"}, (), PAPER_KNOBS, SHIPPED)
    assert named(chosen)[:2] == [("last", "redundant"), ("first", "redundant")]


def test_prune_takes_open_ones_first_then_displaced_ones_then_weak_ones() -> None:
    entries = [
        item("best", {"a": 0.9}, displaces=("displaced", "open-displaced")),
        item("second", {"a": 0.8}, pin="kept"),
        item("displaced", {"a": 0.7}),
        item("open", {"a": 0.7}, setup_cost=0.1),
        item("open-displaced", {"a": 0.7}, setup_cost=0.0),
        item("strong", {"a": 0.7}, setup_cost=9.0),
        item("weak", {"a": 0.5}),
    ]
    chosen = prune(entries, {"open", "open-displaced"}, (), PAPER_KNOBS, PAPER)
    assert [s.id for s in chosen] == ["open-displaced", "open", "displaced", "weak", "strong"]
    chosen = prune(entries, {"open"}, (), PAPER_KNOBS, SHIPPED)
    assert [(s.id, s.kind) for s in chosen[:2]] == [("open", "redundant"), ("weak", "redundant")]


def test_prune_keeps_the_only_carrier_of_a_combination_unless_it_is_displaced() -> None:
    combo = item("combo", {"a": 0.6, "b": 0.6}, admitted_at=1)
    others = [item(f"{c}{n}", {c: 0.9}, admitted_at=1, pin="kept") for c in "ab" for n in "12"]
    assert named(prune([combo, *others], (), (), PAPER_KNOBS, SHIPPED)) == []
    assert named(prune([combo, *others], (), (), PAPER_KNOBS, replace(SHIPPED, novelty=1))) == [("combo", "redundant")]
    taker = item("taker", {"a": 0.7, "b": 0.7, "c": 0.9}, admitted_at=2, displaces=("combo",))
    assert named(prune([combo, *others, taker], (), (), PAPER_KNOBS, PAPER)) == [("combo", "displaced")]


def test_displacement_ends_when_the_taker_no_longer_covers_all() -> None:
    r = item("r", {"a": 0.6, "b": 0.6})
    taker = item("t", {"a": 0.9, "b": 0.5}, displaces=("r", "gone"))
    assert grounds(r, [r, taker], PAPER_KNOBS, PAPER) == Grounds("r", "displaced", ("t",))
    assert grounds(r, [r, replace(taker, scores={"a": 0.9, "b": 0.4})], PAPER_KNOBS, PAPER).kind == "redundant"
    assert grounds(r, [r], PAPER_KNOBS, PAPER).kind == "redundant"
    assert grounds(r, [r, taker], PAPER_KNOBS, SHIPPED).kind == "redundant"


def test_a_refusal_holds_on_the_same_grounds_only() -> None:
    entries = [item("r", {"a": 0.6}), item("s", {"a": 0.9}, displaces=("r",)), item("t", {"a": 0.9})]
    ours = Grounds("r", "displaced", ("s",))
    assert prune(entries, (), (), PAPER_KNOBS, PAPER) == [ours]
    assert prune(entries, (), {ours}, PAPER_KNOBS, PAPER) == [Grounds("t", "redundant")]
    for other in (Grounds("r", "redundant"), Grounds("r", "displaced", ("s", "u"))):
        assert prune(entries, (), {other}, PAPER_KNOBS, PAPER) == [ours]

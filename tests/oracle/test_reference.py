"""The oracle's facts and gates against cases worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.oracle.builders import KEEP, PAPER, PAPER_KNOBS, SHIPPED, SWAP, item, judged, run, said, sim
from tests.oracle.reference import champion, cycle, decide, facts, in_admission_order, most_similar, text_of
from tests.oracle.values import Facts, Item, Options

# The paper's worked example (appendix A), twice

TABLE_1 = {"OAuth": 1.00, "Has Read Tools": 1.00, "Single-turn": 0.72, "Structured Output": 0.45}
INCUMBENTS = (
    item("flow", {"OAuth": 1.00, "Has Read Tools": 1.00, "Single-turn": 0.90}, admitted_at=1),
    item("shallow", TABLE_1 | {"Structured Output": 0.30}, admitted_at=2),
)


def test_table_2_as_given_leads_to_the_verdict_of_the_paper() -> None:
    known = Facts(
        competent=("Has Read Tools", "OAuth", "Single-turn"),
        new_capabilities=("Structured Output",),
        max_similarity=0.42,
        most_similar="flow",
    )
    verdict = decide(item("q", TABLE_1), known, INCUMBENTS, PAPER_KNOBS, PAPER)
    assert said(verdict) == "INCLUDE direct NEW_COVERAGE"
    assert said(decide(item("q", TABLE_1), known, INCUMBENTS, PAPER_KNOBS, SHIPPED)) == (
        "INCLUDE review NEW_COVERAGE LOW_CONFIDENCE"
    )


def test_table_1_gives_a_win_and_no_new_coverage_by_the_definitions() -> None:
    verdict = judged(TABLE_1, INCUMBENTS, PAPER)
    assert verdict.facts == Facts(
        competent=("Has Read Tools", "OAuth", "Single-turn"),
        wins={"Structured Output": "shallow"},
        max_similarity=0.0,
        most_similar="flow",
    )
    assert not verdict.facts.novel
    assert said(verdict) == "REPLACE direct DOMINATES"
    assert verdict.displaces == ("shallow",)


# Facts


def test_a_score_at_the_bar_covers_and_one_that_only_rounding_lifts_covers_too() -> None:
    assert judged({"a": 0.5}).facts.competent == ("a",)
    assert judged({"a": 0.5 - 4e-10}).facts.competent == ("a",)
    assert judged({"a": 0.5 - 1e-9}).facts.competent == ()


def test_a_score_at_champion_plus_margin_does_not_win_whatever_the_float_sum_is() -> None:
    resident = item("r", {"a": 0.35})
    assert judged({"a": 0.40}, [resident]).facts.wins == {}
    assert judged({"a": 0.40 + 1e-9}, [resident]).facts.wins == {"a": "r"}
    assert judged({"a": 0.50}, [item("r", {"a": 0.45})]).facts.wins == {}
    assert judged({"a": 0.15}, [item("r", {"a": 0.1})]).facts.wins == {}


def test_a_capability_that_nobody_carries_is_no_win() -> None:
    assert judged({"a": 1.0, "b": 0.4}, [item("r", {"a": 0.5})]).facts.wins == {"a": "r"}


def test_nominal_carriers_leave_a_capability_new() -> None:
    assert judged({"a": 0.5}, [item("r", {"a": 0.49})]).facts.new_capabilities == ("a",)
    assert judged({"a": 0.5}, [item("r", {"a": 0.5})]).facts.new_capabilities == ()


def test_overrides_move_bar_margin_and_floor_of_one_capability() -> None:
    own = {"a": {"competence_bar": 0.9, "winning_margin": 0.2}}
    verdict = judged({"a": 0.8, "b": 0.8}, [item("r", {"a": 0.65, "b": 0.65})], per_capability=own)
    assert verdict.facts.competent == ("b",)
    assert verdict.facts.wins == {"b": "r"}


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ({"a": 0.7}, {"a": 0.8}, "right"),
        ({"a": 0.7, "b": 0.5}, {"a": 0.7, "b": 0.4}, "left"),  # |caps| 2 against 1
        ({"a": 0.7, "b": 0.2}, {"a": 0.7}, "right"),  # |caps| 1 each: admitted earlier
        ({"a": 0.7}, {"a": 0.7 + 4e-10}, "right"),  # equal as rounded
    ],
)
def test_champion(left: Mapping[str, float], right: Mapping[str, float], expected: str) -> None:
    entries = in_admission_order([item("left", left, admitted_at=2), item("right", right, admitted_at=1)])
    holder = champion("a", entries, PAPER_KNOBS)
    assert holder is not None
    assert holder.id == expected


def test_equal_moments_of_admission_are_ordered_by_id() -> None:
    entries = in_admission_order([item(id, {"a": 0.7}, admitted_at="2026-01-01") for id in ("y", "x")])
    assert [entry.id for entry in entries] == ["x", "y"]


def test_who_is_admitted_in_this_cycle_is_later_than_all_of_r() -> None:
    resident = item("z", {"a": 0.7, "b": 0.9}, admitted_at="2999-01-01")
    newcomer = item("q1", {"a": 0.7, "c": 0.9})
    challenger = item("q2", {"a": 0.8})
    verdicts = run([newcomer, challenger], [resident])
    assert [v.id for v in verdicts] == ["q1", "q2"]
    assert verdicts[1].facts.wins == {"a": "z"}


@pytest.mark.parametrize(
    ("novelty", "expected"),
    [
        ("signature", (("a", "b", "c", "d"),)),
        (1, ()),
        (2, (("a", "c"),)),
        (3, (("a", "b", "c"),)),
    ],
)
def test_new_combinations_by_strength(novelty: Any, expected: tuple[tuple[str, ...], ...]) -> None:
    residents = [item("r", {"a": 0.9, "b": 0.9}), item("s", {"b": 0.9, "c": 0.9, "d": 0.4})]
    verdict = judged({"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.4}, residents, replace(SHIPPED, novelty=novelty))
    assert verdict.facts.new_combinations == expected


def test_who_exercises_a_combination_below_a_bar_does_not_carry_it() -> None:
    residents = [item("r", {"a": 0.9, "b": 0.4}), item("s", {"b": 0.9})]
    query = {"a": 0.5, "b": 0.5}
    assert judged(query, residents).facts.new_combinations == (("a", "b"),)
    assert judged(query, residents, PAPER).facts.new_combinations == ()


def test_fewer_capabilities_than_the_strength_are_one_combination_and_none_is_none() -> None:
    triples = replace(SHIPPED, novelty=3)
    assert judged({"a": 0.5, "b": 0.5}, options=triples).facts.new_combinations == (("a", "b"),)
    assert judged({"a": 0.4}, options=triples).facts.new_combinations == ()


def test_similarity_ties_go_to_the_smaller_id_and_an_empty_set_resembles_nobody() -> None:
    twins = [item("y", {"a": 0.5}, turns=("Same",)), item("x", {"a": 0.5}, turns=(" sAME ",))]
    assert most_similar(item("q", {"a": 0.5}, turns=("same",)), twins, sim) == (1.0, "x")
    assert most_similar(item("q", {"a": 0.5}), [], sim) == (0.0, None)


def test_text_is_normalised_turn_by_turn() -> None:
    assert text_of(item("q", {}, turns=("The  Oﬃce\n\tSTRASSE", "\uff12"))) == "the office strasse\n2"


# Gates


def test_gate_0_nothing_exercised() -> None:
    assert said(judged({})) == "EXCLUDE direct OFF_TAXONOMY"
    marked = item("q", {"a": 0.9}, arbitrated=frozenset({"a"}))
    assert said(run([marked])[0]) == "EXCLUDE direct OFF_TAXONOMY"
    assert said(run([replace(marked, scores={"a": 0.9, "b": 0.7})])[0]) == "INCLUDE direct NEW_COVERAGE"


@pytest.mark.parametrize(
    ("text", "scores", "options", "expected"),
    [
        ("abcdefghxy", {"a": 1.0}, SHIPPED, "EXCLUDE direct CLONE"),  # 0.8, at the cutoff
        ("abcdefgxyz", {"a": 1.0}, SHIPPED, "REPLACE direct DOMINATES"),  # 0.7
        ("abcdefghij", {"b": 0.5}, SHIPPED, "INCLUDE review CLONE NEW_COVERAGE"),
        ("abcdefghij", {"b": 0.5}, PAPER, "EXCLUDE direct CLONE"),
        ("abcdefghij", {"b": 0.4}, SHIPPED, "EXCLUDE direct CLONE"),
    ],
)
def test_gate_1_clones(text: str, scores: Mapping[str, float], options: Options, expected: str) -> None:
    residents = [item("r", {"a": 0.5}, turns=("abcdefghij",)), item("s", {"a": 0.5}, turns=("0123456789",))]
    verdicts = cycle([item("q", scores, turns=(text,))], residents, PAPER_KNOBS, options, sim)
    assert said(verdicts[0]) == expected
    assert verdicts[0].facts.most_similar == "r"


def test_gates_2_and_5_merit_by_combination_alone() -> None:
    residents = [item("r", {"a": 0.9, "b": 0.9}), item("s", {"c": 0.9})]
    assert said(judged({"a": 0.9, "b": 0.9}, residents)) == "EXCLUDE direct REDUNDANT"
    assert said(judged({"a": 0.9, "c": 0.9}, residents)) == "INCLUDE review NOVEL_COMBO"
    assert said(judged({"a": 0.9}, residents)) == "EXCLUDE direct REDUNDANT"
    assert said(judged({"a": 0.9}, residents, PAPER)) == "INCLUDE review NOVEL_COMBO"


def test_gate_3_goes_before_wins() -> None:
    verdict = judged({"a": 0.9, "b": 0.6}, [item("r", {"a": 0.5})])
    assert said(verdict) == "INCLUDE direct NEW_COVERAGE"
    assert verdict.facts.wins == {"a": "r"}
    assert verdict.displaces == ()


OTHERS = (item("x", {"a": 0.5, "b": 0.5}, admitted_at=3), item("y", {"a": 0.5, "b": 0.5}, admitted_at=3))


@pytest.mark.parametrize(
    ("query", "residents", "expected"),
    [
        ({"a": 0.9, "b": 0.6}, (item("r", {"a": 0.6, "b": 0.6}), *OTHERS), KEEP),  # r still best of b, admitted first
        ({"a": 0.9, "b": 0.61}, (item("r", {"a": 0.6, "b": 0.6}), *OTHERS), SWAP),  # q best of b, though no win
        ({"a": 0.9, "b": 0.4}, (item("r", {"a": 0.6, "b": 0.6}), *OTHERS), KEEP),  # caps(r) not within caps(q)
        ({"a": 0.9, "b": 0.9}, (item("r", {"a": 0.6, "b": 0.6}, pin="why"), *OTHERS), KEEP),
        ({"a": 0.9, "b": 0.9}, (item("r", {"a": 0.6, "b": 0.6}), OTHERS[0]), SWAP),  # x and q remain: the floor is 2
        ({"a": 0.9, "b": 0.9}, (item("r", {"a": 0.6, "b": 0.6}),), KEEP),  # q alone remains
        ({"a": 0.45, "b": 0.5}, (item("r", {"a": 0.3}), *OTHERS[:1]), "EXCLUDE direct REDUNDANT"),
        ({"a": 0.45, "b": 0.5}, (item("r", {"a": 0.3}), item("s", {"b": 0.5})), SWAP),  # r covers nothing: no floor
    ],
)
def test_gate_4_replacement(query: Mapping[str, float], residents: Sequence[Item], expected: str) -> None:
    verdict = judged(query, residents, honesty_floor=0.0)
    assert said(verdict) == expected
    assert verdict.displaces == (("r",) if expected == SWAP else ())


def test_gate_4_a_tie_that_the_challenger_takes_by_breadth_leaves_the_champion_unprotected() -> None:
    residents = (item("r", {"a": 0.6, "b": 0.6}), *OTHERS, item("z", {"c": 0.9}, admitted_at=4))
    assert said(judged({"a": 0.9, "b": 0.6, "c": 0.5}, residents)) == SWAP


def test_gate_4_names_every_beaten_champion_once() -> None:
    residents = (item("s", {"a": 0.6, "b": 0.6}), item("r", {"c": 0.6}), item("t", {"a": 0.5, "b": 0.5, "c": 0.5}))
    verdict = judged({"a": 0.9, "b": 0.9, "c": 0.9}, residents)
    assert said(verdict) == SWAP
    assert verdict.displaces == ("r", "s")


@pytest.mark.parametrize(("cap", "expected"), [(1, "REPLACE review CONCENTRATION"), (2, SWAP)])
def test_gate_4_concentration(cap: int, expected: str) -> None:
    verdict = judged(
        {"a": 0.9, "b": 0.9}, (item("r", {"a": 0.6, "b": 0.6}),), redundancy_floor=1, concentration_cap=cap
    )
    assert said(verdict) == expected
    assert verdict.displaces == ("r",)


K = item("k", {"k": 1.0})


@pytest.mark.parametrize(
    ("query", "residents", "options", "expected"),
    [
        ({"a": 0.6}, [], SHIPPED, "INCLUDE direct NEW_COVERAGE"),
        ({"a": 0.55}, [], SHIPPED, "INCLUDE review NEW_COVERAGE LOW_CONFIDENCE"),
        ({"a": 0.55, "k": 1.0}, [K], SHIPPED, "INCLUDE review NEW_COVERAGE LOW_CONFIDENCE"),
        ({"a": 0.55, "k": 1.0}, [K], PAPER, "INCLUDE direct NEW_COVERAGE"),
        # The win lifts no weak new capability, and a sure one no doubtful one.
        ({"a": 0.55, "w": 0.6}, [item("w", {"w": 0.5})], SHIPPED, "INCLUDE review NEW_COVERAGE LOW_CONFIDENCE"),
        ({"a": 0.55, "b": 0.9}, [], SHIPPED, "INCLUDE review NEW_COVERAGE LOW_CONFIDENCE"),
        ({"w": 0.35, "k": 1.0}, [K, item("w", {"w": 0.25})], SHIPPED, "REPLACE review DOMINATES LOW_CONFIDENCE"),
        ({"w": 0.35, "k": 1.0}, [K, item("w", {"w": 0.25})], PAPER, "REPLACE direct DOMINATES"),
        ({"v": 0.58}, [item("v", {"v": 0.5, "u": 0.9})], SHIPPED, "KEEP-BOTH review SPLIT_OR_FLOOR LOW_CONFIDENCE"),
        ({"k": 0.55, "v": 0.55}, [K, item("v", {"v": 0.5})], SHIPPED, "INCLUDE review NOVEL_COMBO"),
    ],
)
def test_gate_6_honesty(query: Mapping[str, float], residents: list[Item], options: Options, expected: str) -> None:
    verdict = judged(query, residents, options)
    assert said(verdict) == expected
    assert verdict.displaces == (("w",) if verdict.decision == "REPLACE" else ())


def test_facts_are_those_of_the_live_set() -> None:
    known = facts(item("q", {"a": 0.9}), [], PAPER_KNOBS, SHIPPED, sim)
    assert known == Facts(competent=("a",), new_capabilities=("a",), new_combinations=(("a",),))

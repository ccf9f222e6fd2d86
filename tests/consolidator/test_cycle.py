"""A cycle over small sets whose verdicts can be worked out by hand (semantics, sections 4 to 6)."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent.consolidator.cycle import run_cycle
from incumbent.consolidator.verdict import Verdict
from incumbent.rater.model import RatedEntry, ScoredQuery
from tests.factories import PAPER, make_config, query, resident


def short(verdict: Verdict) -> tuple[str, ...]:
    return (verdict.id, verdict.decision.value, verdict.route.value, *(reason.value for reason in verdict.reasons))


def judge(queries: list[ScoredQuery], residents: list[RatedEntry], **config: Any) -> list[Verdict]:
    return list(run_cycle(queries, residents, make_config(**config)))


def test_the_worked_example_from_its_scores_follows_the_definitions() -> None:
    """From Table 1: Structured Output stays below the bar, so it is a win over 0.30 and not new coverage."""
    tracker = query(
        "q",
        {"oauth": 1.0, "has-read-tools": 1.0, "single-turn": 0.72, "structured-output": 0.45},
        "Pull recent issues from the tracker filtered by my team's tag and summarise them as a bulleted list.",
    )
    incumbents = [
        resident("r1", {"oauth": 1.0, "has-read-tools": 1.0, "single-turn": 0.9, "structured-output": 0.30}),
        resident("r2", {"oauth": 1.0, "has-read-tools": 1.0, "single-turn": 0.8}),
        resident("r3", {"oauth": 1.0, "has-read-tools": 1.0, "single-turn": 0.8}),
    ]
    (verdict,) = run_cycle([tracker], incumbents, PAPER)
    assert verdict.facts.competent == ("has-read-tools", "oauth", "single-turn")
    assert verdict.facts.new_capabilities == ()
    assert verdict.facts.wins == {"structured-output": "r1"}
    # r1 is still the champion of single-turn at or above the bar, so invariant I1 forbids to replace it.
    assert short(verdict) == ("q", "KEEP-BOTH", "direct", "SPLIT_OR_FLOOR")


def test_an_empty_set_has_no_champions_and_no_similarity() -> None:
    (verdict,) = judge([query("q", {"a": 0.9})], [])
    assert short(verdict) == ("q", "INCLUDE", "direct", "NEW_COVERAGE")
    assert (verdict.facts.wins, verdict.facts.sole) == ({}, ())
    assert (verdict.facts.max_similarity, verdict.facts.most_similar) == (0.0, None)


def test_the_competence_bar_is_reached_at_its_value() -> None:
    (verdict,) = judge([query("q", {"a": 0.5, "b": 0.4999})], [], competence_bar=0.5)
    assert verdict.facts.competent == ("a",)


@pytest.mark.parametrize(("score", "wins"), [(0.40, {}), (0.400001, {"a": "r"})])
def test_a_win_needs_more_than_the_margin_on_every_machine(score: float, wins: dict[str, str]) -> None:
    """0.35 + 0.05 is a little more than 0.40 in binary; rounded to 9 decimals it is equal."""
    (verdict,) = judge([query("q", {"a": score, "b": 0.9})], [resident("r", {"a": 0.35, "b": 0.9})], competence_bar=0.3)
    assert verdict.facts.wins == wins


def test_a_capability_nobody_carries_is_no_win() -> None:
    (verdict,) = judge([query("q", {"a": 0.3})], [resident("r", {"b": 0.9})])
    assert verdict.facts.wins == {}


@pytest.mark.parametrize(
    ("residents", "champion"),
    [
        ([resident("r2", {"a": 0.6}), resident("r1", {"a": 0.7})], "r1"),
        ([resident("r1", {"a": 0.6}), resident("r2", {"a": 0.6, "b": 0.9})], "r2"),
        ([resident("r1", {"a": 0.6}, admitted_at="2026-02-01T00:00:00Z"), resident("r2", {"a": 0.6})], "r2"),
        ([resident("r2", {"a": 0.6}), resident("r1", {"a": 0.6})], "r1"),
        ([resident("r1", {"a": 0.6, "b": 0.1}), resident("r2", {"a": 0.6, "b": 0.9})], "r2"),
    ],
    ids=["score", "breadth", "earlier", "id", "breadth counts competent capabilities only"],
)
def test_ties_for_champion(residents: list[RatedEntry], champion: str) -> None:
    (verdict,) = judge([query("q", {"a": 0.9})], residents)
    assert verdict.facts.wins["a"] == champion


def test_the_nearest_resident_is_the_smaller_id_among_equals() -> None:
    twins = [resident("r2", {"a": 1.0}, "Show my orders"), resident("r1", {"a": 1.0}, "show  MY orders")]
    (verdict,) = judge([query("q", {"a": 1.0}, "Show my orders")], twins)
    assert (verdict.facts.max_similarity, verdict.facts.most_similar) == (1.0, "r1")
    assert short(verdict) == ("q", "EXCLUDE", "direct", "CLONE")


def test_the_nearest_resident_may_have_been_admitted_in_the_same_cycle() -> None:
    first, second = judge([query("b", {"a": 0.9}, "Show my orders"), query("a", {"a": 0.8}, "Show my orders!")], [])
    assert short(first) == ("b", "INCLUDE", "direct", "NEW_COVERAGE")
    assert second.facts.most_similar == "b"


def test_a_dominating_query_replaces_its_champions_and_names_them() -> None:
    rivals = [
        resident("weak", {"a": 0.6, "b": 0.6}),
        resident("other1", {"a": 0.55, "b": 0.55, "c": 0.9}),
        resident("other2", {"a": 0.55, "b": 0.55, "c": 0.9}),
    ]
    (verdict,) = judge([query("q", {"a": 0.9, "b": 0.9})], rivals)
    assert short(verdict) == ("q", "REPLACE", "direct", "DOMINATES")
    assert verdict.displaces == ("weak",)


@pytest.mark.parametrize(
    ("rival", "config"),
    [
        (resident("weak", {"a": 0.6, "c": 0.6}), {}),
        (resident("weak", {"a": 0.6}, pin="keep"), {}),
        (resident("weak", {"a": 0.6, "b": 0.9}), {}),
        (resident("weak", {"a": 0.6}), {"redundancy_floor": 3}),
    ],
    ids=["covers more", "pinned by a person", "still champion of b", "floor"],
)
def test_what_cannot_go_is_kept_beside_the_winner(rival: RatedEntry, config: dict[str, object]) -> None:
    others = [resident("o1", {"a": 0.55, "b": 0.8, "c": 0.7})]
    (verdict,) = judge([query("q", {"a": 0.9, "b": 0.9})], [rival, *others], **config)
    assert short(verdict) == ("q", "KEEP-BOTH", "direct", "SPLIT_OR_FLOOR")
    assert verdict.displaces == ()


def test_floors_count_per_capability_and_may_be_overridden() -> None:
    rivals = [resident("weak", {"a": 0.6}), resident("o1", {"a": 0.55})]
    (kept,) = judge([query("q", {"a": 0.9})], rivals, redundancy_floor=3)
    (replaced,) = judge(
        [query("q", {"a": 0.9})], rivals, redundancy_floor=3, per_capability={"a": {"redundancy_floor": 2}}
    )
    assert (kept.decision.value, replaced.decision.value) == ("KEEP-BOTH", "REPLACE")


def test_all_floors_are_named_that_the_beaten_keep() -> None:
    rivals = [resident("weak", {"a": 0.6, "b": 0.6, "c": 0.3}), resident("o1", {"a": 0.55, "b": 0.55})]
    (verdict,) = judge([query("q", {"b": 0.9, "a": 0.95})], rivals, redundancy_floor=3)
    assert [*verdict.facts.wins.items()] == [("a", "weak"), ("b", "weak")]
    assert [*verdict.facts.champion_scores] == ["a", "b"]
    assert (verdict.facts.displaced, verdict.facts.short_floors, verdict.facts.sole) == (("weak",), ("a", "b"), ())


def test_what_goes_with_the_beaten_and_what_rests_on_the_query_alone_is_named() -> None:
    rivals = [resident("weak", {"a": 0.6, "b": 0.6}), resident("other", {"d": 0.6})]
    (verdict,) = judge([query("q", {"a": 0.9, "c": 0.9, "d": 0.6})], rivals, redundancy_floor=1)
    facts = verdict.facts
    assert (facts.displaced, facts.undominated, facts.protected) == (("weak",), ("weak",), ("weak",))
    assert (facts.short_floors, facts.sole) == (("b",), ("a", "c"))


def test_sole_coverage_of_too_many_capabilities_goes_to_a_person() -> None:
    (verdict,) = judge(
        [query("q", {"a": 0.9, "b": 0.9})],
        [resident("r", {"a": 0.6, "b": 0.6})],
        redundancy_floor=1,
        concentration_cap=1,
    )
    assert short(verdict) == ("q", "REPLACE", "review", "CONCENTRATION")
    assert verdict.facts.sole == ("a", "b")


@pytest.mark.parametrize(
    ("novelty", "combinations"),
    [("signature", (("a", "b", "c"),)), (1, ()), (2, (("a", "c"), ("b", "c"))), (3, (("a", "b", "c"),))],
)
def test_novelty_by_signature_and_by_interaction_strength(
    novelty: object, combinations: tuple[tuple[str, ...], ...]
) -> None:
    carriers = [resident("r1", {"a": 1.0, "b": 1.0}), resident("r2", {"c": 1.0})]
    (verdict,) = judge([query("q", {"a": 1.0, "b": 1.0, "c": 1.0})], carriers, novelty=novelty)
    assert verdict.facts.new_combinations == combinations
    expected = ("INCLUDE", "review", "NOVEL_COMBO") if combinations else ("EXCLUDE", "direct", "REDUNDANT")
    assert short(verdict)[1:] == expected


def test_a_smaller_set_than_the_strength_is_carried_by_any_superset() -> None:
    (verdict,) = judge([query("q", {"a": 1.0})], [resident("r", {"a": 1.0, "b": 1.0, "c": 1.0})], novelty=3)
    assert verdict.facts.new_combinations == ()


def test_one_person_answers_once_for_the_same_novelty() -> None:
    carriers = [resident("r1", {"a": 1.0}), resident("r2", {"b": 1.0})]
    same = {"a": 0.95, "b": 0.95}
    first, second = judge([query("q2", same), query("q1", same)], carriers)
    assert short(first) == ("q1", "INCLUDE", "review", "NOVEL_COMBO")
    assert short(second) == ("q2", "EXCLUDE", "direct", "REDUNDANT")
    assert second.alternate_of == ("q1",)
    assert second.facts.new_combinations == ()


def test_a_redundant_query_without_a_waiting_leader_is_nobodys_alternate() -> None:
    (verdict,) = judge([query("q", {"a": 1.0})], [resident("r", {"a": 1.0})])
    assert verdict.alternate_of == ()


def test_gate_0_ignores_what_only_arbitration_made_true() -> None:
    (verdict,) = judge([query("q", {"a": 0.9}, arbitrated=frozenset({"a"}))], [])
    assert short(verdict) == ("q", "EXCLUDE", "direct", "OFF_TAXONOMY")
    (empty,) = judge([query("q", {})], [])
    assert short(empty) == ("q", "EXCLUDE", "direct", "OFF_TAXONOMY")


def test_the_order_takes_coverage_before_scores_before_cost_before_ids() -> None:
    verdicts = judge(
        [
            query("q1", {"a": 0.9}),
            query("q2", {"a": 0.9, "b": 0.9}, setup_cost=9.0),
            query("q3", {"a": 0.95}),
            query("q0", {"a": 0.9}),
            query("q4", {"a": 0.9}, setup_cost=0.5),
        ],
        [],
    )
    assert [verdict.id for verdict in verdicts] == ["q2", "q3", "q4", "q0", "q1"]


def test_no_queries_give_no_verdicts() -> None:
    assert judge([], [resident("r", {"a": 1.0})]) == []

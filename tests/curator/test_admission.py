"""Admission under the ceiling, swaps and least loss on sets that can be worked out by hand (semantics, section 7)."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.consolidator.cycle import run_cycle
from bot.consolidator.verdict import Route, Verdict
from bot.curator.admission import Loss, Swap, least_loss, plan_admissions, slot_holders, suggest_swaps
from bot.rater.model import RatedEntry, ScoredQuery
from tests.factories import make_config, query, resident
from tests.oracle.strategies import Case, cases

FLOOR: dict[str, Any] = {"redundancy_floor": 1}


def waiting(
    queries: list[ScoredQuery], residents: list[RatedEntry], **config: Any
) -> list[tuple[ScoredQuery, Verdict]]:
    by_id = {item.id: item for item in queries}
    verdicts = run_cycle(queries, residents, make_config(**FLOOR | config))
    return [(by_id[verdict.id], verdict) for verdict in verdicts if verdict.admitted]


def test_direct_admissions_enter_in_order_until_the_ceiling() -> None:
    queries = [query(f"q{place}", {f"c{place}": 0.95 - place / 100}) for place in range(4)]
    verdicts = run_cycle(queries, [], make_config())
    plan = plan_admissions(verdicts, 3, 5)
    assert [verdict.id for verdict in plan.admitted] == ["q0", "q1"]
    assert [verdict.id for verdict in plan.waiting_for_slot] == ["q2", "q3"]


def test_a_set_above_its_ceiling_admits_nothing() -> None:
    verdicts = run_cycle([query("q", {"a": 0.9})], [], make_config())
    assert plan_admissions(verdicts, 7, 5).admitted == ()


def test_an_update_needs_no_slot() -> None:
    assert slot_holders(["new1", "own", "new2"], 1, {"own"}) == {"new1", "own"}
    assert slot_holders(["new", "own"], -2, {"own"}) == {"own"}


@given(cases(), st.integers(0, 8), st.integers(1, 8))
def test_a_plan_loses_nothing_and_never_exceeds_the_ceiling(case: Case, size: int, ceiling: int) -> None:
    queries = [ScoredQuery(id=item.id, turns=item.turns, scores=item.scores) for item in case.queries]
    verdicts = run_cycle(queries, [], make_config())
    plan = plan_admissions(verdicts, size, ceiling)
    parts = [*plan.admitted, *plan.waiting_for_slot, *plan.waiting_for_review, *plan.excluded]
    assert sorted(verdict.id for verdict in parts) == sorted(verdict.id for verdict in verdicts)
    assert not plan.admitted or size + len(plan.admitted) <= ceiling
    assert all(verdict.route is Route.REVIEW for verdict in plan.waiting_for_review)
    assert not any(verdict.decision.admits for verdict in plan.excluded)


def test_a_waiting_replacement_becomes_a_swap() -> None:
    rivals = [resident("weak", {"a": 0.6}), resident("other", {"b": 0.9})]
    line = waiting([query("q", {"a": 0.9})], rivals)
    assert suggest_swaps(line, rivals, make_config(ceiling=2, **FLOOR)) == (Swap(admit="q", remove=("weak",)),)


def test_a_swap_that_would_leave_the_set_above_its_ceiling_is_none() -> None:
    rivals = [resident("weak", {"a": 0.6}), resident("other", {"b": 0.9})]
    line = waiting([query("q", {"a": 0.9})], rivals)
    assert suggest_swaps(line, rivals, make_config(ceiling=1, **FLOOR)) == ()


def test_what_is_no_replacement_or_displaces_what_is_gone_is_no_swap() -> None:
    rivals = [resident("weak", {"a": 0.6})]
    config = make_config(ceiling=1, **FLOOR)
    assert suggest_swaps(waiting([query("q", {"b": 0.9})], rivals), rivals, config) == ()
    assert suggest_swaps(waiting([query("q", {"a": 0.9})], rivals), [], config) == ()


def test_a_floor_that_held_only_with_a_waiting_entry_forbids_the_swap() -> None:
    rivals = [resident("weak", {"a": 0.6})]
    line = waiting([query("q1", {"a": 0.55, "b": 0.9}), query("q2", {"a": 0.9})], rivals, redundancy_floor=2)
    assert [(pair[0].id, pair[1].displaces) for pair in line] == [("q1", ()), ("q2", ("weak",))]
    assert suggest_swaps(line, rivals, make_config(ceiling=1, redundancy_floor=2)) == ()


def test_each_swap_is_safe_after_the_one_before_it() -> None:
    rivals = [resident("weak", {"a": 0.6})]
    line = waiting([query("q1", {"a": 0.8})], rivals) + waiting([query("q2", {"a": 0.9})], rivals)
    assert suggest_swaps(line, rivals, make_config(ceiling=1, **FLOOR)) == (Swap(admit="q1", remove=("weak",)),)


def test_no_floor_rests_on_what_another_swap_would_bring() -> None:
    rivals = [
        resident("lone", {"a": 0.6}),
        *(resident(f"e{name}", {"x": 0.6, name: 0.6}) for name in ("b", "c", "d")),
    ]
    first = waiting([query("q1", {"a": 0.9, "x": 0.58})], rivals)
    second = waiting([query("q2", {"x": 0.9, "b": 0.9, "c": 0.9, "d": 0.9})], rivals, redundancy_floor=1)
    assert [verdict.displaces for _, verdict in (*first, *second)] == [("lone",), ("eb", "ec", "ed")]
    config = make_config(ceiling=4, redundancy_floor=1, per_capability={"x": {"redundancy_floor": 2}})
    # Alone the second would leave one coverer of x, with the first confirmed before it two.
    assert suggest_swaps(first + second, rivals, config) == (Swap(admit="q1", remove=("lone",)),)
    assert suggest_swaps(second, rivals, config) == ()


def test_a_swap_may_leave_a_floor_with_just_as_many_coverers_as_it_has_to_keep() -> None:
    rivals = [resident("stays", {"x": 0.58}), *(resident(f"e{name}", {"x": 0.6, name: 0.6}) for name in "bcd")]
    line = waiting([query("q", {"x": 0.9, "b": 0.9, "c": 0.9, "d": 0.9})], rivals)
    swap = Swap(admit="q", remove=("eb", "ec", "ed"))
    for floor, found in ((2, (swap,)), (3, ())):
        config = make_config(ceiling=4, redundancy_floor=1, per_capability={"x": {"redundancy_floor": floor}})
        assert suggest_swaps(line, rivals, config) == found


def test_no_champion_goes_that_only_another_swap_would_beat() -> None:
    rivals = [resident("one", {"a": 0.6}), resident("two", {"b": 0.6, "z": 0.7})]
    better = {"a": 0.9, "z": 0.72}
    first = waiting([query("q1", better)], rivals)
    second = waiting([query("q2", {"b": 0.9, "z": 0.6})], [*rivals, resident("q1", better)])
    assert [verdict.displaces for _, verdict in (*first, *second)] == [("one",), ("two",)]
    found = suggest_swaps(first + second, rivals, make_config(ceiling=2, **FLOOR))
    assert found == (Swap(admit="q1", remove=("one",)),)


def test_least_loss_names_what_would_go_and_spares_what_people_pinned() -> None:
    residents = [
        resident("wide", {"a": 0.9, "b": 0.9}),
        resident("lone", {"c": 0.9}),
        resident("spare", {"a": 0.6}),
        resident("kept", {"a": 0.5}, pin="audit"),
    ]
    assert least_loss(residents, make_config(**FLOOR)) == (
        Loss(id="spare", capabilities=(), combinations=()),
        Loss(id="lone", capabilities=("c",), combinations=(("c",),)),
        Loss(id="wide", capabilities=("a", "b"), combinations=(("a", "b"),)),
    )


def test_least_loss_counts_capabilities_that_would_be_short_of_their_floor() -> None:
    residents = [resident(f"r{place}", {"a": 0.9 - place / 10}) for place in range(3)]

    def lost(*kept: RatedEntry) -> dict[str, tuple[str, ...]]:
        return {loss.id: loss.capabilities for loss in least_loss(kept, make_config(redundancy_floor=2))}

    # The champion is always a loss; of the others only with the floor's last coverers.
    assert lost(*residents) == {"r2": (), "r1": (), "r0": ("a",)}
    assert lost(*residents[:2]) == {"r1": ("a",), "r0": ("a",)}

"""Admission under the ceiling, on sets that can be worked out by hand (semantics, section 7)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.consolidator.cycle import run_cycle
from bot.consolidator.verdict import Route
from bot.curator.admission import plan_admissions, slot_holders
from bot.rater.model import ScoredQuery
from tests.factories import make_config, query
from tests.oracle.strategies import Case, cases


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

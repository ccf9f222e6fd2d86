"""What becomes of a query where the whole cycle is judged with a change, and not its own turn alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.consolidator.counterfactuals import (
    Absence,
    Change,
    KnobChange,
    ScoreChange,
    Turn,
    outcome_in_cycle,
    with_knob,
)
from incumbent.consolidator.cycle import run_cycle
from incumbent.consolidator.explanation import explain
from incumbent.consolidator.verdict import Reason, Route, Ruling, VerdictOutcome
from incumbent.rater.model import RatedEntry, RelationalFacts, ScoredQuery
from tests.consolidator.test_against_reference import config_of, queries_of, residents_of
from tests.factories import make_config, query, resident
from tests.oracle.strategies import Case, cases

CONFIG = make_config(competence_bar=0.5, winning_margin=0.05, honesty_floor=0.4, redundancy_floor=1, novelty=2)
HOLDER = resident("holder", {"a": 0.9})
FIRST = query("first", {"a": 0.93})
SECOND = query("second", {"a": 0.92})


def changes(residents: list[RatedEntry], id: str) -> dict[str, tuple[VerdictOutcome, VerdictOutcome]]:
    """By what changes: what becomes of the query at its own turn, and in the whole cycle."""
    queries = [FIRST, SECOND]
    verdicts = run_cycle(queries, residents, CONFIG)
    found = explain(Turn.of(id, queries, residents, verdicts), CONFIG, ["a", "b"])
    everything: list[Change] = [*found.scores, *found.absences, *found.knobs]
    in_cycle = partial(outcome_in_cycle, id, queries, residents, CONFIG, lambda: None)
    return {named(change): (change.ruling.outcome, in_cycle(change)) for change in everything}


def named(change: Change) -> str:
    match change:
        case Absence():
            return f"without {change.id}"
        case ScoreChange():
            return f"{change.capability} at {change.to}"
        case KnobChange():
            return f"{change.knob} {change.capability}"


def test_without_an_entry_another_query_may_take_what_it_held() -> None:
    assert changes([HOLDER], "first")["without holder"] == (VerdictOutcome.ENTERS, VerdictOutcome.ENTERS)
    assert changes([HOLDER], "second")["without holder"] == (VerdictOutcome.ENTERS, VerdictOutcome.STAYS_OUT)


def test_a_knob_holds_for_everybody_who_is_judged() -> None:
    # With a smaller margin "first" beats the holder, too, and then there is somebody better to be beaten.
    assert changes([HOLDER], "first")["winning_margin a"] == (VerdictOutcome.ENTERS, VerdictOutcome.ENTERS)
    assert changes([HOLDER], "second")["winning_margin a"] == (VerdictOutcome.ENTERS, VerdictOutcome.STAYS_OUT)


def test_with_other_scores_it_has_its_turn_before_the_others() -> None:
    assert changes([HOLDER], "second")["a at 0.950000001"] == (VerdictOutcome.ENTERS, VerdictOutcome.ENTERS)


@given(cases().filter(lambda case: len(case.queries) > 0), st.data())
def test_alone_in_its_cycle_it_is_the_same(case: Case, data: st.DataObject) -> None:
    residents, config = residents_of(case), config_of(case)
    item = data.draw(st.sampled_from(queries_of(case)))
    found = explain(Turn(query=item, residents=tuple(residents)), config, case.capabilities)
    everything: list[Change] = [*found.scores, *found.absences, *found.knobs]
    for change in everything:
        outcome = outcome_in_cycle(item.id, [item], residents, config, lambda: None, change)
        assert outcome is change.ruling.outcome


def test_who_is_absent_has_taken_no_slot_either() -> None:
    def one_each(item: ScoredQuery, facts: RelationalFacts, ruling: Ruling, admitted: Sequence[str]) -> Ruling:
        if not admitted:
            return ruling
        return Ruling(ruling.decision, Route.REVIEW, (*ruling.reasons, Reason.CUSTOMER_SHARE))

    queries = [query("one", {"a": 0.93}), query("two", {"b": 0.9})]
    verdicts = run_cycle(queries, [], CONFIG, one_each)
    assert [(item.id, item.route) for item in verdicts] == [("one", Route.DIRECT), ("two", Route.REVIEW)]
    found = explain(Turn.of("two", queries, [], verdicts), CONFIG, ["a", "b"], one_each)
    assert found.ruling == verdicts[1].ruling
    assert [(item.id, item.ruling.route) for item in found.absences] == [("one", Route.DIRECT)]


def test_it_ends_where_it_is_told_to() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    without = Absence(id="holder", ruling=run_cycle([SECOND], [], CONFIG)[0].ruling)
    with pytest.raises(KeyboardInterrupt):
        outcome_in_cycle("second", [SECOND], [HOLDER], CONFIG, stop, without)


def test_another_value_of_a_knob_is_that_of_the_option_the_knob_or_the_override() -> None:
    assert with_knob(CONFIG, "close_call", None, 0.3).options.close_call == 0.3
    assert with_knob(CONFIG, "honesty_floor", None, 0.3).knobs.honesty_floor == 0.3
    overridden = with_knob(CONFIG, "winning_margin", "a", 0.3)
    assert (overridden.winning_margin("a"), overridden.winning_margin("b")) == (0.3, 0.05)

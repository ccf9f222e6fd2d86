"""What would turn a verdict: every change that is named does it, and none that is smaller."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent.consolidator.counterfactuals import PER_CAPABILITY, STEP, Turn, around
from incumbent.consolidator.cycle import run_cycle
from incumbent.consolidator.explanation import CapabilityStanding, Explanation, explain
from incumbent.consolidator.verdict import Decision, Ruling, VerdictOutcome
from incumbent.rater.model import RatedEntry, RelationalFacts, ScoredQuery
from incumbent.taxonomy.config import Curation
from incumbent.text.compare import rounded
from tests.consolidator.test_against_reference import config_of, queries_of, residents_of
from tests.factories import make_config, query, resident
from tests.oracle.strategies import Case, cases

KNOBS = (
    "competence_bar", "winning_margin", "clone_cutoff", "redundancy_floor", "concentration_cap", "honesty_floor",
)  # fmt: skip
COUNTS = ("redundancy_floor", "concentration_cap")
asking = cases().filter(lambda case: bool(case.queries))
CONFIG = make_config(competence_bar=0.5, winning_margin=0.1, honesty_floor=0.6, redundancy_floor=1, novelty=2)


def ruled(item: ScoredQuery, residents: list[RatedEntry], config: Curation) -> Ruling:
    """What a cycle over this one query rules."""
    (verdict,) = run_cycle([item], residents, config)
    return verdict.ruling


def explained(item: ScoredQuery, *residents: RatedEntry, config: Curation = CONFIG) -> Explanation:
    names = {*item.scores, *(name for each in residents for name in each.scores)}
    return explain(Turn(query=item, residents=residents), config, names)


def scored(item: ScoredQuery, name: str, to: float | None) -> ScoredQuery:
    """``item`` with another score; ``None``: it does not exercise the capability."""
    rest = {key: value for key, value in item.scores.items() if key != name}
    scores = rest if to is None else {**rest, name: to}
    return replace(item, scores=scores)


def turned(config: Curation, knob: str, capability: str | None, to: float) -> Curation:
    """``config`` with another value of ``knob``."""
    value = int(to) if knob in COUNTS else to
    if capability is None:
        return make_config(config, **{knob: value})
    overrides = {name: item.model_dump() for name, item in config.per_capability.items()}
    overrides[capability] = {**overrides.get(capability, {}), knob: value}
    return make_config(config, per_capability=overrides)


# Whatever the set and the query


@given(cases())
def test_every_verdict_of_a_cycle_is_explained_as_it_was_given(case: Case) -> None:
    queries, residents, config = queries_of(case), residents_of(case), config_of(case)
    verdicts = run_cycle(queries, residents, config)
    for verdict in verdicts:
        found = explain(Turn.of(verdict.id, queries, residents, verdicts), config, case.capabilities)
        assert found.ruling == verdict.ruling
        # Of those that waited at its turn, some were looked at again after it, and do not count here.
        more, fewer = found.facts, verdict.facts
        assert {*more.new_combinations} >= {*fewer.new_combinations}
        assert replace(more, new_combinations=()) == replace(fewer, new_combinations=())
        changes: list[Any] = [*found.scores, *found.absences, *found.knobs]
        assert all(change.ruling.outcome is not found.outcome for change in changes)


@given(cases())
def test_every_change_does_what_is_said_of_it(case: Case) -> None:
    residents, config = residents_of(case), config_of(case)
    for item in queries_of(case)[:2]:
        found = explain(Turn(query=item, residents=tuple(residents)), config, case.capabilities)
        for score in found.scores:
            assert ruled(scored(item, score.capability, score.to), residents, config) == score.ruling
        for absence in found.absences:
            assert ruled(item, [each for each in residents if each.id != absence.id], config) == absence.ruling
        for knob in found.knobs:
            other = turned(config, knob.knob, knob.capability, knob.to)
            assert ruled(item, residents, other) == knob.ruling


@given(asking)
def test_every_absence_that_suffices_is_named(case: Case) -> None:
    residents, config = residents_of(case), config_of(case)
    item = queries_of(case)[0]
    found = explain(Turn(query=item, residents=tuple(residents)), config, case.capabilities)
    enough = [
        each.id
        for each in residents
        if ruled(item, [other for other in residents if other is not each], config).outcome is not found.outcome
    ]
    assert [absence.id for absence in found.absences] == sorted(enough)


@given(asking, st.data())
def test_no_smaller_change_of_a_score_leads_there(case: Case, data: Any) -> None:
    residents, config = residents_of(case), config_of(case)
    item = queries_of(case)[0]
    found = explain(Turn(query=item, residents=tuple(residents)), config, case.capabilities)
    name = data.draw(st.sampled_from(case.capabilities))
    now = item.scores.get(name)
    smallest = {each.ruling.outcome: each.distance for each in found.scores if each.capability == name}
    marks = {score for each in residents for score in each.scores.values()} | {0.0, 1.0}
    to = data.draw(st.none() | st.floats(0, 1) | st.sampled_from(sorted(marks)))
    outcome = ruled(scored(item, name, to), residents, config).outcome
    if outcome is not found.outcome:
        assert smallest[outcome] <= abs((to or 0.0) - (now or 0.0)) + STEP


@settings(max_examples=settings().max_examples * 2)
@given(asking, st.data())
def test_no_smaller_change_of_a_knob_turns_it(case: Case, data: Any) -> None:
    residents, config = residents_of(case), config_of(case)
    item = queries_of(case)[0]
    found = explain(Turn(query=item, residents=tuple(residents)), config, case.capabilities)
    knob = data.draw(st.sampled_from(KNOBS))
    own = [None, *sorted(item.scores)] if knob in PER_CAPABILITY else [None]
    capability = data.draw(st.sampled_from(own))
    if knob in COUNTS:
        values: list[float] = list(range(8))
    else:
        everybody: list[ScoredQuery | RatedEntry] = [item, *residents]
        scores = {score for each in everybody for score in each.scores.values()}
        values = sorted({value for score in scores for value in (score, min(1.0, score + 2 * STEP))})
        values += data.draw(st.lists(st.floats(0, 1), max_size=5))
    distances = {(each.knob, each.capability): each.distance for each in found.knobs}
    held = config.knobs
    now = getattr(held, knob) if capability is None else getattr(config, knob)(capability)
    for to in values:
        if ruled(item, residents, turned(config, knob, capability, to)).outcome is not found.outcome:
            assert distances[knob, capability] <= abs(to - now) + STEP


# What it looks like

OLD = resident("old", {"a": 0.7, "b": 0.8}, admitted_at="2026-01-01T00:00:00Z")
OTHER = resident("other", {"a": 0.65, "c": 0.9}, admitted_at="2026-01-02T00:00:00Z")


def test_a_redundant_query_lacks_a_little_to_win_and_somebody_elses_absence() -> None:
    found = explained(query("q", {"a": 0.75, "b": 0.6}), OLD, OTHER)
    assert (found.ruling.decision, found.outcome) == (Decision.EXCLUDE, VerdictOutcome.STAYS_OUT)
    first = found.scores[0]
    assert (first.capability, first.now) == ("a", 0.75)
    assert first.distance == pytest.approx(0.05, abs=1e-8)
    assert first.to is not None
    assert first.to > 0.8
    assert [item.id for item in found.absences] == ["old"]
    changes = {(item.knob, item.capability): item.to for item in found.knobs}
    assert changes["winning_margin", None] == pytest.approx(0.05, abs=1e-8)
    assert changes["winning_margin", "a"] < 0.05
    assert {item.distance for item in found.knobs} == {rounded(abs(item.to - item.now)) for item in found.knobs}
    assert ("concentration_cap", None) not in changes


def test_how_it_stands_in_each_capability_is_told_with_what_is_to_beat() -> None:
    config = make_config(CONFIG, per_capability={"b": {"competence_bar": 0.7, "winning_margin": 0.2}})
    item = query("q", {"d": 0.3, "b": 0.6, "a": 0.75})
    found = explained(item, OLD, OTHER, config=config)
    assert found.query == item
    assert found.contests == (
        CapabilityStanding(capability="a", score=0.75, bar=0.5, champion="old", held=0.7, margin=0.1),
        CapabilityStanding(capability="b", score=0.6, bar=0.7, champion="old", held=0.8, margin=0.2),
        CapabilityStanding(capability="d", score=0.3, bar=0.5, champion=None, held=None, margin=0.1),
    )


def test_a_bar_of_its_own_is_lowered_to_the_score_that_fell_short_of_it() -> None:
    config = make_config(CONFIG, per_capability={"a": {"competence_bar": 0.7}})
    found = explained(query("q", {"a": 0.6}), config=config)
    assert found.outcome is VerdictOutcome.STAYS_OUT
    (bar,) = [item for item in found.knobs if item.knob == "competence_bar"]
    assert (bar.capability, bar.now, bar.to, bar.ruling.outcome) == ("a", 0.7, 0.6, VerdictOutcome.ENTERS)


def test_no_bar_is_thought_of_that_nobody_could_meet() -> None:
    found = explained(query("q", {"a": 1.0}), resident("best", {"a": 1.0}))
    assert all(item.to <= 1.0 for item in found.knobs if item.knob == "competence_bar")


def test_where_a_whole_signature_counts_to_exercise_a_capability_at_all_is_enough() -> None:
    others = (resident("one", {"a": 0.9}), resident("two", {"b": 0.9}))
    found = explained(query("q", {"a": 0.6}), *others, config=make_config(CONFIG, novelty="signature"))
    first = next(item for item in found.scores if item.capability == "b")
    assert (first.now, first.to, first.distance, first.ruling.outcome) == (None, 0.0, 0.0, VerdictOutcome.WAITS)


def test_a_clone_enters_with_another_cutoff_or_without_what_it_copies() -> None:
    text = "Send the invoice of March to the tax office"
    found = explained(query("q", {"a": 0.9}, text), resident("old", {"b": 0.9}, text), config=make_config(CONFIG))
    assert found.outcome is VerdictOutcome.WAITS
    assert [(item.id, item.ruling.outcome) for item in found.absences] == [("old", VerdictOutcome.ENTERS)]
    plain = explained(
        query("q", {"b": 0.9}, text), resident("old", {"b": 0.9}, text), resident("third", {"b": 0.9}), config=CONFIG
    )
    assert (plain.outcome, plain.absences) == (VerdictOutcome.STAYS_OUT, ())
    # Without one of two that it copies, it copies the other.
    twins = (resident("old", {"b": 0.9}, text), resident("twin", {"b": 0.9}, f"{text}!"))
    assert explained(query("q", {"a": 0.9}, text), *twins).absences == ()


def test_a_query_that_exercises_nothing_needs_some_score() -> None:
    found = explained(query("q", {}), OLD)
    assert found.outcome is VerdictOutcome.STAYS_OUT
    assert {item.now for item in found.scores} == {None}
    assert found.knobs == ()


def test_an_empty_set_keeps_nobody_out() -> None:
    found = explained(query("q", {"a": 0.9}))
    assert (found.outcome, found.absences) == (VerdictOutcome.ENTERS, ())
    assert {item.ruling.outcome for item in found.scores} == {VerdictOutcome.WAITS, VerdictOutcome.STAYS_OUT}


def test_what_waits_in_the_same_cycle_counts_for_novelty_and_may_be_absent() -> None:
    config = make_config(CONFIG, novelty=2, competence_bar=0.5)
    residents = [resident("one", {"a": 0.9}), resident("two", {"b": 0.9})]
    queries = [query("first", {"a": 0.9, "b": 0.8}), query("second", {"a": 0.7, "b": 0.7})]
    verdicts = run_cycle(queries, residents, config)
    turn = Turn.of("second", queries, residents, verdicts)
    assert [item.id for item in turn.waiting] == ["first"]
    found = explain(turn, config, ["a", "b"])
    without = {item.id: item.ruling.outcome for item in found.absences}
    assert without == {"first": VerdictOutcome.WAITS, "one": VerdictOutcome.ENTERS, "two": VerdictOutcome.ENTERS}
    # One that the classifier cannot judge offers nothing.
    queries[0] = replace(queries[0], familiar=False)
    turn = Turn.of("second", queries, residents, run_cycle(queries, residents, config))
    assert [item.id for item in turn.waiting] == ["first"]
    assert {item.id for item in explain(turn, config, ["a", "b"]).absences} == {"one", "two"}


def test_what_the_cycle_admitted_before_may_be_absent() -> None:
    queries = [query("first", {"a": 0.9, "b": 0.8}), query("second", {"a": 0.7})]
    verdicts = run_cycle(queries, [], CONFIG)
    turn = Turn.of("second", queries, [], verdicts)
    assert [item.id for item in turn.entered] == ["first"]
    found = explain(turn, CONFIG, ["a", "b"])
    assert [(item.id, item.ruling.outcome) for item in found.absences] == [("first", VerdictOutcome.ENTERS)]


def test_trust_is_asked_under_all_circumstances() -> None:
    asked = []

    def trust(item: ScoredQuery, facts: RelationalFacts, ruling: Ruling, admitted: Any) -> Ruling:
        asked.append(tuple(admitted))
        return ruling

    queries = [query("first", {"a": 0.9}), query("second", {"b": 0.9})]
    verdicts = run_cycle(queries, [], CONFIG, trust)
    explain(Turn.of("second", queries, [], verdicts), CONFIG, ["a", "b"], trust)
    assert set(asked) == {("first",), ()}


def test_floors_and_concentration_are_asked_about_where_somebody_is_beaten() -> None:
    weak = resident("weak", {"a": 0.55, "b": 0.55})
    found = explained(query("q", {"a": 0.9, "b": 0.9}), weak, config=make_config(CONFIG, concentration_cap=1))
    assert (found.ruling.decision, found.outcome) == (Decision.REPLACE, VerdictOutcome.WAITS)
    changes = {(item.knob, item.capability): (item.to, item.ruling.decision) for item in found.knobs}
    assert changes["concentration_cap", None] == (2, Decision.REPLACE)
    assert changes["redundancy_floor", None] == (2, Decision.KEEP_BOTH)


def test_no_other_score_is_thought_of_where_a_rule_decides() -> None:
    turn = Turn(query=query("q", {"a": 0.7}), residents=(resident("one", {"a": 0.9}), resident("two", {"a": 0.9})))
    found = explain(turn, CONFIG, ["a", "b"])
    assert "b" in {item.capability for item in found.scores}
    fewer = explain(turn, CONFIG, ["a", "b"], fixed={"b"})
    assert fewer.scores == tuple(item for item in found.scores if item.capability != "b")
    others = explain(turn, CONFIG, ["a", "b"], fixed={"a"})
    assert others.scores == tuple(item for item in found.scores if item.capability != "a")


def test_a_bar_is_found_between_others_at_which_the_verdict_is_the_same() -> None:
    """The query fills a floor of b between two bars alone."""
    config = make_config(CONFIG, redundancy_floor=2, fill_floor=True, novelty=1)
    others = [resident(f"r{place}", {"b": score}) for place, score in enumerate((0.52, 0.55, 0.58))]
    found = explained(query("q", {"b": 0.6}, customer="acme"), *others, config=config)
    assert (found.facts.fills, found.outcome) == ({}, VerdictOutcome.STAYS_OUT)
    bars = {item.capability: (item.to, item.ruling.outcome) for item in found.knobs if item.knob == "competence_bar"}
    assert bars[None] == bars["b"] == (0.55 + STEP, VerdictOutcome.ENTERS)


def test_a_cutoff_is_lowered_to_the_similarity_and_no_further() -> None:
    text = "Send the invoice of March to the tax office"
    found = explained(query("q", {"a": 0.9}, text), resident("old", {"b": 0.9}, f"{text} and print two copies"))
    assert found.outcome is VerdictOutcome.ENTERS
    (cutoff,) = [item for item in found.knobs if item.knob == "clone_cutoff"]
    assert cutoff.to == rounded(found.facts.max_similarity)


def test_of_a_higher_and_a_lower_value_the_nearer_one_is_named() -> None:
    old = resident("old", {"a": 0.5})
    for now, to in ((0.58, 0.6 + STEP), (0.52, 0.5)):
        found = explained(query("q", {"a": 0.6}), old, config=make_config(CONFIG, competence_bar=now))
        assert found.outcome is VerdictOutcome.ENTERS
        assert {item.capability: item.to for item in found.knobs if item.knob == "competence_bar"} == {
            None: to,
            "a": to,
        }


def test_without_the_only_one_that_covers_a_capability_the_query_is_the_first() -> None:
    """It need not be the champion: its score counts for less by its age."""
    text = "Send the invoice of March to the tax office"
    old = resident("old", {"a": 0.8, "b": 0.4}, by_rule=frozenset("b"))
    new = resident("new", {"a": 0.47, "b": 0.9}, text, admitted_at="2026-01-11T00:00:00Z")
    # A capability that does not combine is in no combination.
    config = make_config(CONFIG, recency=10.0, fill_floor=False, win_needs_bar=False)
    config = config.under(frozenset({"a"}), frozenset())
    found = explained(query("q", {"a": 0.55}, f"{text} and print it"), old, new, config=config)
    assert (found.outcome, found.contests[0].champion) == (VerdictOutcome.STAYS_OUT, "new")
    assert [(item.id, item.ruling.outcome) for item in found.absences] == [("old", VerdictOutcome.WAITS)]


def test_without_one_that_keeps_a_floor_the_beaten_stays() -> None:
    config = make_config(CONFIG, concentration_cap=0, per_capability={"b": {"redundancy_floor": 3}}, fill_floor=False)
    others = [resident("o1", {"b": 0.55}), resident("o2", {"b": 0.55})]
    weak = resident("weak", {"a": 0.6, "b": 0.6})
    found = explained(query("q", {"a": 0.9, "b": 0.9}), weak, *others, config=config)
    assert (found.ruling.decision, found.outcome) == (Decision.REPLACE, VerdictOutcome.WAITS)
    entering = [item.id for item in found.absences if item.ruling.decision is Decision.KEEP_BOTH]
    assert entering == ["o1", "o2"]


def test_without_the_newest_entry_an_old_champion_counts_for_more() -> None:
    text = "Send the invoice of March to the tax office"
    old = resident("old", {"a": 0.8}, text)
    new = resident("new", {"c": 0.9}, admitted_at="2026-01-11T00:00:00Z")
    found = explained(
        query("q", {"a": 0.6}, f"{text} and print it"), old, new, config=make_config(CONFIG, recency=10.0)
    )
    assert (found.facts.most_similar, found.facts.wins) == ("old", {"a": "old"})
    assert found.outcome is VerdictOutcome.ENTERS
    assert [(item.id, item.ruling.outcome) for item in found.absences] == [("new", VerdictOutcome.STAYS_OUT)]


def test_without_whoever_makes_up_a_floor_the_query_fills_it() -> None:
    config = make_config(CONFIG, redundancy_floor=2, fill_floor=True)
    others = [resident("r1", {"b": 0.9}), resident("r2", {"b": 0.8}), resident("r3", {"a": 0.9})]
    item = query("q", {"b": 0.7}, customer="acme")
    found = explained(item, *others, config=config)
    assert found.outcome is VerdictOutcome.STAYS_OUT
    assert [(each.id, each.ruling.outcome) for each in found.absences] == [
        ("r1", VerdictOutcome.ENTERS),
        ("r2", VerdictOutcome.ENTERS),
    ]
    assert explained(item, *others, resident("r4", {"b": 0.8}), config=config).absences == ()


def test_of_many_floors_and_bars_few_are_tried() -> None:
    names = ("a", "b")
    residents = tuple(resident(f"r{place:02}", dict.fromkeys(names, 0.51 + place / 250)) for place in range(60))
    ticks: list[None] = []
    turn = Turn(query=query("q", dict.fromkeys(names, 0.6)), residents=residents)
    explain(turn, make_config(CONFIG, redundancy_floor=3), names, tick=lambda: ticks.append(None))
    # Three kinds of bars and three of floors would each be as many as there are entries.
    assert len(ticks) < 2 * len(residents)


def test_shares_are_tried_up_to_none_and_all() -> None:
    assert around(0.0) == (0.0, STEP)
    assert around(1.0) == (1.0 - STEP, 1.0)
    found = explained(query("q", {"a": 1.0 - STEP}))
    assert found.outcome is VerdictOutcome.ENTERS
    bars = {item.capability: item.to for item in found.knobs if item.knob == "competence_bar"}
    assert bars == {None: 1.0, "a": 1.0}


def test_in_an_empty_set_only_what_waits_may_be_absent() -> None:
    turn = Turn(query=query("q", {"a": 0.9}), residents=(), waiting=(query("w", {"a": 0.8}),))
    found = explain(turn, CONFIG, ["a"])
    assert found.facts.most_similar is None
    assert [item.id for item in found.absences] in ([], ["w"])


def test_who_makes_up_a_floor_is_asked_about_only_where_somebody_leaves() -> None:
    residents = tuple(resident(f"r{place}", {"a": 0.9 - place / 10}) for place in range(3))

    def judged(floor: int) -> int:
        ticks: list[None] = []
        turn = Turn(query=query("q", {"a": 0.5}), residents=residents)
        explain(
            turn, make_config(CONFIG, redundancy_floor=floor, fill_floor=False), ["a"], tick=lambda: ticks.append(None)
        )
        return len(ticks)

    # With the query there are four coverers: a floor of four is just kept, one of five is not.
    assert judged(4) == judged(5)

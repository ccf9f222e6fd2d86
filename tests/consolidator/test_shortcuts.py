"""What a cycle does not look at is what could change nothing: each shortcut beside the long way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.consolidator.counterfactuals import Turn
from bot.consolidator.cycle import CycleState, exercising, run_cycle
from bot.consolidator.explanation import explain
from bot.consolidator.verdict import Reason
from bot.consolidator.verdict_engine import doubt_text
from bot.rater.contextualizer import LiveSet, Similarity, without_merit
from bot.rater.model import Doubt, ScoredQuery
from bot.rater.profile import Capabilities, Profile
from bot.text.compare import rounded
from tests.consolidator.test_against_reference import config_of, queries_of, residents_of
from tests.factories import make_config, query, resident
from tests.oracle.strategies import Case, cases

pytestmark = pytest.mark.untraced

NEAREST = Similarity(0.0, None)


@given(cases(), st.randoms(use_true_random=False))
def test_a_key_without_merit_is_final(case: Case, draw: Any) -> None:
    """Whoever enters or waits: the query that had none still has none, and its few facts are all of them."""
    queries = [replace(item, personal={"card": place}) for place, item in enumerate(queries_of(case), 1)]
    live = LiveSet(residents_of(case), queries, config_of(case))
    profiles = {item.id: live.profile(item) for item in queries}
    final: set[str] = set()
    for newcomer in draw.sample(queries, len(queries)):
        final |= {id for id, profile in profiles.items() if without_merit(live.key(profile))}
        for item in queries:
            if item.id in final:
                facts = live.facts(item, profiles[item.id], NEAREST)
                assert facts == live.facts_without_merit(item, profiles[item.id], NEAREST)
        grow = draw.choice((live.admit, live.await_review))
        grow(profiles[newcomer.id])


def possible(item: ScoredQuery, capabilities: Capabilities, profile: Profile, least: float) -> Iterator[Doubt]:
    """Everything that there may be a close call about; what is on trial has no score."""
    for name, score in sorted(item.scores.items()):
        if rounded(score) >= least and (profile.signature & ~profile.caps) >> capabilities.index[name] & 1:
            yield Doubt(capability=name, probability=score)
    yield from (doubt for doubt in item.doubts if rounded(doubt.probability) >= least)


@given(cases())
def test_no_close_call_is_filtered_out(case: Case) -> None:
    """At each turn of the cycle, whatever would admit a redundant query is among what is judged."""
    config, queries, residents = config_of(case), queries_of(case), residents_of(case)
    by_id = {item.id: item for item in queries}
    live = LiveSet(residents, queries, config)
    admitted: list[str] = []
    moment = CycleState(live, config, doubt_text, admitted)
    least = rounded(config.options.close_call)
    for verdict in run_cycle(queries, residents, config):
        item = by_id[verdict.id]
        profile = live.profile(item)
        similarity = Similarity(verdict.facts.max_similarity, verdict.facts.most_similar)
        if Reason.REDUNDANT in verdict.reasons:
            admitting = set()
            for doubt in possible(item, live.capabilities, profile, least):
                other = exercising(item, doubt, config)
                if moment.judge(other, live.profile(other), similarity)[1].decision.admits:
                    admitting.add(doubt.capability)
            assert {call.capability for call in verdict.close_calls} == admitting
        moment.follow(item, profile, verdict.ruling)
        if verdict.admitted:
            admitted.append(verdict.id)


@given(cases(), st.data())
def test_a_set_under_other_knobs_is_the_set_built_with_them(case: Case, data: st.DataObject) -> None:
    config, queries, residents = config_of(case), queries_of(case), residents_of(case)
    knob = data.draw(st.sampled_from(("competence_bar", "winning_margin", "redundancy_floor")))
    values = st.integers(1, 4) if knob == "redundancy_floor" else st.sampled_from((0.0, 0.05, 0.3, 0.55, 0.8))
    other = make_config(config, **{knob: data.draw(values)}).under(config.base, config.trial)
    live = LiveSet(residents, queries, config)
    for item in queries[::2]:
        live.await_review(live.profile(item))
    before = [live.facts(item, live.profile(item), NEAREST) for item in queries]
    for absent in {None, data.draw(st.sampled_from((None, *(item.id for item in residents))))}:
        found = live.under(other, absent)
        anew = LiveSet([item for item in residents if item.id != absent], queries, other)
        for item in queries[::2]:
            anew.await_review(anew.profile(item))
        for item in queries:
            ours, theirs = found.profile(item), anew.profile(item)
            assert found.facts(item, ours, NEAREST) == anew.facts(item, theirs, NEAREST)
            assert found.offering(ours) == anew.offering(theirs)
            assert found.key(ours) == anew.key(theirs)
            assert found.doubts(item, ours, 0.2) == anew.doubts(item, theirs, 0.2)
    assert [live.facts(item, live.profile(item), NEAREST) for item in queries] == before


def test_an_explanation_makes_the_profile_of_an_entry_once(monkeypatch: Any) -> None:
    """Not for each value of a knob that is tried."""
    made: list[str] = []
    profile = Capabilities.profile

    def counted(self: Capabilities, id: str, *rest: Any, **more: Any) -> Any:
        made.append(id)
        return profile(self, id, *rest, **more)

    monkeypatch.setattr(Capabilities, "profile", counted)
    names = [f"c{number}" for number in range(6)]
    residents = tuple(
        resident(f"r{number:02}", {name: 0.5 + number * place % 47 / 100 for place, name in enumerate(names)})
        for number in range(40)
    )
    explain(Turn(query=query("q", dict.fromkeys(names, 0.6)), residents=residents), make_config(novelty=2), names)
    assert {id: made.count(id) for id in made if id != "q"} == {item.id: 1 for item in residents}

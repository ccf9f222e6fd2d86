"""What a cycle does not look at is what could change nothing: each shortcut beside the long way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.consolidator.counterfactuals import Turn
from incumbent.consolidator.explanation import explain
from incumbent.rater.contextualizer import LiveSet, without_merit
from incumbent.rater.model import Similarity
from incumbent.rater.profile import Capabilities
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
        profile = profiles[newcomer.id]
        if draw.choice((False, True)):
            live.admit(profile)
        else:
            live.await_review(profile, familiar=newcomer.familiar)


@given(cases(), st.data())
def test_a_set_under_other_knobs_is_the_set_built_with_them(case: Case, data: st.DataObject) -> None:
    config, queries, residents = config_of(case), queries_of(case), residents_of(case)
    knob = data.draw(st.sampled_from(("competence_bar", "winning_margin", "redundancy_floor")))
    values = st.integers(1, 4) if knob == "redundancy_floor" else st.sampled_from((0.0, 0.05, 0.3, 0.55, 0.8))
    other = make_config(config, **{knob: data.draw(values)}).under(
        config.uncombinable, config.trial, config.fill_from_any
    )
    live = LiveSet(residents, queries, config)
    for item in queries[::2]:
        live.await_review(live.profile(item), familiar=item.familiar)
    before = [live.facts(item, live.profile(item), NEAREST) for item in queries]
    for absent in {None, data.draw(st.sampled_from((None, *(item.id for item in residents))))}:
        found = live.under(other, absent)
        anew = LiveSet([item for item in residents if item.id != absent], queries, other)
        for item in queries[::2]:
            anew.await_review(anew.profile(item), familiar=item.familiar)
        for item in queries:
            ours, theirs = found.profile(item), anew.profile(item)
            assert found.facts(item, ours, NEAREST) == anew.facts(item, theirs, NEAREST)
            assert found.offering(ours) == anew.offering(theirs)
            assert found.key(ours) == anew.key(theirs)
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

"""Joint safety: whatever people confirm of a prune's suggestions, in whatever order, no floor and no pin is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.config import Curation
from bot.consolidator.cycle import run_cycle
from bot.curator.prune import prune
from bot.curator.roles import derive_roles, title_holders
from bot.rater.contextualizer import LiveSet
from bot.rater.model import RatedEntry
from tests.consolidator.test_against_reference import config_of, queries_of, residents_of
from tests.oracle.strategies import Case, cases


def flapping_at_random(entries: Sequence[RatedEntry], draw: Any) -> list[RatedEntry]:
    """``entries``, of which none, some or all flap and are not kept as champions."""
    share = draw.choice([0.0, 0.3, 1.0])
    return [replace(item, flaps=draw.random() < share) for item in entries]


def kept_as_champions(residents: Sequence[RatedEntry], config: Curation) -> dict[str, str]:
    """Capability → the resident that is kept as its champion."""
    live = LiveSet(residents, (), config)
    holders = zip(live.capabilities.names, title_holders(live), strict=True)
    return {name: holder.id for name, holder in holders if holder is not None}


@given(cases(most=9), st.randoms(use_true_random=False))
def test_no_verdict_rests_on_what_flaps(case: Case, draw: Any) -> None:
    config, residents, queries = config_of(case), residents_of(case), queries_of(case)
    assert run_cycle(queries, flapping_at_random(residents, draw), config) == run_cycle(queries, residents, config)


@given(cases(most=9), st.randoms(use_true_random=False))
def test_a_title_is_the_best_that_does_not_flap(case: Case, draw: Any) -> None:
    """As if those that flap were not there: without ageing, which looks at the newest entry."""
    config = config_of(case)
    config = config.model_copy(update={"options": config.options.model_copy(update={"recency": None})})
    residents = flapping_at_random(residents_of(case), draw)
    steady = derive_roles([item for item in residents if not item.flaps], config)
    found = derive_roles(residents, config)
    assert kept_as_champions(residents, config) == steady.champions
    assert found.champions == derive_roles([replace(item, flaps=False) for item in residents], config).champions
    titles = {id: [each for each in reasons if each.startswith("champion:")] for id, reasons in found.pinned.items()}
    assert {id for id, each in titles.items() if each}.isdisjoint(item.id for item in residents if item.flaps)
    assert found.coverers.keys() >= steady.coverers.keys()


@settings(max_examples=settings().max_examples * 2)
@given(cases(most=9), st.randoms(use_true_random=False))
def test_any_subset_of_the_suggestions_in_any_order_keeps_floors_and_pins(case: Case, draw: Any) -> None:
    config, residents = config_of(case), flapping_at_random(residents_of(case), draw)
    before = derive_roles(residents, config)
    suggested = [item.id for item in prune(residents, config, 1, case.open)]
    confirmed = draw.sample(suggested, draw.randint(0, len(suggested)))
    left = list(residents)
    for id in confirmed:
        left = [item for item in left if item.id != id]
        now = derive_roles(left, config)
        # A pinned resident stays pinned for the same reasons: nobody suggested was champion at or above the bar.
        # It may win a title from one that leaves: below the bar, or since R is younger without it.
        for id, reasons in before.pinned.items():
            assert set(reasons) <= set(now.pinned[id])
        for name, coverers in before.coverers.items():
            floor = config.redundancy_floor(name)
            assert len(now.coverers.get(name, ())) >= min(floor, len(coverers))


@given(cases(most=9), st.randoms(use_true_random=False))
def test_the_order_of_the_files_does_not_matter(case: Case, draw: Any) -> None:
    config, residents = config_of(case), flapping_at_random(residents_of(case), draw)
    expected = prune(residents, config, 1, case.open), derive_roles(residents, config)
    draw.shuffle(residents)
    assert (prune(residents, config, 1, case.open), derive_roles(residents, config)) == expected


@given(cases(most=9), st.randoms(use_true_random=False))
def test_a_second_prune_after_confirming_all_finds_nothing_that_was_unsafe_before(case: Case, draw: Any) -> None:
    config, residents = config_of(case), flapping_at_random(residents_of(case), draw)
    first = prune(residents, config, 1)
    gone = {item.id for item in first}
    left = [item for item in residents if item.id not in gone]
    second = {item.id for item in prune(left, config, 1)}
    assert second.isdisjoint(derive_roles(residents, config).pinned)

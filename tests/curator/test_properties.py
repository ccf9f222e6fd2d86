"""Joint safety: whatever people confirm of a prune's suggestions, in whatever order, no floor and no pin is lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent.curator.prune import prune
from incumbent.curator.roles import derive_roles
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import RatedEntry
from incumbent.taxonomy.config import Curation
from tests.consolidator.test_against_reference import config_of, residents_of
from tests.oracle.strategies import Case, cases


def titles_of(residents: Sequence[RatedEntry], config: Curation) -> dict[str, str]:
    """Capability → the resident that is pinned as its champion, if that is at or above the bar."""
    live = LiveSet(residents, (), config)
    return {name: holder.id for name, holder in zip(live.capabilities.names, live.titles, strict=True) if holder}


@settings(max_examples=settings().max_examples * 2)
@given(cases(most=9), st.randoms(use_true_random=False))
def test_any_subset_of_the_suggestions_in_any_order_keeps_floors_and_pins(case: Case, draw: Any) -> None:
    config, residents = config_of(case), residents_of(case)
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
    config, residents = config_of(case), residents_of(case)
    expected = prune(residents, config, 1, case.open), derive_roles(residents, config)
    draw.shuffle(residents)
    assert (prune(residents, config, 1, case.open), derive_roles(residents, config)) == expected


@given(cases(most=9), st.randoms(use_true_random=False))
def test_a_second_prune_after_confirming_all_finds_nothing_that_was_unsafe_before(case: Case, draw: Any) -> None:
    config, residents = config_of(case), residents_of(case)
    first = prune(residents, config, 1)
    gone = {item.id for item in first}
    left = [item for item in residents if item.id not in gone]
    second = {item.id for item in prune(left, config, 1)}
    assert second.isdisjoint(derive_roles(residents, config).pinned)

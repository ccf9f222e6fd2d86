"""Pair coverage: what is possible, carried, missing, and who could bring it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.rater.model import RatedEntry
from incumbent.rater.pair_coverage import NAMED_AGENTS, MissingPair, PairCoverage, RuledOut, pair_coverage
from incumbent.taxonomy.model import Capability, Group, Taxonomy
from tests.factories import make_config, make_taxonomy, resident

LETTERS = make_taxonomy("a", "b", "c")
GROUPED = Taxonomy(
    version="1.0.0",
    groups=(
        Group(id="any", name="Any"),
        Group(id="size", name="Size", constraint="exactly-one"),
        Group(id="auth", name="Auth", constraint="exactly-one"),
    ),
    capabilities=tuple(
        Capability(id=id, name=id, group=group, description=id, source="intent", **more)
        for id, group, more in (
            ("small", "size", {}),
            ("large", "size", {}),
            ("usual", "size", {"combines": False}),
            ("tried", "size", {"trial": True}),
            ("table", "any", {}),
            ("long-table", "any", {"requires": "large"}),
            ("tables", "any", {"requires": "long-table"}),
            ("oauth", "auth", {}),
            ("key", "auth", {}),
        )
    ),
)
COMBINABLE = ("small", "large", "table", "long-table", "tables", "oauth", "key")


def coverage(
    *residents: RatedEntry,
    taxonomy: Taxonomy = LETTERS,
    agents: RuledOut | None = None,
    waiting: Sequence[RatedEntry] = (),
    novelty: object = 2,
) -> PairCoverage:
    config = make_config(novelty=novelty).under(taxonomy.uncombinable, taxonomy.trial)
    found = pair_coverage(residents, waiting, taxonomy, config, agents)
    assert found is not None
    return found


def entry(id: str, *names: str, score: float = 0.9) -> RatedEntry:
    return resident(id, dict.fromkeys(names, score))


def missing(found: PairCoverage) -> list[tuple[str, ...]]:
    return [item.capabilities for item in found.missing]


def test_of_an_empty_set_every_pair_that_the_taxonomy_allows_is_missing() -> None:
    pairs = (("a", "b"), ("a", "c"), ("b", "c"))
    assert coverage() == PairCoverage(
        strength=2,
        agents=0,
        possible=3,
        carried=0,
        missing=tuple(MissingPair(capabilities=pair, agents=0, first_agents=(), waiting=()) for pair in pairs),
        unexpected=(),
    )


def test_a_pair_is_carried_by_one_entry_that_covers_both_parts_competently() -> None:
    apart = (entry("e1", "a"), entry("e2", "b"), entry("e3", "a", "b", score=0.1))
    assert coverage(*apart).carried == 0
    found = coverage(*apart, entry("e4", "a", "b"))
    assert (found.carried, missing(found)) == (1, [("a", "c"), ("b", "c")])


@pytest.mark.parametrize(("novelty", "possible"), [(1, 3), (2, 3), (3, 1)])
def test_a_pair_has_as_many_capabilities_as_the_option_says(novelty: int, possible: int) -> None:
    found = coverage(entry("e1", "a", "b", "c"), novelty=novelty)
    assert (found.strength, found.possible, found.carried) == (novelty, possible, possible)


def test_where_a_combination_is_a_whole_signature_there_are_no_pairs() -> None:
    config = make_config(novelty="signature")
    assert pair_coverage((), (), LETTERS, config, {"acme/desk": ()}) is None


def test_base_capabilities_and_those_on_trial_are_in_no_pair() -> None:
    names = {name for pair in missing(coverage(taxonomy=GROUPED)) for name in pair}
    assert names == set(COMBINABLE)


def test_members_of_one_group_exclude_each_other_and_what_requires_another_member() -> None:
    impossible = set(combinations(sorted(COMBINABLE), 2)) - set(missing(coverage(taxonomy=GROUPED)))
    assert impossible == {("key", "oauth"), ("large", "small"), ("long-table", "small"), ("small", "tables")}


def test_what_requires_another_member_of_its_own_group_is_in_no_pair() -> None:
    torn = Taxonomy(
        version="1.0.0",
        groups=(Group(id="any", name="Any"), Group(id="one", name="One", constraint="exactly-one")),
        capabilities=(
            Capability(id="a", name="a", group="one", description="a", source="intent"),
            Capability(id="b", name="b", group="one", description="b", source="intent", requires="a"),
            Capability(id="c", name="c", group="any", description="c", source="intent"),
        ),
    )
    assert missing(coverage(taxonomy=torn)) == [("a", "c")]


def test_a_pair_is_possible_if_one_declared_agent_could_exercise_both_parts() -> None:
    found = coverage(agents={"x/1": ("a",), "y/1": ("b", "unknown"), "z/1": ("b",)})
    assert (found.agents, found.possible) == (3, 2)
    assert [(item.capabilities, item.agents, item.first_agents) for item in found.missing] == [
        (("a", "c"), 2, ("y/1", "z/1")),
        (("b", "c"), 1, ("x/1",)),
    ]


def test_only_the_first_agents_are_named() -> None:
    names = [f"x/{number}" for number in range(9, 0, -1)]
    (first, *_) = coverage(agents=dict.fromkeys(names, ())).missing
    assert (first.agents, first.first_agents) == (9, tuple(sorted(names)[:NAMED_AGENTS]))


def test_a_carried_pair_that_no_agent_allows_is_unexpected_and_does_not_count() -> None:
    found = coverage(entry("e1", "a", "b"), entry("e2", "b", "c"), agents={"x/1": ("a",)})
    assert (found.possible, found.carried, found.unexpected) == (1, 1, (("a", "b"),))


def test_pairs_that_the_waitlist_has_come_first_with_the_entries_that_carry_them() -> None:
    waiting = (entry("w2", "b", "c"), entry("w1", "b", "c"), entry("w3", "a"))
    found = coverage(waiting=waiting)
    assert [(item.capabilities, item.waiting) for item in found.missing] == [
        (("b", "c"), ("w1", "w2")),
        (("a", "b"), ()),
        (("a", "c"), ()),
    ]


def test_pairs_whose_parts_are_tested_apart_come_before_those_that_most_agents_could_bring() -> None:
    apart = (entry("e1", "b"), entry("e2", "c"))
    found = coverage(*apart, agents={"x/1": ("c",), "x/2": ("c",), "y/1": ()})
    assert [(item.capabilities, item.agents) for item in found.missing] == [
        (("b", "c"), 1),
        (("a", "b"), 3),
        (("a", "c"), 1),
    ]


NAMES = st.sampled_from([*COMBINABLE, "usual", "tried"])
ENTRIES = st.lists(st.sets(NAMES), max_size=5).map(
    lambda found: [entry(f"e{number}", *sorted(names)) for number, names in enumerate(found)]
)
AGENTS = st.lists(st.sets(NAMES), max_size=4).map(
    lambda found: {f"x/{number}": sorted(names) for number, names in enumerate(found)}
)
STRENGTHS = st.sampled_from([1, 2, 3])


@given(ENTRIES, AGENTS, STRENGTHS)
def test_every_pair_is_carried_missing_unexpected_or_impossible(
    residents: list[RatedEntry], agents: dict[str, list[str]], strength: int
) -> None:
    found = coverage(*residents, taxonomy=GROUPED, agents=agents, novelty=strength)
    empty = coverage(taxonomy=GROUPED, agents=agents, novelty=strength)
    possible = set(missing(empty))
    combinable = {*COMBINABLE, *(("usual",) if strength == 1 else ())}
    carried = {
        pair for item in residents for pair in combinations(sorted(combinable.intersection(item.scores)), strength)
    }
    assert found.possible == empty.possible == len(possible)
    assert found.carried == len(carried & possible)
    assert set(missing(found)) == possible - carried
    assert set(found.unexpected) == carried - possible
    assert len(missing(found)) == found.possible - found.carried


@given(AGENTS, STRENGTHS)
def test_an_agent_brings_exactly_the_pairs_of_what_it_does_not_rule_out(
    agents: dict[str, list[str]], strength: int
) -> None:
    by_taxonomy = missing(coverage(taxonomy=GROUPED, novelty=strength))
    found = coverage(taxonomy=GROUPED, agents=agents, novelty=strength)
    able = {pair: [name for name, out in agents.items() if not {*pair} & {*out}] for pair in by_taxonomy}
    assert {item.capabilities: item.agents for item in found.missing} == {
        pair: len(names) for pair, names in able.items() if names or not agents
    }


@given(ENTRIES, ENTRIES, AGENTS, st.randoms())
def test_no_order_matters(
    residents: list[RatedEntry], waiting: list[RatedEntry], agents: dict[str, list[str]], random: Random
) -> None:
    def shuffled(items: Sequence[RatedEntry]) -> list[RatedEntry]:
        return sorted(items, key=lambda item: random.random())

    turned = GROUPED.model_copy(update={"capabilities": GROUPED.capabilities[::-1]})
    again = Taxonomy(version=turned.version, groups=turned.groups, capabilities=turned.capabilities)
    reversed_agents = dict(reversed([(name, out[::-1]) for name, out in agents.items()]))
    assert coverage(*residents, taxonomy=GROUPED, agents=agents, waiting=waiting) == coverage(
        *shuffled(residents), taxonomy=again, agents=reversed_agents, waiting=shuffled(waiting)
    )

"""From observed queries to candidates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent.extension.candidates import find_candidates, why_none
from incumbent.extension.model import ExtensionCandidate, Observed, Signal
from incumbent.taxonomy.model import Exemplars, Taxonomy
from incumbent.text.masking import mask_by
from incumbent.text.personal_data.detector import Detector
from tests.extension.builders import OTHERS, THINGS, ask, known_queries, make_settings, make_taxonomy, new_queries

TAXONOMY = make_taxonomy()
SETTINGS = make_settings()
few = settings(max_examples=settings().max_examples * 3 // 5)


def find(observed: Sequence[Observed], *refused: tuple[str, ...], **more: object) -> tuple[ExtensionCandidate, ...]:
    return find_candidates(observed, TAXONOMY, make_settings(**more), refused, Detector())


@cache
def found_of_new() -> tuple[ExtensionCandidate, ...]:
    return find([*known_queries(), *new_queries()])


def test_a_behaviour_of_several_customers_that_no_exemplar_has_becomes_a_candidate() -> None:
    (found,) = find([*known_queries(), *new_queries()])
    assert found.kind == "new-behaviour"
    assert {item.id for item in found.members} == {item.id for item in new_queries()}
    assert found.customers == tuple(f"customer-{number}" for number in range(5))
    assert found.telling[0].trait.text in ("zigzag", "around", "zigzag around", "quickly")
    assert found.telling[0].members == len(found.members)
    assert found.signals[Signal.LOW_PROBABILITY] == found.signals[Signal.UNFAMILIAR] == 12
    assert found.group == "deeds"
    assert found.id not in TAXONOMY.by_id
    assert len(found.core) == SETTINGS.queries
    assert [item.source for item in found.positive] == [item.id for item in found.members[: SETTINGS.positive]]
    assert found.surprise >= SETTINGS.surprise
    assert found.excess >= SETTINGS.excess
    assert found.cohesion >= SETTINGS.cohesion


def test_what_the_taxonomy_knows_raises_nothing() -> None:
    assert find(known_queries(100)) == ()


@pytest.mark.parametrize(
    "observed",
    [
        pytest.param([], id="nothing observed"),
        pytest.param(known_queries(3), id="fewer queries than a candidate has"),
        pytest.param([*known_queries(), *new_queries(4)], id="too few queries of it"),
        pytest.param(
            [*known_queries(), *(ask(500 + 5 * place, f"zigzag around {thing}") for place, thing in enumerate(THINGS))],
            id="one customer",
        ),
        pytest.param([*known_queries(), *[ask(place, "zigzag around it") for place in range(500, 520)]], id="one text"),
    ],
)
def test_too_little_of_it_raises_nothing(observed: list[Observed]) -> None:
    assert find(observed) == ()


def test_a_taxonomy_without_exemplars_leads_to_expect_nothing() -> None:
    bare = make_taxonomy(
        capabilities=tuple(item.model_copy(update={"exemplars": Exemplars()}) for item in TAXONOMY.capabilities)
    )
    assert find_candidates([*known_queries(), *new_queries()], bare, SETTINGS, (), Detector()) == ()


@pytest.mark.parametrize(
    ("observed", "taxonomy", "more", "reason"),
    [
        (known_queries(), make_taxonomy(capabilities=()), {}, "no exemplars"),
        ([], TAXONOMY, {}, "there are no queries"),
        ([ask(0, "a"), ask(5, "b")], TAXONOMY, {}, "from 1 customer, and a candidate needs 3 (extension.customers)"),
        ([ask(0, "a"), ask(1, "b")], TAXONOMY, {}, "from 2 customers, and"),
        ([ask(0, "a"), ask(1, "b"), ask(2, "c")], TAXONOMY, {}, "there are 3 distinct queries, and a candidate needs"),
        ([*known_queries(), *new_queries()], TAXONOMY, {}, "all candidates were refused before"),
        ([*known_queries(), *new_queries()], TAXONOMY, {"surprise": 300.0}, "that the exemplars do not lead to expect"),
    ],
)
def test_it_is_said_why_there_is_none(
    observed: list[Observed], taxonomy: Taxonomy, more: dict[str, float], reason: str
) -> None:
    assert reason in why_none(observed, taxonomy, make_settings(**more))


def test_what_is_not_cohesive_or_not_beyond_expectation_is_left_out() -> None:
    observed = [*known_queries(), *new_queries()]
    assert find(observed, surprise=300.0) == ()
    assert find(observed, excess=1.0) == ()
    varied = [ask(500 + place, f"zigzag {thing} {'again ' * (place % 3)}now") for place, thing in enumerate(THINGS)]
    assert find([*known_queries(), *varied], cohesion=1.0) == ()
    assert find([*known_queries(), *varied], surprise=300.0) == ()


def test_candidates_are_ranked_and_limited() -> None:
    other = [
        ask(700 + place, f"no {thing}? no {thing}! no", exercised=["deeds.say"])
        for place, thing in enumerate(OTHERS[:14])
    ]
    observed = [*known_queries(80), *new_queries(20), *other]
    both = find(observed, distance=0.6)
    assert [len(item.members) for item in both] == [20, 14]
    assert len({item.id for item in both}) == 2
    assert find(observed, distance=0.6, open_candidates=1) == both[:1]


def test_a_refused_candidate_stays_away_also_when_it_grew() -> None:
    (found,) = find([*known_queries(), *new_queries(10)])
    assert find([*known_queries(), *new_queries(10)], found.core) == ()
    assert find([*known_queries(), *new_queries(14)], found.core) == ()
    assert find([*known_queries(), *new_queries(10)], ("f" * 24,), ()) == (found,)


def test_one_of_a_known_capability_is_a_missed_one() -> None:
    missed = [ask(500 + place, f"sell zigzag {thing}", "sell the tinble") for place, thing in enumerate(THINGS)]
    found = find([*known_queries(), *missed])
    assert (found[0].kind, found[0].belongs_to) == ("missed-capability", ("deeds.sell",))


def test_torn_samples_speak_for_a_missed_capability() -> None:
    torn = [
        ask(500 + place, f"zigzag around {thing} quickly", split=frozenset({"deeds.lend"}))
        for place, thing in enumerate(OTHERS)
    ]
    (found,) = find([*known_queries(), *torn])
    assert (found.kind, found.belongs_to) == ("missed-capability", ("deeds.lend",))
    assert found.signals[Signal.SPLIT_VOTE] == len(found.members)


def test_two_known_capabilities_together_are_a_new_combination() -> None:
    both = [
        ask(500 + place, f"sell and count the {thing}", exercised=["deeds.sell", "deeds.count"])
        for place, thing in enumerate(THINGS)
    ]
    (found,) = find([*known_queries(), *both])
    assert (found.kind, found.belongs_to) == ("new-combination", ("deeds.count", "deeds.sell"))
    assert Signal.LOW_PROBABILITY not in found.signals


def test_a_group_that_no_member_fits_is_telling() -> None:
    off = [
        ask(500 + place, f"say the {thing}v", exercised=["deeds.say"], off_taxonomy=("size",))
        for place, thing in enumerate(THINGS)
    ]
    (found,) = find([*known_queries(), *off])
    assert any(item.trait.words == "fits no member of size" for item in found.telling)
    assert found.signals[Signal.OFF_TAXONOMY] == len(found.members)


def test_hard_negatives_are_exemplars_that_have_some_of_it() -> None:
    near = [
        ask(500 + place, f"lend the {thing} zigzag around", exercised=["deeds.lend"])
        for place, thing in enumerate(THINGS)
    ]
    many = find([*known_queries(20), *near], telling=0.0, lift=1.01)
    assert many
    assert all(item.source in TAXONOMY.by_id for item in many[0].negative)
    assert len(many[0].negative) <= SETTINGS.negative


@few
@given(st.randoms(use_true_random=False))
def test_the_order_of_the_queries_does_not_matter(random: Random) -> None:
    shuffled = [*known_queries(), *new_queries()]
    random.shuffle(shuffled)
    assert find(shuffled) == found_of_new()


@few
@given(st.lists(st.sampled_from(known_queries(100)[40:]), max_size=6, unique_by=lambda item: item.id))
def test_a_few_unrelated_queries_keep_the_core(more: list[Observed]) -> None:
    (before,) = found_of_new()
    (after,) = find([*known_queries(), *new_queries(), *more])
    assert after.core == before.core


@few
@given(st.lists(st.text(max_size=40).filter(str.strip), min_size=6, max_size=12, unique=True))
def test_hostile_texts_make_no_trouble(texts: list[str]) -> None:
    observed = [ask(500 + place, f"{text} zigzag {text}") for place, text in enumerate(texts)]
    for item in find([*known_queries(), *observed]):
        assert item.id.startswith("deeds.")


def test_secrets_personal_data_and_broken_texts_are_no_exemplars() -> None:
    bad = [
        ask(900, "zigzag around quickly password: hunter2hunter2"),
        ask(901, "zigzag around \ud800 quickly"),
        ask(902, "zigzag around kim.lee@northwind.com quickly"),
    ]
    (found,) = find([*known_queries(), *new_queries(), *bad], positive=100)
    assert {item.id for item in found.members} >= {f"customer-{n}/agent/090{n}" for n in range(3)}
    assert {item.source for item in found.positive} == {item.id for item in new_queries()}


def test_exemplars_are_those_of_the_config_at_hand_whatever_is_masked_elsewhere() -> None:
    mask_by(Detector(allowed=frozenset({"kim.lee@northwind.com"})))
    given = [*known_queries(), *new_queries(), ask(902, "zigzag around kim.lee@northwind.com quickly")]
    (found,) = find(given, positive=100)
    assert {item.source for item in found.positive} == {item.id for item in new_queries()}


def test_what_a_known_capability_accounts_for_is_explained_away() -> None:
    sold = [ask(500 + place, f"sell the {thing}", exercised=["deeds.sell"]) for place, thing in enumerate(OTHERS)]
    observed = [*known_queries(12), *sold]
    assert find(observed, telling=1.0, surprise=1.0, excess=0.1) == ()
    assert find(observed, telling=0.0, surprise=1.0, excess=0.1)


def test_what_a_customer_asks_word_for_word_is_no_hard_negative() -> None:
    known = [ask(500 + place, f"lend the {thing}") for place, thing in enumerate(THINGS)]
    for found in find([*known_queries(20), *known], telling=0.0, lift=1.01, surprise=0.0, excess=0.0, cohesion=0.0):
        assert not {item.turns for item in found.negative} & {item.turns for item in found.members}


def test_a_text_that_several_customers_share_counts_once_and_for_all_of_them() -> None:
    again = [ask(600 + item, query.turns[0]) for item, query in enumerate(new_queries(), 1)]
    (once,) = find([*known_queries(), *new_queries()])
    (twice,) = find([*known_queries(), *new_queries(), *again])
    assert twice.core == once.core
    assert len(twice.members) == len(once.members)


def test_a_single_query_of_a_single_customer_may_suffice() -> None:
    found = find([*known_queries(4), *new_queries(2)], queries=1, customers=1, surprise=0.1, telling=0.1, excess=0.1)
    assert all(item.cohesion == 1.0 for item in found if len(item.members) == 1)


def test_an_exemplar_asked_word_for_word_is_no_hard_negative_of_what_fits_no_group() -> None:
    off = [
        ask(500 + place, f"lend the {thing}", exercised=["deeds.lend"], off_taxonomy=("size",))
        for place, thing in enumerate(THINGS)
    ]
    (found,) = find([*known_queries(20), *off], beyond=0.0)
    assert {item.turns for item in found.members} >= {(f"lend the {thing}",) for thing in THINGS}
    assert [item.turns for item in found.negative] == [("no lend",)]


def test_what_is_telling_of_one_customer_alone_raises_nothing() -> None:
    own = [ask(500 + 5 * place, f"zigzag around {thing} quickly") for place, thing in enumerate(THINGS)]
    others = [ask(801, "zigzag around quodor quickly"), ask(802, "zigzag around wykfin quickly")]
    assert find([*known_queries(), *own, *others]) == ()
    assert find([*known_queries(), *own, *others], telling=0.0)


def test_queries_written_otherwise_than_the_exemplars_are_no_behaviour() -> None:
    observed = [*known_queries(), *new_queries()]
    assert find(observed)
    assert find(observed, tolerated=1.0, surprise=6.0) == ()
    assert find(observed, surprise=6.0)


def test_a_cluster_is_not_cut_back_to_fewer_than_a_candidate_has() -> None:
    both = [
        f"zigzag around {thing}{' quickly' if place < 8 else ''}{' loudly' if place >= 4 else ''}"
        for place, thing in enumerate(OTHERS[:12])
    ]
    observed = [*known_queries(80), *(ask(500 + place, text) for place, text in enumerate(both))]
    (found,) = find(observed)
    assert len(found.members) == 12
    assert find(observed, queries=13) == ()

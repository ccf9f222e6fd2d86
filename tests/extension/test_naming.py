"""Names, ids and groups of candidates."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.classifier.embedded.structure import NAMES
from bot.extension.features import MEASURES, UNEXPLAINED
from bot.extension.model import DistinctiveTrait, Kind, Trait
from bot.extension.naming import LONGEST_DESCRIPTION, LONGEST_NAME, described, free_id, home_group, slug, titled
from bot.extension.wording import PHRASES
from bot.taxonomy.model import Capability, Group
from tests.extension.builders import make_taxonomy

TAXONOMY = make_taxonomy(retired=("deeds.gone",))
IDENTIFIER = re.compile(r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*")


def telling(*texts: str, kind: str = "word") -> tuple[DistinctiveTrait, ...]:
    return tuple(
        DistinctiveTrait(**Trait(kind, text)._asdict(), members=3, observed=4, expected=0.5, surprise=5.0)
        for text in texts
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [("Links, please", "links-please"), ("Café 3", "cafe-3"), ("写真", ""), ("--", ""), ("a" * 99, "a" * 40)],
)
def test_a_slug_is_letters_and_digits(words: str, expected: str) -> None:
    assert slug(words) == expected


@pytest.mark.parametrize(
    ("words", "taken", "expected"),
    [
        (("link",), (), "deeds.link"),
        (("link", "url", "third"), (), "deeds.link-url"),
        (("say",), (), "deeds.say-2"),
        (("gone",), (), "deeds.gone-2"),
        (("link",), ("deeds.link",), "deeds.link-2"),
        (("写真",), (), "deeds.candidate-abcdef"),
    ],
)
def test_an_id_is_never_used_twice(words: tuple[str, ...], taken: tuple[str, ...], expected: str) -> None:
    assert free_id(TAXONOMY, "deeds", telling(*words), "abcdef123", frozenset(taken)) == expected


@given(st.lists(st.text(), min_size=1, max_size=3))
def test_every_id_is_an_identifier(words: list[str]) -> None:
    id = free_id(TAXONOMY, "g" * 100, telling(*words), "abcdef123", frozenset())
    assert IDENTIFIER.fullmatch(id)
    assert len(id) <= 100


def test_words_name_before_structure_and_each_text_once() -> None:
    found = titled((*telling("commas", kind="structure"), *telling("link", "link", "url")))
    assert found == "Proposed: “link” and “url”"


@given(st.lists(st.text(min_size=1), min_size=1, max_size=8))
def test_names_and_descriptions_are_short(words: list[str]) -> None:
    assert len(titled(telling(*words))) <= LONGEST_NAME
    assert len(described("new-behaviour", (), telling(*words), 9, 3)) <= LONGEST_DESCRIPTION


@pytest.mark.parametrize(
    ("kind", "belongs_to", "said"),
    [
        ("new-behaviour", (), "no capability of the taxonomy covers"),
        ("missed-capability", ("deeds.say",), "seem to exercise deeds.say"),
        ("new-combination", ("deeds.say", "deeds.lend"), "the combination of deeds.say and deeds.lend"),
    ],
)
def test_a_description_says_the_kind(kind: Kind, belongs_to: tuple[str, ...], said: str) -> None:
    found = described(kind, belongs_to, telling("link"), 9, 3)
    assert said in found
    assert "9 queries of 3 customers" in found
    assert "“link” (3 of 9)" in found


@pytest.mark.parametrize(
    ("trait", "words"),
    [
        (Trait("phrase", "a b"), "“a b”"),
        (Trait("structure", "commas"), "a comma"),
        (Trait("structure", "commas: 2 or more"), "two or more commas"),
        (Trait("combination", "a + b"), "a + b together"),
        (Trait("group", "size"), "fits no member of size"),
        (Trait("none", "", True), "no capability is probable"),
        (Trait("word", "a", True), "“a”, unexplained"),
    ],
)
def test_traits_read_well(trait: Trait, words: str) -> None:
    assert trait.words == words


def test_the_group_is_that_of_the_nearest_capability_that_may_have_a_neighbour() -> None:
    assert home_group(TAXONOMY, ["size.a", "deeds.say"]) == "deeds"
    assert home_group(TAXONOMY, ["size.a"]) == "deeds"


def test_without_an_open_group_in_use_any_open_group_serves_and_else_the_first() -> None:
    size = Group(id="size", name="Size", constraint="exactly-one")
    only = (Capability(id="size.a", name="a", group="size", description="a", source="intent"),)
    assert home_group(make_taxonomy(groups=(size, Group(id="open", name="Open")), capabilities=only), []) == "open"
    assert home_group(make_taxonomy(groups=(size,), capabilities=only), ["size.a"]) == "size"


def test_structure_names_without_jargon_and_each_feature_once() -> None:
    found = telling("numbers: 3 or more", "numbers: 2 or more", "condition", kind="structure")
    assert titled(found) == "Proposed: three or more numbers and a condition"
    assert free_id(TAXONOMY, "deeds", found, "abcdef123", frozenset()) == "deeds.numbers-a-condition"


def test_what_nothing_explains_is_named_as_it_is() -> None:
    silent = DistinctiveTrait(
        **Trait("word", "link", True)._asdict(), members=3, observed=4, expected=0.5, surprise=5.0
    )
    assert titled([silent, *telling("link"), *telling("condition", kind="structure")]) == (
        "Proposed: “link” and a condition"
    )
    assert titled([DistinctiveTrait(**UNEXPLAINED._asdict(), members=3, observed=4, expected=0.5, surprise=5.0)]) == (
        "Proposed: no capability is probable"
    )


def test_every_structural_trait_reads_as_words() -> None:
    assert set(PHRASES) == set(NAMES) - MEASURES
